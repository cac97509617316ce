/** Part of a grid: half-open, zero-based; an absent bound is open. */
export interface Bounds {
  readonly startRowIndex?: number;
  readonly endRowIndex?: number;
  readonly startColumnIndex?: number;
  readonly endColumnIndex?: number;
}

/** `A` for 0, `Z` for 25, `AA` for 26. */
export function columnLetters(index: number): string {
  let letters = '';
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  }
  return letters;
}

/** 0 for `A`, 26 for `AA`; letters of any case. */
export function columnIndex(letters: string): number {
  let index = 0;
  for (const letter of letters.toUpperCase()) index = index * 26 + letter.charCodeAt(0) - 64;
  return index - 1;
}

/** A tab's title as Google writes it in ranges: quoted unless it is a plain word that cannot be taken for a cell. */
export function quoteTitle(title: string): string {
  const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(title) && !/^[A-Za-z]{1,3}[0-9]+$/.test(title);
  return plain ? title : `'${title.replaceAll("'", "''")}'`;
}

/** `Sheet1!A1:B2`; one cell as `Sheet1!A1`. The rectangle is half-open. */
export function formatA1(
  title: string,
  area: { top: number; bottom: number; left: number; right: number },
): string {
  const start = `${columnLetters(area.left)}${area.top + 1}`;
  const end = `${columnLetters(area.right - 1)}${area.bottom}`;
  return `${quoteTitle(title)}!${start === end ? start : `${start}:${end}`}`;
}
