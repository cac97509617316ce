import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { dateOf } from './serial-date.ts';

type NumberFormat = sheets_v4.Schema$NumberFormat;

/** A number as a cell shows it, in American English. Supports the formats that forms-mirror uses. */
export function formatNumber(value: number, format: NumberFormat | null | undefined): string {
  switch (format?.type ?? '') {
    case 'DATE_TIME':
      return dateOf(value).toISOString().slice(0, 16).replace('T', ' ');
    case 'DATE':
      return dateOf(value).toISOString().slice(0, 10);
    case 'PERCENT':
      return `${Math.round(100 * value)}%`;
    case 'NUMBER':
      return value.toFixed(0);
    default:
      return general(value);
  }
}

/** "Automatic": up to ten significant digits; 1.23457E+15 from sixteen digits on. */
function general(value: number): string {
  if (Math.abs(value) < 1e15)
    return String(Number.isInteger(value) ? value : Number(value.toPrecision(10)));
  const [mantissa = '', exponent = ''] = value.toExponential(5).split('e');
  return `${mantissa.replace(/\.?0+$/, '')}E${exponent}`;
}
