import { createHash } from 'node:crypto';
import { plural } from '../base/format.ts';
import { remedyText } from '../health/problem.ts';
import { type Alert, type AlertSubject, incidentOf } from './alert-state.ts';
import { shortName } from './fitting.ts';

/** What is told, before any channel has laid it out: texts are as people and forms wrote them, nothing is escaped. */
export interface Notice {
  readonly level: 'error' | 'warning' | 'ok';
  /** A code of a problem, or `TEST`. */
  readonly code: string;
  /** One line: what it is about, and what is up. */
  readonly headline: string;
  /** What happened, as sentences; may be empty. */
  readonly body: string;
  /** A list, the most important first; a channel shows as many as it has room for. */
  readonly lines: readonly string[];
  /** What to do, and a command line that does it; null for nothing. */
  readonly remedy: string | null;
  readonly command: string | null;
  /** The status page; null where no address of it is set. */
  readonly link: string | null;
  readonly subject: AlertSubject;
  /** The forms in `lines`, where it is about several. */
  readonly forms: readonly {
    readonly id: string;
    readonly name: string;
    readonly target: string;
  }[];
  /** The same for all notices of one incident: what belongs together is shown together. */
  readonly thread: string;
  /** True for the first notice of its thread. */
  readonly opens: boolean;
  /** Since the epoch. */
  readonly atMs: number;
}

/** An alert to tell. Holds what the problem holds: no answer, no secret (L11, L15). `link`: see {@link Notice.link}. */
export function alertNotice(alert: Alert, link: string | null = null): Notice {
  const { status, subject, problem, opens, atMs, members = [] } = alert;
  const isOver = status === 'resolved';
  return {
    level: isOver ? 'ok' : problem.level,
    code: problem.code,
    headline: `forms-mirror, ${nameOf(alert)}: ${statement(alert)}`,
    body: isOver ? '' : `${problem.message}${concerned(alert)}`.trim(),
    lines: members.map(({ subject: each, problem: own }) => {
      const said = isOver || problem.message !== '' ? '' : `: ${own.message}`;
      return `${placeOf(each)}${said}`;
    }),
    remedy: isOver ? null : problem.remedy,
    command: isOver ? null : problem.command,
    link,
    subject,
    forms: members.flatMap(({ subject: { form, target } }) =>
      form === null ? [] : [{ id: form.id, name: form.name, target: target ?? '' }],
    ),
    thread: threadOf(incidentOf(alert)),
    opens,
    atMs,
  };
}

/** A notice that a person asked for, to see whether one arrives. */
export function testNotice(atMs: number, link: string | null = null): Notice {
  return {
    level: 'ok',
    code: 'TEST',
    headline: 'forms-mirror: a test',
    body: 'A person sent this message to see whether it arrives. Nothing is wrong, and nothing is to be done.',
    lines: [],
    remedy: null,
    command: null,
    link,
    subject: { form: null, target: null },
    forms: [],
    thread: threadOf(`test\n${atMs}`),
    opens: true,
    atMs,
  };
}

/** A name for a thread that gives nothing away. */
export const threadOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 24);

/** What to do as one text. */
export const remedyOf = (notice: Pick<Notice, 'remedy' | 'command'>): string | null =>
  remedyText(notice);

function nameOf({ subject, forms, members = [] }: Alert): string {
  if (members.length === 0) return placeOf(subject);
  const [first] = members;
  if (forms === 1 && first?.subject.form)
    return `${shortName(first.subject.form.name)} in ${plural(members.length, 'target')}`;
  const where = subject.target === null ? '' : ` in target ${subject.target}`;
  return `${plural(forms, 'form')}${where}`;
}

function placeOf({ form, target }: AlertSubject): string {
  if (form !== null) return `${shortName(form.name)} → ${target ?? ''}`;
  return target === null ? 'the whole mirror' : `target ${target}`;
}

function statement({ status, problem: { title } }: Alert): string {
  if (status === 'resolved') return `resolved (was: ${title})`;
  return status === 'repeated' ? `still: ${title}` : title;
}

const concerned = ({ forms, members = [] }: Alert): string =>
  forms === 0 || members.length > 0 ? '' : ` It concerns ${plural(forms, 'form')} so far.`;
