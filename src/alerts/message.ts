import { plural } from '../base/format.ts';
import { clean, cut, shortName } from './fitting.ts';
import { type Notice, remedyOf } from './notice.ts';

/** What is posted to a webhook that is no chat we know. `text` alone says it all, for chats that show nothing else. */
export interface AlertMessage {
  readonly text: string;
  readonly level: 'error' | 'warning' | 'ok';
  /** Null when it concerns all forms, or several. */
  readonly form: { readonly id: string; readonly name: string } | null;
  /** The target's name; null when it concerns all. */
  readonly target: string | null;
  readonly code: string;
  readonly remedy: string | null;
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** The forms, where it is about several; absent otherwise. */
  readonly forms?: readonly {
    readonly id: string;
    readonly name: string;
    readonly target: string;
  }[];
}

/** What a message begins with, so that one sees from afar what it is. */
export const SIGNS = { error: '🔴', warning: '🟠', ok: '🟢' } as const;

const MAX_TEXT = 2_000;
/** Names in the text of a message about several forms. */
const MAX_NAMES = 5;

/** A notice as it is posted. */
export function alertMessage(notice: Notice): AlertMessage {
  const { level, code, subject, forms, atMs } = notice;
  return {
    text: plainText(notice),
    level,
    form: subject.form,
    target: subject.target,
    code,
    remedy: remedyOf(notice),
    at: new Date(atMs).toISOString(),
    ...(forms.length > 0 && { forms }),
  };
}

/** Everything in one line, for what shows nothing but a text. */
export function plainText(notice: Notice): string {
  const { level, headline, body, forms } = notice;
  const parts = [`${headline}.`, body, namesOf(forms), remedyOf(notice) ?? ''];
  const text = parts.filter((part) => part !== '').join(' ');
  return chatText(`${SIGNS[level]} ${text}`);
}

function namesOf(forms: Notice['forms']): string {
  if (forms.length === 0) return '';
  const named = forms
    .slice(0, MAX_NAMES)
    .map(({ name, target }) => `${shortName(name)} → ${target}`);
  const left = forms.length - named.length;
  const rest = left === 0 ? '' : `, and ${plural(left, 'other')}`;
  return `They are: ${named.join(', ')}${rest}.`;
}

/**
 * A form's name must not call a whole channel, hide a link or break the line: `<!channel>` and `@here` are commands to
 * chats, `](` is a link in Markdown.
 */
function chatText(text: string): string {
  const plain = clean(text)
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('@', '@\u200B')
    .replaceAll('](', '] (');
  return cut(plain, MAX_TEXT);
}
