import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';

type Format = sheets_v4.Schema$CellFormat;

/** Text made safe inside HTML, also inside a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

/** A color as CSS; undefined for none. */
export function cssColor(color: sheets_v4.Schema$Color | null | undefined): string | undefined {
  if (!color) return undefined;
  const part = (value: number | null | undefined): number =>
    Math.round(Math.min(1, Math.max(0, value ?? 0)) * 255);
  return `rgb(${part(color.red)},${part(color.green)},${part(color.blue)})`;
}

const ALIGN: Readonly<Record<string, string>> = { LEFT: 'left', CENTER: 'center', RIGHT: 'right' };
const VERTICAL: Readonly<Record<string, string>> = {
  TOP: 'top',
  MIDDLE: 'middle',
  BOTTOM: 'bottom',
};
const LINE: Readonly<Record<string, string>> = {
  SOLID: '1px solid',
  SOLID_MEDIUM: '2px solid',
  SOLID_THICK: '3px solid',
  DASHED: '1px dashed',
  DOTTED: '1px dotted',
  DOUBLE: '3px double',
};

function textStyles(text: sheets_v4.Schema$TextFormat): string[] {
  const lines = [
    ...(text.underline === true ? ['underline'] : []),
    ...(text.strikethrough === true ? ['line-through'] : []),
  ];
  const color = cssColor(text.foregroundColorStyle?.rgbColor ?? text.foregroundColor);
  return [
    ...(text.bold === true ? ['font-weight:bold'] : []),
    ...(text.italic === true ? ['font-style:italic'] : []),
    ...(lines.length > 0 ? [`text-decoration:${lines.join(' ')}`] : []),
    ...(color === undefined ? [] : [`color:${color}`]),
    ...(typeof text.fontSize === 'number' ? [`font-size:${text.fontSize}pt`] : []),
  ];
}

function borderStyles(borders: sheets_v4.Schema$Borders): string[] {
  return (['top', 'right', 'bottom', 'left'] as const).flatMap((side) => {
    const border = borders[side];
    const line = LINE[border?.style ?? ''];
    if (border === undefined || line === undefined) return [];
    const color = cssColor(border.colorStyle?.rgbColor ?? border.color) ?? 'black';
    return [`border-${side}:${line} ${color}`];
  });
}

/** A cell's format as CSS declarations. Only numbers and words of our own get in: nothing here needs escaping. */
export function cssOf(format: Format): string {
  const background = cssColor(format.backgroundColorStyle?.rgbColor ?? format.backgroundColor);
  const align = ALIGN[format.horizontalAlignment ?? ''];
  const vertical = VERTICAL[format.verticalAlignment ?? ''];
  return [
    ...(background === undefined ? [] : [`background:${background}`]),
    ...(align === undefined ? [] : [`text-align:${align}`]),
    ...(vertical === undefined ? [] : [`vertical-align:${vertical}`]),
    ...(format.textFormat ? textStyles(format.textFormat) : []),
    ...(format.borders ? borderStyles(format.borders) : []),
  ].join(';');
}
