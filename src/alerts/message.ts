import { plural } from '../base/format.ts';
import { remedyText } from '../health/problem.ts';
import type { Alert } from './alert-state.ts';

/** What is posted to ALERT_WEBHOOK_URL. `text` alone says it all, for chats that show nothing else. */
export interface AlertMessage {
  readonly text: string;
  readonly level: 'error' | 'warning' | 'ok';
  /** Null when it concerns all forms. */
  readonly form: { readonly id: string; readonly name: string } | null;
  /** The target's name; null when it concerns all. */
  readonly target: string | null;
  readonly code: string;
  readonly remedy: string | null;
  /** ISO 8601 in UTC. */
  readonly at: string;
}

const SIGNS = { error: '🔴', warning: '🟠', ok: '🟢' } as const;
const MAX_TEXT = 2_000;

/** An alert as it is posted. Holds what the problem holds: no answer, no secret (L11, L15). */
export function alertMessage({ status, subject, problem, forms, atMs }: Alert): AlertMessage {
  const { form, target } = subject;
  const level = status === 'resolved' ? 'ok' : problem.level;
  const remedy = status === 'resolved' ? null : remedyText(problem);
  return {
    text: chatText(
      `${SIGNS[level]} forms-mirror, ${nameOf(subject)}: ${sentence(status, problem, concerned(forms), remedy)}`,
    ),
    level,
    form,
    target,
    code: problem.code,
    remedy,
    at: new Date(atMs).toISOString(),
  };
}

function nameOf({ form, target }: Alert['subject']): string {
  if (form !== null) return `${form.name} → ${target ?? ''}`;
  return target === null ? 'the whole mirror' : `target ${target}`;
}

function sentence(
  status: Alert['status'],
  problem: Alert['problem'],
  concerned: string,
  remedy: string | null,
): string {
  const title = problem.title;
  if (status === 'resolved') return `resolved (was: ${title}).`;
  const still = status === 'repeated' ? 'still: ' : '';
  return `${still}${title}. ${problem.message}${concerned}${remedy === null ? '' : ` ${remedy}`}`;
}

const concerned = (forms: number): string =>
  forms === 0 ? '' : ` It concerns ${plural(forms, 'form')} so far.`;

/**
 * A form's name must not call a whole channel, hide a link or break the line: `<!channel>` and `@here` are commands to
 * chats, `](` is a link in Markdown.
 */
function chatText(text: string): string {
  const plain = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('@', '@\u200B')
    .replaceAll('](', '] (');
  return plain.length <= MAX_TEXT ? plain : `${plain.slice(0, MAX_TEXT - 1).toWellFormed()}…`;
}
