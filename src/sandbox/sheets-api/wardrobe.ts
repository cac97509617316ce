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
  const rgb = given?.rgbColor ?? (given?.themeColor ? undefined : plain);
  if (!rgb) return value;
  const stored = storedColor(rgb);
  return { ...value, [color]: stored, [style]: { rgbColor: stored } };
}

/** Sheets keeps colours in 256 steps and answers them as 32-bit floats: 0.5 becomes 0.49803922, 0 is left out. */
export function storedColor(color: sheets_v4.Schema$Color): sheets_v4.Schema$Color {
  const step = (part: number | null | undefined): number | undefined => {
    const value = Math.floor(Math.min(1, Math.max(0, part ?? 0)) * 255) / 255;
    return value === 0 ? undefined : Number(Math.fround(value).toPrecision(8));
  };
  const [red, green, blue] = [step(color.red), step(color.green), step(color.blue)];
  return {
    ...(red !== undefined && { red }),
    ...(green !== undefined && { green }),
    ...(blue !== undefined && { blue }),
  };
}
