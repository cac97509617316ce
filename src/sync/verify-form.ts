import { isDeepStrictEqual } from 'node:util';
import type { SubmissionItem } from '../forms/client.ts';
import type { Joining } from '../mirror/selection.ts';
import type { Row, Run, StoredRow, TargetNotice } from '../mirror/port.ts';
import { type Pause, pauseOf } from '../mirror/pauses.ts';
import { compareRow } from '../mirror/row.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';
import { type Mirroring, sourceOf } from './mirroring.ts';
import { ProfileRecord } from './profile.ts';
import { AGREEMENT, PAUSES } from './records.ts';
import type { Source } from './source.ts';
import { Comparison, type Difference, differingNames, extra } from './verify.ts';

/*
 * The comparison of the command `verify`. It compares differing submissions again, because a run may bring the
 * change. The API does not say when a submission changed. If one has not changed at the source for longer than the
 * next runs need, and still differs, it counts as a difference; a younger change is lag.
 */

/** Submissions that differ in one way: how many, and the IDs of the first of them. */
export interface Differing {
  readonly count: number;
  readonly ids: readonly string[];
}

/** How a form compares with its copy in a target. */
export interface VerifyReport {
  readonly form: FormIdentity;
  readonly target: string;
  /** `lagging`: the same except for changes so young that the next runs explain them. */
  readonly outcome: 'same' | 'lagging' | 'different' | 'unproven';
  readonly startedAt: string;
  readonly endedAt: string;
  /** Submissions of the source that were compared. */
  readonly compared: number;
  readonly missing: Differing;
  /** Rows of submissions that are gone at the source. */
  readonly extra: Differing;
  readonly differing: Differing & {
    /** How often each column differs: system columns by name, fields by label. */
    readonly columns: Readonly<Record<string, number>>;
  };
  /** Submissions that changed or came within the last `withinMs`. */
  readonly lagging: Differing & { readonly withinMs: number };
  /** Stored, and hidden or left open by the source. */
  readonly undecided: Differing;
  /** Submissions that are listed as rejected, and so may differ. */
  readonly listed: number;
  /** Submissions that were forgotten, and so have no row. */
  readonly forgotten: number;
  readonly notices: readonly TargetNotice[];
  /** People have paused the form here, so that no run brings what differs. */
  readonly pause: Pause | null;
  /** When the newest run ended, or a poll last found nothing to do; null before the first. */
  readonly lastRunAt: string | null;
  readonly requests: number;
}

/** How a comparison is asked for. `waitMs`: how long what differs is looked at again; left out: as long as the schedule explains. */
export interface VerifyWishes {
  readonly waitMs?: number | undefined;
  /** Called with how many differ, and until when they are looked at again. */
  readonly onWait?: (differing: number, untilMs: number) => void;
}

/** A comparison that has read all of the source. */
export interface StartedVerification {
  /**
   * Compares differing submissions again: with the target from time to time, with the source once at the end. Call
   * it once.
   */
  finish(wishes: VerifyWishes): Promise<VerifyReport>;
}

/** A table that is all wrong needs no second look, and is not kept in memory. */
const MOST_LOOKED_AT = 1_000;
const LOOK_EVERY_MS = 3_000;
const LISTED = 20;
/** A scheduled job has its own delays. */
const SHORTEST_MS = 10_000;
/** The longest wait that a person did not ask for. */
const LONGEST_WAIT_MS = 5 * 60_000;
/** A run over a long form may take minutes, and only its end is recorded. */
const SURELY_IDLE_MS = 10 * 60_000;

/** A submission that differs. */
interface Suspect extends Pick<Difference, 'columns' | 'fieldIds'> {
  /** `denied`: the list showed it, and asked for by ID the source says that it is gone. */
  readonly kind: Difference['kind'] | 'denied';
  /** As the source showed it; null for `extra`, and beyond those that are looked at again. */
  readonly row: Row | null;
  /** The source showed another version at the end than at the beginning. */
  readonly hasChanged: boolean;
}
type Suspects = ReadonlyMap<string, Suspect>;

const suspectOf = ({ kind, row, columns, fieldIds }: Difference): Suspect => {
  return { kind, row, columns, fieldIds, hasChanged: false };
};

/**
 * Compares a form with its copy. `pollMs`: the longest time between two polls; null: no run is to be expected, and every difference
 * counts. Rejects as source and target do.
 */
