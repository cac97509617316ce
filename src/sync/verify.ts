import { iso } from '../base/format.ts';
import { EMPTY_TALLY } from '../mirror/form-state.ts';
import { isSameUnder, OTHER_SETTINGS, storedUnder } from '../mirror/selection.ts';
import type { TargetNotice } from '../mirror/port.ts';
import { type Pause, pauseOf } from '../mirror/pauses.ts';
import type { FormIdentity, SubmissionItem } from '../mirror/types.ts';
import { PAUSES } from './records.ts';
import type { Target } from './target.ts';
import { type ComparedForm, compareForm, Comparison, type Difference } from './compare.ts';

/*
 * The comparison of the command `verify`. It compares differing submissions a second time, because a run may have stored the change
 * in between. A submission so recent that the next polls bring it is lag.
 */

/** Submissions that differ in one way: how many, and the first IDs. */
export interface Differing {
  readonly count: number;
  readonly ids: readonly string[];
}

/** How a form compares with its copy in a target. */
export interface VerifyReport {
  readonly form: FormIdentity;
  readonly target: string;
  /** `lagging`: the same, except for submissions so recent that the next runs bring them. */
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
  /** Submissions that came recently. */
  readonly lagging: Differing;
  /** Stored submissions that the source hides or leaves open. */
  readonly undecided: Differing;
  /** Rows whose deletion waits for a person. */
  readonly held: number;
  /** Submissions listed as rejected, which may therefore differ. */
  readonly listed: number;
  /** Forgotten submissions, which have no row. */
  readonly forgotten: number;
  readonly notices: readonly TargetNotice[];
  /** People have paused the form here, so no run brings what differs. */
  readonly pause: Pause | null;
  readonly requests: number;
}

const MOST_LISTED = 20;
/** If more submissions differ, they are not compared a second time: each takes a request. */
const MOST_AGAIN = 100;
/** How long a run that a poll has queued may take. */
const RUN_MS = 10_000;

const STORED_UNDER_OTHERS: TargetNotice = {
  code: 'UNSELECTED_ANSWERS',
  blocks: false,
  message: OTHER_SETTINGS,
  remedy: 'The next run brings them in line: forms-mirror sync --full',
};

/** Compares a form with its copy. `pollMs`: the longest time between two polls. Rejects as source and target do. */
export async function verifyForm(
  target: Target,
  formId: string,
  pollMs: number,
  signal: AbortSignal,
): Promise<VerifyReport> {
  const { clock, store } = target;
  const compared = await compareForm(target, formId, signal);
  const { source, form, joining, startedAtMs, comparison, stored } = compared;
  const { tally = EMPTY_TALLY, storedUnder: before = null } = stored?.state ?? {};
  const pause = pauseOf(await PAUSES.read(store), formId);
  const [lastRun] = stored?.runs ?? [];
  // Two polls bring every change, unless the form is paused or runs fail (L6).
  const recentMs =
    pause !== null || lastRun?.outcome === 'failed' ? Infinity : startedAtMs - 2 * pollMs - RUN_MS;
  const denied: string[] = [];
  const first = comparison.found;
  // A table that is all wrong needs no second look.
  const found = first.size <= MOST_AGAIN ? await lookedAtAgain(target, compared, denied) : first;
  const { lagging = [], differing = [] } = Object.groupBy(found.values(), ({ kind, createdAt }) =>
    kind === 'missing' && Date.parse(createdAt ?? '') > recentMs ? 'lagging' : 'differing',
  );
  const of = (...kinds: readonly Difference['kind'][]): Difference[] =>
    differing.filter(({ kind }) => kinds.includes(kind));
  const undecided = [...comparison.undecided, ...denied];
  const isProven = compared.isProven && undecided.length === 0;
  const same = lagging.length > 0 ? 'lagging' : 'same';
  // Rows marked deleted are not compared: only a run updates them.
  const isOther = before !== null && !isSameUnder(before, storedUnder(joining, form));
  return {
    form: { id: form.id, slug: form.slug, name: form.name },
    target: target.name,
    outcome: differing.length > 0 || isOther ? 'different' : isProven ? same : 'unproven',
    startedAt: iso(startedAtMs),
    endedAt: iso(clock.now()),
    compared: comparison.compared.size,
    missing: firstOf(of('missing', 'marked')),
    extra: firstOf(of('extra')),
    differing: { ...firstOf(of('changed')), columns: columnsOf(of('changed')) },
    lagging: firstOf(lagging),
    undecided: { count: undecided.length, ids: undecided.slice(0, MOST_LISTED) },
    held: tally.held,
    listed: tally.rejected,
    forgotten: tally.forgotten,
    notices: [...(stored?.notices ?? []), ...(isOther ? [STORED_UNDER_OTHERS] : [])],
    pause,
    requests: source.requests,
  };
}

const firstOf = (differences: readonly Difference[]): Differing => ({
  count: differences.length,
  ids: differences.slice(0, MOST_LISTED).map(({ id }) => id),
});

/**
 * The submissions that still differ from what the source returns for each ID. One that the source leaves open stays. `denied`:
 * collects those that the list showed but that are gone by ID.
 */
async function lookedAtAgain(
  { store, clock }: Target,
  { source, form, joining, comparison: { found } }: ComparedForm,
  denied: string[],
): Promise<ReadonlyMap<string, Difference>> {
  const there: SubmissionItem[] = [];
  const gone: string[] = [];
  const open = new Map<string, Difference>();
  await source.byIds(form.id, [...found.keys()], (id, answer) => {
    const before = found.get(id) as Difference;
    if (answer.kind === 'there') there.push(answer.item);
    else if (answer.kind === 'undecided') open.set(id, before);
    else if (before.kind === 'missing' || before.kind === 'marked') denied.push(id);
    else gone.push(id);
  });
  await using copy = await store.read(form.id);
  const comparison = new Comparison({ form, copy, joining, clock });
  await comparison.compare(there);
  const extra: Difference[] = [];
  for await (const rows of copy?.rows({ ids: gone }) ?? [])
    for (const { id } of rows) extra.push({ kind: 'extra', id, columns: [], createdAt: null });
  return new Map([...comparison.found, ...open, ...extra.map((each) => [each.id, each] as const)]);
}

/** How many rows differ in each column. */
function columnsOf(changed: readonly Difference[]): Record<string, number> {
  const columns: Record<string, number> = {};
  for (const name of changed.flatMap((each) => each.columns))
    columns[name] = (columns[name] ?? 0) + 1;
  return columns;
}
