/** Characters of a tab's title; Google takes 100. */
const MAX_TITLE = 80;

/**
 * A valid title for a new tab, as close to `wanted` as can be, that no tab in `taken` has (Google compares without
 * regard to case). Colons and brackets go, because they confuse A1 notation in other tools.
 */
export function freeTabTitle(wanted: string, taken: Iterable<string>): string {
  const used = new Set([...taken].map((title) => title.toLowerCase()));
  const base = cleanTitle(wanted);
  for (let number = 1; ; number++) {
    const title = number === 1 ? base : `${base} (${number})`;
    if (!used.has(title.toLowerCase())) return title;
  }
}

function cleanTitle(wanted: string): string {
  const clean = wanted
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}[\]*?:\\/!]/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[' ]+|[' ]+$/g, '');
  const short = clean.slice(0, MAX_TITLE);
  return (short.isWellFormed() ? short : short.slice(0, -1)).trim() || 'Form';
}

/** Longest label written into a header cell; the dictionary on the Mirror tab holds the whole of it. */
const MAX_HEADER = 300;

/** A field's label as a header cell: one line of limited length; the field's ID when there is no label. */
export function headerText(label: string, fieldId: string): string {
  const line = label
    .toWellFormed()
    .replaceAll('\0', '\u2400')
    .replace(/\s*[\r\n]+\s*/g, ' ')
    .trim();
  const text = line === '' ? fieldId : line;
  if (text.length <= MAX_HEADER) return text;
  const head = text.slice(0, MAX_HEADER - 1);
  return `${head.isWellFormed() ? head : head.slice(0, -1)}…`;
}
