import { cellText } from '../../src/mirror/cell.ts';
import type { FormReader, StoredRow } from '../../src/mirror/target.ts';
import type { PassReport } from '../../src/sync/events.ts';
import { isDated, type SoakEvent, type SoakList, type StandIn } from './stand-in.ts';

/** When a pass ran, by the source's ticks. */
export interface PassSpan {
  readonly from: number;
  readonly to: number;
}

/** What a mirror claims that just ended a pass `ok`, against the truth. A sentence for each breach. */
export async function falseClaims(
  source: StandIn,
  reader: FormReader | undefined,
  report: PassReport,
  { from, to }: PassSpan,
  excused: ReadonlySet<string>,
): Promise<string[]> {
  const ids = [...source.everSeen];
  const rows = reader === undefined ? new Map<string, StoredRow>() : await rowsOf(reader, ids);
  const listed = new Set((await reader?.rejections(1_000))?.items.map((item) => item.submissionId));
  const breaches: string[] = [];
  for (const id of ids) {
    if (excused.has(id)) continue;
    const values = source.valuesBetween(id, from, to);
    const row = rows.get(id);
    const stored = row === undefined || row.deletedAt !== null ? null : rowValue(row);
    const throughout = !values.includes(null);
    if (throughout && stored === null) {
      breaches.push(`${id} existed throughout and is ${row === undefined ? 'missing' : 'marked'}`);
    }
    if (report.kind === 'incremental') continue;
    if (throughout && stored !== null && !values.includes(stored)) {
      breaches.push(`${id} was never "${stored}" during the pass`);
    }
    const never = values.every((value) => value === null);
    if (never && stored !== null && !listed.has(id)) breaches.push(`${id} is gone and is live`);
  }
  return breaches;
}

async function rowsOf(reader: FormReader, ids: readonly string[]): Promise<Map<string, StoredRow>> {
  const rows = new Map<string, StoredRow>();
  for (let at = 0; at < ids.length; at += 200) {
    for (const [id, row] of await reader.rows(ids.slice(at, at + 200))) rows.set(id, row);
  }
  return rows;
}

function rowValue({ status, createdAt, cells }: StoredRow): string {
  return [status, createdAt ?? '', cellText(cells.get('answer') ?? null) ?? ''].join(' | ');
}

/** What is known of a pass when it is judged. */
export interface Circumstances {
  readonly source: StandIn;
  readonly span: PassSpan;
  readonly readAhead: number;
  /** An earlier pass was proven. */
  readonly history: boolean;
  /** The list was in the order of dates when the pass began. */
  readonly sorted: boolean;
  /** Rows that were live in the target when the pass began. */
  readonly live: ReadonlySet<string>;
}

/**
 * SPEC.md, "What no client can see": whether this pass is one of those, so that anything may have escaped it. All other
 * claims are judged.
 */
export function beyondSight(given: Circumstances): boolean {
  const { source, span } = given;
  const during = source.events.filter(({ tick }) => tick >= span.from && tick <= span.to);
  if (!during.some((event) => hidden(event, during, given))) return false;
  return during.some(
    (event) => cameBack(event, during) || (given.sorted && looksOld(event, given)),
  );
}

/** What an incremental pass may not have met: where counts may agree since the last full pass, what appeared with an old date. */
export function escapesCounts(events: readonly SoakEvent[], lastFull: number): Set<string> {
  const since = events.filter(({ tick }) => tick >= lastFull);
  if (!since.some(({ kind }) => kind === 'gone')) return new Set();
  const old = since.filter(({ what }) => what === 'import' || what === 'restore');
  return new Set(old.map(({ id }) => id));
}

/**
 * No `total` tells that something is gone: something else came between the same answers (or while answers were in flight
 * together) of each list that either belongs to, the lists of windows in place of the whole one where it was read by them.
 */
function hidden(
  event: SoakEvent,
  during: readonly SoakEvent[],
  { source, span, readAhead }: Circumstances,
): boolean {
  if (event.kind !== 'gone') return false;
  const apart = readAhead === 1 ? 0 : readAhead;
  const read = [...source.lists.values()].filter(({ lastTick }) => lastTick >= span.from);
  const isWhole = (list: SoakList): boolean =>
    list.dateFrom === undefined && list.dateTo === undefined;
  const inWindows = read.some(({ dateTo }) => dateTo !== undefined);
  const lists = read.filter((list) => isWhole(list) !== inWindows);
  const isTold = (came: SoakEvent, list: SoakList): boolean => {
    if (isDated(came, list) !== isDated(event, list)) return true;
    const [at, before] = [came, event].map(({ served }) => served.get(list) ?? 0);
    return isDated(event, list) && Math.abs(at! - before!) > apart;
  };
  return during
    .filter(({ kind }) => kind === 'came')
    .some((came) => !lists.some((list) => isTold(came, list)));
}

/** What is there now is in the target since it was there before, or is dated in the past while nothing else is known. */
function looksOld({ what, id }: SoakEvent, { history, live }: Circumstances): boolean {
  return what === 'import' ? !history : what === 'restore' && (live.has(id) || !history);
}

/** It was gone, and came back, within the pass; or was shown twice, and no longer is. */
function cameBack(event: SoakEvent, during: readonly SoakEvent[]): boolean {
  return during.some(
    ({ kind, id, tick }) => id === event.id && kind !== event.kind && tick < event.tick,
  );
}
