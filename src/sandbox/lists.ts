import { z } from 'zod';
import { STATUSES } from '../mirror/types.ts';
import type { FormsStore, StoredSubmission } from './store.ts';
import { Problem } from './wire.ts';

/** One page of a list, with the numbers of its envelope. */
export interface ListPage {
  readonly items: readonly StoredSubmission[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;

const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

const bound = z
  .string()
  .transform((text, context): number => {
    // A `+` that was not percent-encoded arrives as a space.
    const iso = text.replace(' ', '+');
    // Without a zone, a date-time is UTC here, as a date is by the standard.
    const ms = DATE.test(iso) ? Date.parse(/T[^Z+-]*$/.test(iso) ? `${iso}Z` : iso) : Number.NaN;
    if (Number.isNaN(ms)) context.addIssue({ code: 'custom', message: 'must be an ISO 8601 date' });
    return ms;
  })
  .optional();

const count = z
  .string()
  .regex(/^0*[1-9]\d{0,14}$/, 'must be a whole number from 1')
  .transform(Number);

const oneOf = <const T extends string>(words: readonly T[]) =>
  z.enum(words, `must be one of ${words.join(', ')}`).optional();

const formsQuery = z.object({ page: count.default(1) });

const submissionsQuery = formsQuery.extend({
  formId: z.string().optional(),
  status: oneOf(STATUSES),
  dateFrom: bound,
  dateTo: bound,
  limit: count.default(DEFAULT_LIMIT),
  sortBy: oneOf(['submittedAt']),
  sortOrder: oneOf(['desc', 'asc']),
});

/** Reads the query parameters; an empty one counts as absent. Throws a 400 that lists every wrong one. */
function read<T extends z.ZodType>(schema: T, query: URLSearchParams): z.output<T> {
  const given = Object.fromEntries([...query].filter(([, text]) => text !== ''));
  const { data, error } = schema.safeParse(given);
  if (data !== undefined) return data;
  const wrong = (error?.issues ?? []).map(({ path, message }) => {
    return { field: String(path[0]), message };
  });
  throw new Problem(400, 'The query is not valid.', wrong);
}

/** The page of submissions that a query asks for, as the store is now: the newest first, unless it asks otherwise. */
export function submissionsPage(query: URLSearchParams, store: FormsStore): ListPage {
  const asked = read(submissionsQuery, query);
  const { formId, status, dateFrom, dateTo, page } = asked;
  const limit = Math.min(asked.limit, MAX_LIMIT);
  const matching = store
    .byTime(formId)
    .filter(
      (one) =>
        (status === undefined || one.status === status) &&
        (dateFrom === undefined || one.createdAtMs >= dateFrom) &&
        (dateTo === undefined || one.createdAtMs <= dateTo),
    );
  if (asked.sortOrder !== 'asc') matching.reverse();
  const first = (page - 1) * limit;
  return { items: matching.slice(first, first + limit), total: matching.length, page, limit };
}

/** The `page` of `GET /forms`. */
export const readFormsPage = (query: URLSearchParams): number => read(formsQuery, query).page;
