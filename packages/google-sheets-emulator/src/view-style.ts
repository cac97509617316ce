import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';

/** Text made safe for HTML, also for a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

function cssColor({ rgbColor }: sheets_v4.Schema$ColorStyle): string {
  const part = (value: number | null | undefined): number => Math.round((value ?? 0) * 255);
  return `rgb(${part(rgbColor?.red)},${part(rgbColor?.green)},${part(rgbColor?.blue)})`;
}

const ALIGN: Readonly<Record<string, string>> = { LEFT: 'left', CENTER: 'center', RIGHT: 'right' };
const VERTICAL: Readonly<Record<string, string>> = {
  TOP: 'top',
  MIDDLE: 'middle',
  BOTTOM: 'bottom',
};

/** A cell's format as CSS declarations. It contains only numbers and our own words, so nothing needs escaping. */
export function cssOf(format: sheets_v4.Schema$CellFormat): string {
  const { backgroundColorStyle, textFormat } = format;
  const align = ALIGN[format.horizontalAlignment ?? ''];
  const vertical = VERTICAL[format.verticalAlignment ?? ''];
  const color = textFormat?.foregroundColorStyle;
  return [
    ...(backgroundColorStyle ? [`background:${cssColor(backgroundColorStyle)}`] : []),
    ...(align === undefined ? [] : [`text-align:${align}`]),
    ...(vertical === undefined ? [] : [`vertical-align:${vertical}`]),
    ...(textFormat?.bold === true ? ['font-weight:bold'] : []),
    ...(textFormat?.italic === true ? ['font-style:italic'] : []),
    ...(color ? [`color:${cssColor(color)}`] : []),
    ...(typeof textFormat?.fontSize === 'number' ? [`font-size:${textFormat.fontSize}pt`] : []),
  ].join(';');
}
