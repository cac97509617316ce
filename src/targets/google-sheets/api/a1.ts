/** `A` for 0, `AA` for 26. */
export function columnName(index: number): string {
  let name = '';
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  }
  return name;
}

/** A tab's title in A1 notation: in quotes, with quotes in it doubled. */
export const quotedTitle = (title: string): string => `'${title.replaceAll("'", "''")}'`;

/** Consecutive numbers as half-open spans. `numbers` must be ascending. */
export function spansOf(numbers: readonly number[]): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  for (const number of numbers) {
    const last = spans.at(-1);
    if (last?.end === number) last.end++;
    else spans.push({ start: number, end: number + 1 });
  }
  return spans;
}
