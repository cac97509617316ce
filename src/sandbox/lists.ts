import { STATUSES } from '../mirror/types.ts';
import type { SandboxBehaviour } from './behaviour.ts';
import { Random } from './random.ts';
import type { FormsStore, OrderName, StoredSubmission } from './store.ts';
import { type FieldError, Problem } from './wire.ts';

/** One page of a list, with the numbers of its envelope. */
export interface ListPage {
  readonly items: readonly StoredSubmission[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;
const DAY_MS = 86_400_000;

/** The page of submissions that a query asks for, as the store is now. `requestNumber` seeds the order of ties. */
export function submissionsPage(
  query: URLSearchParams,
  store: FormsStore,
  behaviour: SandboxBehaviour,
  requestNumber: number,
): ListPage {
  const asked = readQuery(query, behaviour);
  const { formId, page, limit, order, isDescending } = asked;
  let matching = store.ordered(order, formId).filter((one) => matches(one, asked, behaviour));
  if (isDescending) matching.reverse();
  if (behaviour.ties === 'shuffled' && order === 'time')
    matching = shuffledTies(matching, new Random('ties', store.seed, requestNumber));
  const first = (page - 1) * limit;
  return { items: matching.slice(first, first + limit), total: matching.length, page, limit };
}

function matches(
  { status, createdAtMs, updatedAtMs }: StoredSubmission,
  asked: Query,
  { dateStamp, dateGrain, dateFrom, dateTo }: SandboxBehaviour,
): boolean {
  if (asked.status !== undefined && status !== asked.status) return false;
  const grainOf = (ms: number): number =>
    dateGrain === 'day' ? Math.floor(ms / DAY_MS) : Math.floor(ms);
  const at = grainOf(dateStamp === 'created' ? createdAtMs : updatedAtMs);
  if (asked.fromMs !== undefined) {
    const from = grainOf(asked.fromMs);
    if (dateFrom === 'inclusive' ? at < from : at <= from) return false;
  }
  if (asked.toMs !== undefined) {
    const to = grainOf(asked.toMs);
    if (dateTo === 'inclusive' ? at > to : at >= to) return false;
  }
  return true;
}

/** The same, each run of equal times in another order. */
function shuffledTies(sorted: readonly StoredSubmission[], random: Random): StoredSubmission[] {
  return [...Map.groupBy(sorted, ({ createdAtMs }) => createdAtMs).values()].flatMap((run) =>
    random.shuffled(run),
  );
}

/** The parameters of `GET /submissions`, as the behavior reads them. */
interface Query {
  readonly formId: string | undefined;
  readonly status: string | undefined;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  readonly page: number;
  /** Capped already. */
  readonly limit: number;
  readonly order: OrderName;
  readonly isDescending: boolean;
}

type Refuse = (field: string, message: string) => void;

/** Reads the query parameters; an empty one counts as absent. Throws a 400 that lists every wrong one. */
function readQuery(query: URLSearchParams, behaviour: SandboxBehaviour): Query {
  const { formFilter, workspaceList, workspaceStatus, maxLimit } = behaviour;
  const errors: FieldError[] = [];
  const given = (name: string): string | undefined => query.get(name) || undefined;
  const refuse: Refuse = (field, message) => void errors.push({ field, message });
  const formId = given('formId');
  if (formId === undefined && workspaceList === 'refused') refuse('formId', 'is required');
  const status = given('status');
  const isStatusRead = formId !== undefined || workspaceStatus === 'honoured';
  if (isStatusRead && status !== undefined && !STATUSES.some((one) => one === status))
    refuse('status', `must be one of ${STATUSES.join(', ')}`);
  const asked: Query = {
    formId: formFilter === 'ignored' ? undefined : formId,
    status: isStatusRead ? status : undefined,
    fromMs: readBound('dateFrom', given('dateFrom'), behaviour, refuse),
    toMs: readBound('dateTo', given('dateTo'), behaviour, refuse),
    page: readCount('page', given('page'), 1, refuse),
    limit: Math.min(readCount('limit', given('limit'), DEFAULT_LIMIT, refuse), maxLimit),
    ...readSort(given('sortBy'), given('sortOrder'), behaviour, refuse),
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
  else if (Number.isNaN(ms)) refuse(field, 'must be an ISO 8601 date');
  return ms;
}

function readSort(
  sortBy: string | undefined,
  sortOrder: string | undefined,
  { sort, baseOrder }: SandboxBehaviour,
  refuse: Refuse,
): Pick<Query, 'order' | 'isDescending'> {
  if (sort === 'ignored' || (sortBy === undefined && sortOrder === undefined)) {
    const order = baseOrder === 'insertion' ? 'insertion' : 'time';
    return { order, isDescending: baseOrder === 'newest' };
  }
  const orders = sort === 'strict' ? ['desc'] : ['desc', 'asc'];
  if (sortBy !== undefined && sortBy !== 'submittedAt') refuse('sortBy', 'must be submittedAt');
  if (sortOrder !== undefined && !orders.includes(sortOrder))
    refuse('sortOrder', `must be one of ${orders.join(', ')}`);
  return { order: 'time', isDescending: sortOrder !== 'asc' };
}