export async function startVerification(
  mirroring: Mirroring,
  formId: string,
  joining: Joining,
  pollMs: number | null,
  signal: AbortSignal,
): Promise<StartedVerification> {
  const { client, clock, store, target, sourceName } = mirroring;
  const source = sourceOf(mirroring, signal);
  const startedAtMs = clock.now();
  const form = await client.getForm(formId, { signal });
  const profile = await ProfileRecord.load(store, sourceName, startedAtMs);
  await using held = await store.open({ id: formId }, 'read');
  let many = 0;
  const comparison = new Comparison({ form, held, joining, clock }, (difference): Suspect => {
    const suspect = suspectOf(difference);
    return ++many <= MOST_LOOKED_AT ? suspect : { ...suspect, row: null };
  });
  const isAllShown = await comparison.readAll(source, profile.now);
  const { fields = [], state = null } = held ?? {};
  const runs = (await held?.runs(2)) ?? [];
  const pause = pauseOf(await PAUSES.read(store), formId);
  const polledAtMs = (await AGREEMENT.read(store))?.atMs ?? 0;
  const lastRunAtMs = Math.max(polledAtMs, runs[0]?.endedAtMs ?? 0);
  return {
    async finish({ waitMs, onWait = () => {} }) {
      const { explainedMs, worthMs } =
        pollMs === null || pause !== null
          ? NO_PATIENCE
          : patienceOf(pollMs, runs, polledAtMs, clock.now());
      const place = { source, form, store, joining, clock };
      let suspects: Suspects = comparison.found;
      if (suspects.size <= MOST_LOOKED_AT) {
        const untilMs = clock.now() + (waitMs ?? worthMs);
        while (suspects.size > 0 && clock.now() < untilMs) {
          onWait(suspects.size, untilMs);
          await clock.sleep(Math.min(LOOK_EVERY_MS, untilMs - clock.now()), signal);
          suspects = await unlikeStored(place, suspects);
        }
        suspects = await unlikeSource(place, suspects);
      }
      const isYoung = ({ kind, row, hasChanged }: Suspect): boolean =>
        explainedMs > 0 &&
        (hasChanged ||
          (kind === 'missing' && Date.parse(row?.createdAt ?? '') > startedAtMs - explainedMs));
      const groups = Map.groupBy(suspects, ([, one]) => (isYoung(one) ? 'young' : one.kind));
      const idsOf = (group: Suspect['kind'] | 'young'): string[] =>
        (groups.get(group) ?? []).map(([id]) => id);
      const undecided = [...comparison.undecided, ...idsOf('denied')];
      const [missing, gone, changed] = [idsOf('missing'), idsOf('extra'), idsOf('changed')];
      const isDifferent = missing.length + gone.length + changed.length > 0;
      const isProven = isAllShown && undecided.length === 0;
      const lagging = firstOf(idsOf('young'));
      const same = lagging.count > 0 ? 'lagging' : 'same';
      const stored = (await store.forms()).find((one) => one.state.formId === formId);
      return {
        form: { id: form.id, slug: form.slug, name: form.name },
        target,
        outcome: isDifferent ? 'different' : isProven ? same : 'unproven',
        startedAt: iso(startedAtMs),
        endedAt: iso(clock.now()),
        compared: comparison.compared.size,
        missing: firstOf(missing),
        extra: firstOf(gone),
        differing: {
          ...firstOf(changed),
          columns: columnsOf(groups.get('changed') ?? [], [...fields, ...form.fields]),
        },
        lagging: { ...lagging, withinMs: explainedMs },
        undecided: firstOf(undecided),
        listed: state?.tally.rejected ?? 0,
        forgotten: state?.tally.forgotten ?? 0,
        notices: stored?.notices ?? [],
        pause,
        lastRunAt: lastRunAtMs === 0 ? null : iso(lastRunAtMs),
        requests: source.requests,
      };
    },
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

const firstOf = (ids: readonly string[]): Differing => ({
  count: ids.length,
  ids: ids.slice(0, LISTED),
});

/** How patient a comparison is. */
interface Patience {
  /** A change younger than this is lag: the next run that finds it has not ended yet. 0: no run is to be expected. */
  readonly explainedMs: number;
  /** How long what differs is worth a second look. */
  readonly worthMs: number;
}

const NO_PATIENCE: Patience = { explainedMs: 0, worthMs: 0 };

/**
 * How patient to be, by the schedule, the form's last two runs (the newest first) and the newest poll. Where no run has ended for much longer
 * than the schedule explains, no process syncs, and nothing is lag. It is worth waiting only where a poll came some time after the last
 * run, or two runs came in time: a single run may have been a person's. A row that the target refuses is not lag, at
 * any age: no run is known to bring it (L6).
 */
function patienceOf(
  pollMs: number,
  runs: readonly Run[],
  polledAtMs: number,
  nowMs: number,
): Patience {
  const [newest, before] = runs;
  if (newest?.outcome === 'failed' && newest.code?.startsWith('TARGET_') === true)
    return NO_PATIENCE;
  const longestRunMs = Math.max(
    0,
    ...runs.map(({ startedAtMs, endedAtMs }) => endedAtMs - startedAtMs),
  );
  const explainedMs = Math.max(SHORTEST_MS, 2 * (pollMs + longestRunMs));
  const agoMs = (atMs: number | undefined): number => nowMs - (atMs ?? -Infinity);
  const isPolled =
    agoMs(polledAtMs) <= explainedMs && polledAtMs > (newest?.endedAtMs ?? 0) + SHORTEST_MS;
  const lastMs = agoMs(newest?.endedAtMs);
  const isAtWork =
    isPolled || (lastMs <= explainedMs && agoMs(before?.endedAtMs) <= 2 * explainedMs);
  if (!isAtWork && lastMs > Math.max(2 * explainedMs, SURELY_IDLE_MS)) return NO_PATIENCE;
  return { explainedMs, worthMs: isAtWork ? Math.min(explainedMs, LONGEST_WAIT_MS) : 0 };
}

/** Reads the differing rows again. The form is opened each time, because runs continue. */
interface Place extends Pick<Mirroring, 'store' | 'clock'> {
  readonly source: Source;
  readonly form: Form;
  readonly joining: Joining;
}

/** Those that the target does not hold yet as the source showed them. */
async function unlikeStored({ form, store }: Place, suspects: Suspects): Promise<Suspects> {
  await using held = await store.open({ id: form.id }, 'read');
  const live = new Map<string, StoredRow>();
  for await (const rows of held?.rows({ ids: [...suspects.keys()] }, true) ?? [])
    for (const row of rows) live.set(row.id, row);
  return new Map(
    [...suspects].filter(([id, { row }]) => {
      const stored = live.get(id);
      if (row === null || stored === undefined) return (row === null) === (stored !== undefined);
      const { columns, fieldIds } = compareRow(row, stored, row.cells.keys());
      return columns.length + fieldIds.length > 0;
    }),
  );
}

/** Those that still differ from what the source says of each. One that the source leaves open stays. */
async function unlikeSource(place: Place, suspects: Suspects): Promise<Suspects> {
  const there: SubmissionItem[] = [];
  const gone: string[] = [];
  const open = new Set<string>();
  await place.source.byIds([...suspects.keys()], (id, answer) => {
    if (answer.kind === 'there') there.push(answer.item);
    else if (answer.kind === 'gone') gone.push(id);
    else open.add(id);
  });
  await using held = await place.store.open({ id: place.form.id }, 'read');
  const comparison = new Comparison({ ...place, held }, suspectOf);
  await comparison.compare(there);
  const now = comparison.found;
  for await (const rows of held?.rows({ ids: gone }) ?? [])
    for (const { id } of rows) now.set(id, suspectOf(extra(id)));
  return new Map(
    [...suspects].flatMap(([id, before]): [string, Suspect][] => {
      const found = now.get(id);
      if (open.has(id)) return [[id, before]];
      if (found !== undefined)
        return [[id, { ...found, hasChanged: !isDeepStrictEqual(found.row, before.row) }]];
      const isDenied = before.kind === 'missing' && gone.includes(id);
      return isDenied ? [[id, { ...before, kind: 'denied' }]] : [];
    }),
  );
}

/** In how many of the rows each column differs. */
function columnsOf(
  changed: readonly (readonly [string, Suspect])[],
  fields: readonly { readonly id: string; readonly label: string }[],
): Record<string, number> {
  const columns: Record<string, number> = {};
  for (const [, difference] of changed)
    for (const name of differingNames(difference, fields)) columns[name] = (columns[name] ?? 0) + 1;
  return columns;
}
