import type { CellStyle } from './cell.ts';

/** Keeps one object for each distinct style of a cell, so that many cells share it. */
export class CellStylePool {
  readonly #styles = new Map<string, CellStyle>();

  /** The shared object equal to `cellStyle`; undefined for an empty one. */
  intern(cellStyle: CellStyle): CellStyle | undefined {
    const key = JSON.stringify(cellStyle);
    if (Object.keys(cellStyle.format ?? {}).length === 0) return undefined;
    const known = this.#styles.get(key) ?? cellStyle;
    this.#styles.set(key, known);
    return known;
  }
}
