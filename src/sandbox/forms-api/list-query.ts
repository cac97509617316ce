import type { SandboxBehaviour } from './behaviour.ts';
import { type FieldError, Problem } from './problem.ts';
import type { OrderName } from './submission-orders.ts';
import { STATUSES } from '../../mirror/types.ts';

/** The parameters of `GET /submissions`, as the behaviour reads them. */
export interface ListQuery {
  readonly formId: string | undefined;
  readonly status: string | undefined;
  /** Words that must all occur, in lower case. */
  readonly search: readonly string[];
  /** Bounds in milliseconds. */
  readonly dateFromMs: number | undefined;
  readonly dateToMs: number | undefined;
  readonly page: number;
  /** Capped already. */
  readonly limit: number;
  readonly order: OrderName;
  readonly descending: boolean;
}

/** Reads the query parameters; an empty one counts as absent. Throws a 400 that lists every wrong one. */
export function parseListQuery(query: URLSearchParams, behaviour: SandboxBehaviour): ListQuery {
  const errors: FieldError[] = [];
  const given = (name: string): string | undefined => query.get(name) || undefined;
  const refuse = (field: string, message: string): void => void errors.push({ field, message });
  const formId = given('formId');
  if (formId === undefined && behaviour.workspaceList === 'refused')
    refuse('formId', 'is required');
  const parsed: ListQuery = {
    formId: behaviour.formFilter === 'ignored' ? undefined : formId,
    status: readStatus(given('status'), formId, behaviour, refuse),
    search: given('search')?.toLowerCase().split(/\s+/).filter(Boolean) ?? [],
    dateFromMs: readBound('dateFrom', given('dateFrom'), behaviour, refuse),
    dateToMs: readBound('dateTo', given('dateTo'), behaviour, refuse),
    page: readCount('page', given('page'), 1, refuse),
    limit: Math.min(
      readCount('limit', given('limit'), behaviour.defaultLimit, refuse),
      behaviour.maxLimit,
    ),
    ...readSort(given('sortBy'), given('sortOrder'), behaviour, refuse),
  };
  if (errors.length > 0) throw new Problem(400, 'The query is not valid.', errors);
  return parsed;
}

/** The `page` of `GET /forms`. */
export function parseFormsPage(query: URLSearchParams): number {
  const errors: FieldError[] = [];
  const page = readCount('page', query.get('page') || undefined, 1, (field, message) =>
    errors.push({ field, message }),
  );
  if (errors.length > 0) throw new Problem(400, 'The query is not valid.', errors);
  return page;
}

type Refuse = (field: string, message: string) => void;

function readStatus(
  status: string | undefined,
  formId: string | undefined,
  { extraStatuses, workspaceStatus }: SandboxBehaviour,
  refuse: Refuse,
): string | undefined {
  if (status === undefined) return undefined;
  if (formId === undefined && workspaceStatus !== 'honoured') {
    if (workspaceStatus === 'refused') refuse('status', 'is for one form: give formId, too');
    return undefined;
  }
  const allowed: readonly string[] = [...STATUSES, ...extraStatuses];
  if (!allowed.includes(status)) refuse('status', `must be one of ${allowed.join(', ')}`);
  return status;
}

function readCount(field: string, text: string | undefined, otherwise: number, refuse: Refuse) {
  if (text === undefined) return otherwise;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count;
  refuse(field, 'must be a whole number from 1');
  return otherwise;
}

const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

function readBound(
  field: string,
  text: string | undefined,
  { dateFilter }: SandboxBehaviour,
  refuse: Refuse,
): number | undefined {
  if (text === undefined || dateFilter === 'ignored') return undefined;
  // A `+` that was not percent-encoded arrives as a space.
  const iso = text.replace(' ', '+');
  // Without a zone, a date-time is UTC here, as a date is by the standard.
  const zoned = /T[^Z+-]*$/.test(iso) ? `${iso}Z` : iso;
  const ms = DATE.test(iso) ? Date.parse(zoned) : Number.NaN;
  if (dateFilter === 'refused') refuse(field, 'is not supported');
  else if (dateFilter === 'dates-only' && iso.includes('T')) refuse(field, 'must be a date');
  else if (Number.isNaN(ms)) refuse(field, 'must be an ISO 8601 date');
  return ms;
}

function readSort(
  sortBy: string | undefined,
  sortOrder: string | undefined,
  { sort, baseOrder }: SandboxBehaviour,
  refuse: Refuse,
): Pick<ListQuery, 'order' | 'descending'> {
  const base = {
    order: baseOrder === 'insertion' || baseOrder === 'id' ? baseOrder : 'time',
    descending: baseOrder === 'newest',
  } as const;
  if (sort === 'ignored' || (sortBy === undefined && sortOrder === undefined)) return base;
  const strict = sort === 'strict';
  const keys = strict ? ['submittedAt'] : ['submittedAt', 'createdAt', 'id'];
  const orders = strict ? ['desc'] : ['desc', 'asc'];
  if (sortBy !== undefined && !keys.includes(sortBy)) {
    refuse('sortBy', `must be one of ${keys.join(', ')}`);
  }
  if (sortOrder !== undefined && !orders.includes(sortOrder)) {
    refuse('sortOrder', `must be one of ${orders.join(', ')}`);
  }
  return { order: sortBy === 'id' ? 'id' : 'time', descending: sortOrder !== 'asc' };
}
