import { type CostPlace, failureOf } from './cost-place.ts';
import { WIRE_STATUSES } from './large-workspace.ts';
import type { LoggedRequest } from './large-source.ts';

/** What changes at the source, and how many are to be changed. */
export interface ChangeCosts {
  /** Requests of the next `sync`, those for the list of forms included. */
  readonly requests: number;
  /** How many of the changes are in the target after it. */
  readonly seen: number;
  /** Requests by ID among them, answered with 404. */
  readonly notFound: number;
  readonly ms: number;
}

const LIST = /^GET \/submissions(\?|$)/;

/** Lists of submissions among requests. */
export const listsIn = (log: readonly LoggedRequest[]): LoggedRequest[] =>
  log.filter(({ request }) => LIST.test(request));

/** How many lists were asked for that had been asked for before, word for word. */
export function askedAgain(
  before: readonly LoggedRequest[],
  after: readonly LoggedRequest[],
): number {
  const known = new Set(listsIn(before).map(({ request }) => request));
  return listsIn(after).filter(({ request }) => known.has(request)).length;
}

/** So many old submissions of a form get another status; then one `sync`. */
export async function costOfStatuses(
  place: CostPlace,
  formId: string,
  many: number,
): Promise<ChangeCosts> {
  const chosen = await place.oldOnes(formId, many, many);
  const next = chosen.map(({ status }) => WIRE_STATUSES[(WIRE_STATUSES.indexOf(status) + 1) % 6]!);
  for (const [nth, { id }] of chosen.entries()) await place.source.setStatus([id], next[nth]!);
  return costOfSync(
    place,
    formId,
    chosen.map(({ id }) => id),
    next,
  );
}

/** So many old submissions of a form are deleted; then one `sync`. */
export async function costOfDeletions(
  place: CostPlace,
  formId: string,
  many: number,
): Promise<ChangeCosts> {
  const chosen = await place.oldOnes(formId, many, 3 * many);
  const ids = chosen.map(({ id }) => id);
  await place.source.remove(ids);
  return costOfSync(
    place,
    formId,
    ids,
    ids.map(() => 'deleted'),
  );
}

async function costOfSync(
  place: CostPlace,
  formId: string,
  ids: readonly string[],
  wanted: readonly string[],
): Promise<ChangeCosts> {
  const asked = await place.sync();
  const held = await place.held(formId, ids);
  const byId = new Set(ids.map((id) => `GET /submissions/${id}`));
  return {
    requests: asked.log.length,
    seen: held.filter((status, nth) => status === wanted[nth]).length,
    notFound: asked.log.filter(({ request, status }) => status === 404 && byId.has(request)).length,
    ms: asked.ms,
  };
}

/** What a backfill that was killed asked before and after. */
export interface KilledCosts {
  readonly before: number;
  readonly after: number;
  /** Lists that were asked for a second time. */
  readonly again: number;
}

/** A first copy is killed with -9 when so many lists were answered; then `sync` does the rest. */
export async function costOfKill(place: CostPlace, lists: number): Promise<KilledCosts> {
  await place.source.takeLog();
  await place.source.holdAfter(lists);
  const child = place.start(['sync', '--json']);
  await place.source.untilHeld();
  await child.end('SIGKILL');
  const before = await place.source.takeLog();
  await place.source.letGo();
  const rest = await place.sync();
  if (rest.code !== 0) throw new Error(`the rest failed: ${failureOf(rest)}`);
  const differences = await place.differences();
  if (differences > 0) throw new Error(`${differences} rows differ from the source`);
  return { before: before.length, after: rest.log.length, again: askedAgain(before, rest.log) };
}

/** What requests ask for, and how many of each sort there are, in words. */
export function sortsOf(log: readonly LoggedRequest[]): string {
  const sorts = Map.groupBy(log, ({ request }) => sortOf(request));
  return [...sorts]
    .map(([sort, requests]) => `${requests.length} × ${sort}`)
    .toSorted()
    .join(', ');
}

function sortOf(request: string): string {
  const [, method = '', path = '', query = ''] = /^(\w+) ([^?]*)\??(.*)$/.exec(request) ?? [];
  if (path.startsWith('/submissions/')) return `${method} one submission`;
  if (path !== '/submissions') return path === '/forms' ? 'list of forms' : 'one form';
  const asked = new URLSearchParams(query);
  const what = asked.get('limit') === '1' ? 'count' : 'page';
  const where = asked.has('formId') ? 'of a form' : 'of the workspace';
  const dates = asked.has('dateFrom') || asked.has('dateTo') ? ' within dates' : '';
  return `${what} ${where}${asked.has('status') ? ' by status' : ''}${dates}`;
}
