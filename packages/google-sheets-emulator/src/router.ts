import type { Method } from './call.ts';
import { SPREADSHEET_METHODS } from './methods-spreadsheet.ts';
import { VALUE_METHODS } from './methods-values.ts';

/** The method that an address names, with what the address says besides. */
export interface Route {
  readonly method: Method;
  readonly spreadsheetId: string;
  readonly resource: string;
}

interface Pattern {
  readonly verb: string;
  readonly path: RegExp;
  readonly method: Method;
}

const ID = '(?<id>[^/:]+)';

const pattern = (verb: string, path: string, method: Method): Pattern => ({
  verb,
  path: new RegExp(`^/v4/spreadsheets${path}$`),
  method,
});

const PATTERNS: readonly Pattern[] = [
  pattern('GET', `/${ID}`, SPREADSHEET_METHODS.get),
  pattern('POST', `/${ID}:batchUpdate`, SPREADSHEET_METHODS.batchUpdate),
  pattern('POST', `/${ID}/values:batchGetByDataFilter`, VALUE_METHODS.batchGetByDataFilter),
  pattern('GET', `/${ID}/values/(?<resource>.+)`, VALUE_METHODS.get),
];

/** The route of an address; undefined for an address that Google answers with an HTML 404. */
export function routeOf(verb: string, path: string): Route | undefined {
  for (const { verb: wanted, path: shape, method } of PATTERNS) {
    if (wanted !== verb) continue;
    const groups = shape.exec(path)?.groups;
    if (groups === undefined && !shape.test(path)) continue;
    return {
      method,
      spreadsheetId: decodeURIComponent(groups?.['id'] ?? ''),
      resource: decodeURIComponent(groups?.['resource'] ?? ''),
    };
  }
  return undefined;
}
