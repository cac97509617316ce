import { isJson } from '../../../test/support/faults.ts';

/** JSON as text, whose numbers stay as written: a parsed value would lose that. */

/** A step of a path: a member's name or an element's number. */
export type PathStep = string | number;

/**
 * The piece of JSON text at a path, without white space, numbers as written. Undefined if it is not JSON or nothing is
 * there.
 */
export function jsonAt(text: string, path: readonly PathStep[]): string | undefined {
  const at = placeOf(text, path);
  return at === undefined ? undefined : minified(text.slice(at.start, at.end));
}

/** The elements of the list at a path, each as from {@link jsonAt}. Undefined if there is no list. */
export function elementsAt(text: string, path: readonly PathStep[]): string[] | undefined {
  const at = placeOf(text, path);
  if (at === undefined || text[at.start] !== '[') return undefined;
  return membersOf(text, at.start).map(({ start, end }) => minified(text.slice(start, end)));
}

interface Place {
  readonly start: number;
  readonly end: number;
}

function placeOf(text: string, path: readonly PathStep[]): Place | undefined {
  if (!isJson(text)) return undefined;
  const start = skipSpace(text, 0);
  let place: Place | undefined = { start, end: endOf(text, start) };
  for (const step of path) {
    if (place === undefined) return undefined;
    const opening = text[place.start];
    if (opening !== (typeof step === 'number' ? '[' : '{')) return undefined;
    const members = membersOf(text, place.start);
    place = typeof step === 'number' ? members[step] : members.find(({ key }) => key === step);
  }
  return place;
}

/** The members of the object, or elements of the list, that begins at `start` of valid JSON. */
function membersOf(text: string, start: number): (Place & { readonly key: string | undefined })[] {
  const members: (Place & { readonly key: string | undefined })[] = [];
  const closing = text[start] === '{' ? '}' : ']';
  let at = skipSpace(text, start + 1);
  while (text[at] !== closing) {
    let key: string | undefined;
    if (closing === '}') {
      const keyEnd = endOf(text, at);
      key = String(JSON.parse(text.slice(at, keyEnd)));
      at = skipSpace(text, skipSpace(text, keyEnd) + 1);
    }
    const end = endOf(text, at);
    members.push({ start: at, end, key });
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? '')) at++;
  return at;
}

const STRING = /"(?:[^"\\]|\\.)*"/sy;
const SCALAR = /[^\s,\]}]+/y;
/** The tokens that matter for the end of an object or list. */
const BRACKET = /"(?:[^"\\]|\\.)*"|[[\]{}]/gs;

/** The end of the value that begins at `start` of valid JSON. */
function endOf(text: string, start: number): number {
  const first = text[start];
  if (first === '{' || first === '[') {
    BRACKET.lastIndex = start;
    let depth = 0;
    for (let match = BRACKET.exec(text); match !== null; match = BRACKET.exec(text)) {
      if (match[0] === '{' || match[0] === '[') depth++;
      if (match[0] === '}' || match[0] === ']') depth--;
      if (depth === 0) return BRACKET.lastIndex;
    }
    return text.length;
  }
  const shape = first === '"' ? STRING : SCALAR;
  shape.lastIndex = start;
  shape.exec(text);
  return shape.lastIndex;
}

/** Without white space between its tokens; texts with no more escapes than they need. */
const minified = (text: string): string =>
  text.replaceAll(/"(?:[^"\\]|\\.)*"|\s+/gs, (token) =>
    token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : '',
  );
