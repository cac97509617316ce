import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { CellStyle } from './cell.ts';

type CellFormat = sheets_v4.Schema$CellFormat;

/** Keeps one object for each distinct style of a cell, so that many cells share it. */
export class CellStylePool {
  readonly #styles = new Map<string, CellStyle>();

  /** The shared object equal to `cellStyle`; undefined for an empty one. */
  intern(cellStyle: CellStyle): CellStyle | undefined {
    const format = cellStyle.format && normalFormat(cellStyle.format);
    const bare: CellStyle = {
      ...(format !== undefined && Object.keys(format).length > 0 && { format }),
      ...(cellStyle.validation !== undefined && { validation: cellStyle.validation }),
      ...(cellStyle.runs !== undefined && cellStyle.runs.length > 0 && { runs: cellStyle.runs }),
    };
    const key = JSON.stringify(bare);
    if (key === '{}') return undefined;
    const known = this.#styles.get(key);
    if (known !== undefined) return known;
    this.#styles.set(key, bare);
    return bare;
  }
}

/** Google answers every color twice, as `…Color` and as `…ColorStyle`; the style wins when both are given. */
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

/** The shortest number that is the same as 32-bit float. */
function shortest(float: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(float.toPrecision(digits));
    if (Math.fround(short) === float) return short;
  }
  return Number(float.toPrecision(9));
}

/** Sheets keeps colors in 256 steps and answers them as 32-bit floats: 0.5 becomes 0.49803922, 0 is left out. */
export function storedColor(color: sheets_v4.Schema$Color): sheets_v4.Schema$Color {
  const step = (part: number | null | undefined): number | undefined => {
    // A stored color does not change, although its fraction was cut.
    const value = Math.floor(Math.min(1, Math.max(0, part ?? 0)) * 255 + 1e-4) / 255;
    return value === 0 ? undefined : shortest(Math.fround(value));
  };
  const [red, green, blue] = [step(color.red), step(color.green), step(color.blue)];
  return {
    ...(red !== undefined && { red }),
    ...(green !== undefined && { green }),
    ...(blue !== undefined && { blue }),
  };
}
