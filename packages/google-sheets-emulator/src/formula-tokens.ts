import { columnIndex, columnLetters, quoteTitle } from './a1.ts';
import { Formula } from './cell.ts';

/** One corner of a reference. An absent row or column is open (`A:C`, `2:5`); `$` pins are kept for rewriting. */
export interface Corner {
  readonly row: number | undefined;
  readonly column: number | undefined;
  readonly rowPinned: boolean;
  readonly columnPinned: boolean;
}

/** A reference in a formula; `title` is the tab that it names, undefined for the formula's own. */
export interface Reference {
  readonly title: string | undefined;
  readonly start: Corner;
  /** Undefined for a single cell. */
  readonly end: Corner | undefined;
}

/** A piece of a formula; `text` is as written. */
export type Token =
  | { readonly kind: 'number'; readonly text: string; readonly value: number }
  | { readonly kind: 'string'; readonly text: string; readonly value: string }
  | { readonly kind: 'reference'; readonly text: string; readonly reference: Reference }
  | { readonly kind: 'word' | 'operator' | 'space' | 'error' | 'unknown'; readonly text: string };

const PATTERNS = {
  space: /\s+/y,
  string: /"(?:[^"]|"")*"/y,
  error: /#(?:REF!|N\/A|VALUE!|NAME\?|DIV\/0!|NUM!|ERROR!)/y,
  reference:
    /(?:('(?:[^']|'')+'|[\p{L}_][\p{L}\p{N}_.]*)!)?(?:\$?[A-Za-z]{1,3}\$?[1-9]\d*(?::\$?[A-Za-z]{1,3}(?:\$?[1-9]\d*)?)?|\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3}|\$?[1-9]\d*:\$?[1-9]\d*)(?![\p{L}\p{N}_(!.])/uy,
  number: /\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+/y,
  word: /[\p{L}_][\p{L}\p{N}_.]*/uy,
  operator: /<>|<=|>=|[-+*/^&=<>%(),;{}:!]/y,
} as const;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Splits a formula (without or with its `=`) into tokens; nothing is dropped, so joining the texts restores it. */
export function tokenize(formula: string): Token[] {
  const tokens: Token[] = [];
  let at = formula.startsWith('=') ? 1 : 0;
  while (at < formula.length) {
    const token = nextToken(formula, at);
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

function nextToken(formula: string, at: number): Token {
  for (const kind of [
    'space',
    'string',
    'error',
    'reference',
    'number',
    'word',
    'operator',
  ] as const) {
    const match = matchAt(PATTERNS[kind], formula, at);
    if (match === null) continue;
    const text = match[0];
    if (kind === 'number') return { kind, text, value: Number(text) };
    if (kind === 'string') return { kind, text, value: text.slice(1, -1).replaceAll('""', '"') };
    if (kind === 'reference') return { kind, text, reference: parseReference(text, match[1]) };
    return { kind, text };
  }
  return { kind: 'unknown', text: formula.slice(at, at + 1) };
}

function parseReference(text: string, title: string | undefined): Reference {
  const cells = title === undefined ? text : text.slice(title.length + 1);
  const [start = '', end] = cells.split(':');
  const name = title?.startsWith("'") === true ? title.slice(1, -1).replaceAll("''", "'") : title;
  return {
    title: name,
    start: parseCorner(start),
    end: end === undefined ? undefined : parseCorner(end),
  };
}

function parseCorner(text: string): Corner {
  const match = /^(\$?)([A-Za-z]*)(\$?)(\d*)$/.exec(text);
  const [, first = '', letters = '', second = '', digits = ''] = match ?? [];
  return {
    column: letters === '' ? undefined : columnIndex(letters),
    row: digits === '' ? undefined : Number(digits) - 1,
    columnPinned: letters !== '' && first === '$',
    rowPinned: letters === '' ? first === '$' : second === '$',
  };
}

/** A reference as text. */
function printReference({ title, start, end }: Reference): string {
  const prefix = title === undefined ? '' : `${quoteTitle(title)}!`;
  return `${prefix}${printCorner(start)}${end === undefined ? '' : `:${printCorner(end)}`}`;
}

function printCorner({ row, column, rowPinned, columnPinned }: Corner): string {
  const letters = column === undefined ? '' : `${columnPinned ? '$' : ''}${columnLetters(column)}`;
  const digits = row === undefined ? '' : `${rowPinned ? '$' : ''}${row + 1}`;
  return letters + digits;
}

/** A formula with `change` applied to every reference; undefined becomes `#REF!`. */
export function rewriteReferences(
  formula: Formula,
  change: (reference: Reference) => Reference | undefined,
): Formula {
  let changed = false;
  const texts = tokenize(formula.text).map((token) => {
    if (token.kind !== 'reference') return token.text;
    const fresh = change(token.reference);
    if (fresh === token.reference) return token.text;
    changed = true;
    return fresh === undefined ? '#REF!' : printReference(fresh);
  });
  return changed ? new Formula(`=${texts.join('')}`) : formula;
}
