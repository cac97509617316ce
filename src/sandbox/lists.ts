import { STATUSES } from '../mirror/types.ts';
import type { FormsStore, StoredSubmission } from './store.ts';
import { type FieldError, Problem } from './wire.ts';

/** One page of a list, with the numbers of its envelope. */
export interface ListPage {
  readonly items: readonly StoredSubmission[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;

/** The page of submissions that a query asks for, as the store is now: the newest first, unless it asks otherwise. */
export function submissionsPage(query: URLSearchParams, store: FormsStore): ListPage {
  const { formId, status, fromMs, toMs, page, limit, isAscending } = readQuery(query);
  const matching = store
    .byTime(formId)
    .filter(
      (one) =>
        (status === undefined || one.status === status) &&
        (fromMs === undefined || one.createdAtMs >= fromMs) &&
        (toMs === undefined || one.createdAtMs <= toMs),
    );
  if (!isAscending) matching.reverse();
  const first = (page - 1) * limit;
  return { items: matching.slice(first, first + limit), total: matching.length, page, limit };
}

/** The parameters of `GET /submissions`. */
interface Query {
  readonly formId: string | undefined;
  readonly status: string | undefined;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  readonly page: number;
  /** Capped already. */
  readonly limit: number;
  readonly isAscending: boolean;
}

type Refuse = (field: string, message: string) => void;

/** Reads the query parameters; an empty one counts as absent. Throws a 400 that lists every wrong one. */
function readQuery(query: URLSearchParams): Query {
  const errors: FieldError[] = [];
  const given = (name: string): string | undefined => query.get(name) || undefined;
  const refuse: Refuse = (field, message) => void errors.push({ field, message });
  const allow = (field: string, words: readonly string[]): string | undefined => {
    const word = given(field);
    if (word !== undefined && !words.includes(word))
      refuse(field, `must be one of ${words.join(', ')}`);
    return word;
  };
  allow('sortBy', ['submittedAt']);
  const asked: Query = {
    formId: given('formId'),
    status: allow('status', STATUSES),
    fromMs: readBound('dateFrom', given('dateFrom'), refuse),
    toMs: readBound('dateTo', given('dateTo'), refuse),
    page: readCount('page', given('page'), 1, refuse),
    limit: Math.min(readCount('limit', given('limit'), DEFAULT_LIMIT, refuse), MAX_LIMIT),
    isAscending: allow('sortOrder', ['desc', 'asc']) === 'asc',
  };
  if (errors.length > 0) throw new Problem(400, 'The query is not valid.', errors);
  return asked;
}

/** The `page` of `GET /forms`. */
export function readFormsPage(query: URLSearchParams): number {
  return readCount('page', query.get('page') || undefined, 1, (field, message) => {
    throw new Problem(400, 'The query is not valid.', [{ field, message }]);
  });
}

function readCount(
  field: string,
  text: string | undefined,
  otherwise: number,
  refuse: Refuse,
): number {
  if (text === undefined) return otherwise;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count;
  refuse(field, 'must be a whole number from 1');
  return otherwise;
}

const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

function readBound(field: string, text: string | undefined, refuse: Refuse): number | undefined {
  if (text === undefined) return undefined;
  // A `+` that was not percent-encoded arrives as a space.
  const iso = text.replace(' ', '+');
  // Without a zone, a date-time is UTC here, as a date is by the standard.
  const zoned = /T[^Z+-]*$/.test(iso) ? `${iso}Z` : iso;
  const ms = DATE.test(iso) ? Date.parse(zoned) : Number.NaN;
  if (Number.isNaN(ms)) refuse(field, 'must be an ISO 8601 date');
  return ms;
}
