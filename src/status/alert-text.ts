import type { Alert } from './alert-book.ts';

/** What is posted to ALERT_WEBHOOK_URL. `text` alone says it all, for chats that show nothing else. */
export interface AlertBody {
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
export function alertBody({ turn, subject, problem, atMs }: Alert): AlertBody {
  const { form, target } = subject;
  const level = turn === 'well' ? 'ok' : problem.level;
  const remedy = turn === 'well' ? null : remedyOf(problem);
  return {
    text: chatText(
      `${SIGNS[level]} forms-mirror, ${nameOf(subject)}: ${sayingOf(turn, problem, remedy)}`,
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

function sayingOf(turn: Alert['turn'], problem: Alert['problem'], remedy: string | null): string {
  const title = problem.title;
  if (turn === 'well') return `well again (was: ${title}).`;
  const still = turn === 'still-bad' ? 'still: ' : '';
  return `${still}${title}. ${problem.message}${remedy === null ? '' : ` ${remedy}`}`;
}

function remedyOf({ remedy, command }: Alert['problem']): string | null {
  return command === null ? remedy : `${remedy ?? ''} ${command}`.trim();
}

/**
 * A form's name must not call a whole channel, hide a link or break the line: `<!channel>` and `@here` are commands to
 * chats, `](` is a link in Markdown.
 */
function chatText(text: string): string {
  const calm = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('@', '@\u200B')
    .replaceAll('](', '] (');
  return calm.length <= MAX_TEXT ? calm : `${calm.slice(0, MAX_TEXT - 1).toWellFormed()}…`;
}
