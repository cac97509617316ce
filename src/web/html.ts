import { printableLines } from '../base/printable.ts';

/** Text that is already HTML: made by {@link html}, or a constant of this program. Everything else is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The values that a template takes. Null, undefined and false show nothing. */
export type HtmlPart = string | number | Html | readonly HtmlPart[] | null | undefined | false;

/** A template whose parts are escaped, unless they are HTML themselves. Quote attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const text = strings.map((string, at) => (at === 0 ? '' : render(parts[at - 1])) + string);
  return new Html(text.join(''));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function render(part: HtmlPart): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(render).join('');
  // Invisible characters that reorder a line would let a form's name disguise the text beside it.
  return printableLines(String(part)).replaceAll(
    /[&<>"']/g,
    (character) => ENTITIES[character] ?? '',
  );
}
