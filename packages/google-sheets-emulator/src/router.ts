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

/** A range may hold colons itself, so `:append` and `:clear` are looked for before it is taken whole. */
const PATTERNS: readonly Pattern[] = [
  pattern('POST', '', SPREADSHEET_METHODS.create),
  pattern('GET', `/${ID}`, SPREADSHEET_METHODS.get),
  pattern('POST', `/${ID}:batchUpdate`, SPREADSHEET_METHODS.batchUpdate),
  pattern('POST', `/${ID}:getByDataFilter`, SPREADSHEET_METHODS.getByDataFilter),
  pattern('POST', `/${ID}/sheets/(?<resource>\\d+):copyTo`, SPREADSHEET_METHODS.copyTo),
  pattern('POST', `/${ID}/developerMetadata:search`, SPREADSHEET_METHODS.searchMetadata),
  pattern('GET', `/${ID}/developerMetadata/(?<resource>\\d+)`, SPREADSHEET_METHODS.getMetadata),
  pattern('GET', `/${ID}/values:batchGet`, VALUE_METHODS.batchGet),
  pattern('POST', `/${ID}/values:batchUpdate`, VALUE_METHODS.batchUpdate),
  pattern('POST', `/${ID}/values:batchClear`, VALUE_METHODS.batchClear),
  pattern('POST', `/${ID}/values:batchGetByDataFilter`, VALUE_METHODS.batchGetByDataFilter),
  pattern('POST', `/${ID}/values:batchUpdateByDataFilter`, VALUE_METHODS.batchUpdateByDataFilter),
  pattern('POST', `/${ID}/values:batchClearByDataFilter`, VALUE_METHODS.batchClearByDataFilter),
  pattern('POST', `/${ID}/values/(?<resource>.+):append`, VALUE_METHODS.append),
  pattern('POST', `/${ID}/values/(?<resource>.+):clear`, VALUE_METHODS.clear),
  pattern('GET', `/${ID}/values/(?<resource>.+)`, VALUE_METHODS.get),
  pattern('PUT', `/${ID}/values/(?<resource>.+)`, VALUE_METHODS.update),
];

/** The route of an address; undefined for one that Google answers with an HTML 404. */
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
