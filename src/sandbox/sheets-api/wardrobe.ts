import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Dress } from './cell.ts';

type CellFormat = sheets_v4.Schema$CellFormat;

/** Keeps one object for each distinct look of a cell, so that many cells share it. */
export class Wardrobe {
  readonly #dresses = new Map<string, Dress>();

  /** The shared object equal to `dress`; undefined for one that says nothing. */
  keep(dress: Dress): Dress | undefined {
    const format = dress.format && normalFormat(dress.format);
    const bare: Dress = {
      ...(format !== undefined && Object.keys(format).length > 0 && { format }),
      ...(dress.validation !== undefined && { validation: dress.validation }),
      ...(dress.runs !== undefined && dress.runs.length > 0 && { runs: dress.runs }),
    };
    const key = JSON.stringify(bare);
    if (key === '{}') return undefined;
    const known = this.#dresses.get(key);
    if (known !== undefined) return known;
    this.#dresses.set(key, bare);
    return bare;
  }
}

/** Google answers every colour twice, as `…Color` and as `…ColorStyle`; the style wins when both are given. */
function normalFormat(format: CellFormat): CellFormat {
  const { textFormat, ...rest } = format;
  const text = textFormat && paired(textFormat, 'foregroundColor', 'foregroundColorStyle');
  return {
    ...paired(rest, 'backgroundColor', 'backgroundColorStyle'),
    ...(text !== undefined && text !== null && { textFormat: text }),
  };
}

function paired<T extends object>(value: T, color: keyof T & string, style: keyof T & string): T {
  const given = value[style] as sheets_v4.Schema$ColorStyle | null | undefined;
  const plain = value[color] as sheets_v4.Schema$Color | null | undefined;
  if (given?.rgbColor !== undefined) return { ...value, [color]: given.rgbColor };
  if (given === undefined && plain !== undefined) return { ...value, [style]: { rgbColor: plain } };
  return value;
}
