import { isDeepStrictEqual } from 'node:util';
import { withinTime } from '../base/clock.ts';
import { isAbort, MirrorError, toMirrorError } from '../base/errors.ts';
import { labelMap } from '../mirror/fields.ts';
import {
  accounted,
  accountedInAll,
  type Agreement,
  claimOf,
  identityOf,
  type FormState,
  isDue,
  isOld,
} from '../mirror/form-state.ts';
import { pauseOf } from '../mirror/pauses.ts';
import { isSameUnder, storedUnder } from '../mirror/selection.ts';
import type { Store, StoredForm } from '../mirror/port.ts';
import type { Form } from '../mirror/types.ts';
import { areAllAsked, areIgnored, askCounts } from './counts.ts';
import {
  askEach,
  WorkspaceDifference,
  explainNewest,
  newIn,
  readRest,
  searchWorkspace,
  topOf,
  Workspace,
} from './poll-search.ts';
import type { MirrorPlan } from './planner.ts';
import { loadProfile } from './profile.ts';
import { AGREEMENTS, PAUSES, REST } from './records.ts';
import { blankRun, type RunReport } from './run-form.ts';
import { type Source } from '../forms/source.ts';
import type { Mirror, Target } from './target.ts';
import type { Polled } from './work.ts';
import { mayWait, type WriteBackRule } from './write-back.ts';

/** A form in a target that needs a run. */
export interface SyncJob {
  readonly formId: string;
  readonly target: string;
  readonly polled?: Polled;
  /** Reads ranges that are due by their age. That may take long, so newcomers go first. */
  readonly isComparison: boolean;
}

/** What a poll found. */
export interface PollReport {
  readonly syncs: readonly SyncJob[];
  /** Forms that need no run, each reported as a run that found nothing new and made no request. */
  readonly unchanged: readonly RunReport[];
  /** IDs of forms with submissions that wait for write-back, or may soon. */
  readonly writeBacks: readonly string[];
  readonly requests: number;
  readonly ms: number;
}

/** How long a target may take to count its forms while others wait for it (L12). */
const COUNTING_MS = 20_000;

/**
 * The scheduled check of the whole workspace: its counts by status, then its newest submissions, compared with each target's
 * numbers. It queues nothing: the caller does, or runs the jobs itself. `open`: opens a target. If a target fails or takes long while others wait, or the source does not allow a judgment, each of
 * its forms gets a run, which reports why. Rejects with CANCELLED, and with FORMS_UNAUTHORIZED.
 */
export async function poll(
  { connect, clock, logger }: Mirror,
  { places, listed }: Pick<MirrorPlan, 'places' | 'listed'>,
  open: (name: string) => Promise<Target>,
  rule: WriteBackRule | null,
  signal: AbortSignal,
): Promise<PollReport> {
  const source = connect(signal);
  const startedMs = clock.now();
  const syncs: SyncJob[] = [];
  const unchanged: RunReport[] = [];
  const writeBacks = new Set<string>();
  const asking: { workspace?: Promise<Workspace> } = {};
  const ask = (): Promise<Workspace> => (asking.workspace ??= Workspace.ask(source, clock));
  const chosenIn = (name: string): Set<string> =>
    new Set(places.flatMap(({ form, target }) => (target === name ? form.id : [])));
  const attempt = async <T>(name: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (isAbort(error) || toMirrorError(error).code === 'FORMS_UNAUTHORIZED') throw error;
      const what = 'The poll failed; each form of the target is visited.';
      logger.debug({ target: name, err: error }, what);
      for (const formId of chosenIn(name))
        syncs.push({ formId, target: name, isComparison: false });
      return undefined;
    }
  };
  const names = [...new Set(places.map(({ target }) => target))];
  const countIn = async (name: string): Promise<{ target: Target; groups: Groups }> => {
    const target = await open(name);
    return { target, groups: await groupsOf(target, chosenIn(name), listed, startedMs) };
  };
  // All targets are counted before the workspace, so that rows that a run stores afterwards cannot hide what another target lacks.
  const counted = await Promise.all(
    names.map((name) =>
      attempt(name, async () => {
        const counting = countIn(name);
        if (names.length === 1) return counting;
        const answer = await withinTime(counting, COUNTING_MS, clock);
        if (answer === undefined)
          throw new MirrorError('TARGET_UNREACHABLE', 'The target takes too long to count.');
        return answer;
      }),
    ),
  );
  for (const { target, groups } of counted.filter((each) => each !== undefined))
    await attempt(target.name, async () => {
      const { settled, needing, old, paused } = groups;
      const found = settled.length > 0 ? await findChanged(target, source, groups, ask) : null;
      const agreed = found?.agreed ?? null;
      const known = new Set(settled.map(({ state }) => state.formId));
      const jobs = new Set([...needing, ...(found?.jobs ?? [])]);
      for (const formId of jobs) {
        const polled = known.has(formId) && found?.polled && { polled: found.polled };
        syncs.push({ formId, target: target.name, ...polled, isComparison: false });
      }
      for (const formId of old) syncs.push({ formId, target: target.name, isComparison: true });
      for (const stored of settled) {
        const { formId } = stored.state;
        if (rule !== null && mayWait(stored.state, rule)) writeBacks.add(formId);
        if (agreed !== null && !jobs.has(formId) && !paused.has(formId))
          unchanged.push(unchangedRun(target.name, stored, agreed, clock.now()));
      }
    });
  // Submissions that a run is about to store may wait for write-back as well.
  if (rule !== null) for (const { formId } of syncs) writeBacks.add(formId);
  const ms = clock.now() - startedMs;
  return { syncs, unchanged, writeBacks: [...writeBacks], requests: source.requests, ms };
}

/** A form in which a poll found no change. */
function unchangedRun(
  target: string,
  { state, notices }: StoredForm,
  agreement: Agreement,
  endedAtMs: number,
): RunReport {
  const { tally } = state;
  return {
    ...blankRun(identityOf(state), target, null, agreement.atMs, endedAtMs),
    accounted: accountedInAll(tally),
    claim: claimOf(state, agreement),
    held: tally.held,
    notices,
  };
}

/** The forms of the workspace as one target knows them. */
interface Groups {
  /** Settled forms: their last run succeeded, so their numbers are known, and the poll covers them. */
  readonly settled: readonly StoredForm[];
  /** IDs of forms that need a run even if all counts agree. */
  readonly needing: readonly string[];
  /** IDs of listed forms that the poll does not cover. */
  readonly rest: readonly string[];
  /** IDs of forms that people have paused. */
  readonly paused: ReadonlySet<string>;
  /** IDs of forms with ranges that are due by their age. */
  readonly old: readonly string[];
}

async function groupsOf(
  { store, joining, compareEveryMs }: Target,
  chosen: ReadonlySet<string>,
  forms: readonly Form[],
  nowMs: number,
): Promise<Groups> {
  const stored = await store.forms();
  const pauses = await PAUSES.read(store);
  const isPaused = (id: string): boolean => pauseOf(pauses, id) !== null;
  const byId = new Map(stored.map((each) => [each.state.formId, each]));
  const listed = new Set(forms.map(({ id }) => id));
  const settled: StoredForm[] = [];
  const needing: string[] = [];
  const old: string[] = [];
  for (const form of forms) {
    const copy = byId.get(form.id);
    if (!chosen.has(form.id)) continue;
    const isCovered =
      copy !== undefined &&
      // If no fields are selected, its runs report that.
      joining !== undefined &&
      isSameUnder(copy.state.storedUnder, storedUnder(joining, form)) &&
      isSettled(copy.state);
    if (isCovered) settled.push(copy);
    if (isPaused(form.id)) continue;
    if (!isCovered || needsRun(form, copy)) needing.push(form.id);
    if (
      copy?.state.ranges.some((range) => isOld(copy.state, range, compareEveryMs, nowMs)) === true
    )
      old.push(form.id);
  }
  // A run finds out whether a form that is no longer listed is gone.
  needing.push(...[...chosen].filter((id) => !listed.has(id) && !isPaused(id)));
  const known = new Set(settled.map(({ state }) => state.formId));
  const rest = [...listed].filter((id) => !known.has(id));
  return { settled, needing, rest, paused: new Set([...listed].filter(isPaused)), old };
}

const isSettled = ({ outcome, ranges, goneAtMs, submissionsAsOfMs }: FormState): boolean =>
  outcome === 'ok' && ranges.length > 0 && goneAtMs === null && submissionsAsOfMs !== null;

function needsRun(form: Form, { state, fields }: StoredForm): boolean {
  return (
    isDue(state) ||
    state.slug !== form.slug ||
    state.name !== form.name ||
    areRelabelled(form, fields)
  );
}

/** Whether the form's fields or labels differ from the target's. A list may omit the fields. */
function areRelabelled(form: Form, fields: StoredForm['fields']): boolean {
  if (form.fields.length === 0) return false;
  const labels = labelMap(form);
  return fields.some(({ id, label, isInForm }) => {
    const now = labels.get(id);
    return now === undefined ? isInForm : now.label !== label || !isInForm;
  });
}

/** What a poll found about a target's settled forms. */
interface Found {
  /** The forms that need a run. */
  readonly jobs: ReadonlySet<string>;
  /** When the workspace had what the target accounts for, without those forms; null if that is not known. */
  readonly agreed: Agreement | null;
  /** What the counts say about those forms; null for nothing. */
  readonly polled: Polled | null;
}

/** Finds the settled forms of a target that need a run. */
async function findChanged(
  target: Target,
  source: Source,
  groups: Groups,
  ask: () => Promise<Workspace>,
): Promise<Found> {
  const { store } = target;
  const { settled, rest } = groups;
  const open = (jobs: ReadonlySet<string>): Found => ({ jobs, agreed: null, polled: null });
  const all = new Set(settled.map(({ state }) => state.formId));
  const workspace = await ask();
  const { first } = workspace;
  const profile = await loadProfile(target);
  if (first.total > 0)
    profile.learn({ hasWorkspaceStatuses: !areIgnored(workspace.statuses, first.total) });
  await profile.save();
  // A workspace that has shown nothing yet may be one that cannot be asked without a form, so each form is asked; also if only forms
  // can be counted by status. If lists are not sorted, the first page does not show the newest submissions, and a newcomer beside a
  // deletion moves no count. Items that do not name their form explain nothing.
  const { hasStatuses, hasWorkspaceStatuses, isSorted } = profile.now;
  const isCounted =
    hasWorkspaceStatuses === true || (hasWorkspaceStatuses === false && hasStatuses === false);
  const isNamed = first.items.every(({ submission }) => submission?.formId !== '');
  if (!isCounted || !isSorted || !isNamed) return open(all);

  const statuses = hasWorkspaceStatuses ? workspace.statuses : null;
  const isOnStatuses = statuses !== null && settled.every(({ state }) => areAllAsked(state.tally));
  const known = await readRest(store, rest);
  const difference = new WorkspaceDifference(first.total, statuses);
  for (const { state } of settled) difference.takeOff(accounted(state.tally));
  // Even if the counts agree: a newcomer and a deletion together leave them unchanged.
  const found = new Set<string>();
  const others: string[] = [];
  let shown = 0;
  for (let nth = 0; ; nth++) {
    const page = await workspace.page(nth);
    for (const id of await explainNewest(store, settled, page, difference)) found.add(id);
    if (known !== null) others.push(...newIn(page, known));
    shown += page.items.length;
    // Deletions may make up for newcomers that only a further page shows.
    if (page.isLast || difference.newcomers + others.length < shown) break;
    // With this many pages, asking each form takes fewer requests.
    if (nth + 1 < settled.length) continue;
    difference.isUnsure = true;
    break;
  }
  if (!workspace.isGapless) difference.isUnsure = true;
  const beyond = {
    formIds: rest,
    topMs: topOf(await workspace.newest(), rest),
    counts: difference.counts,
  };
  if (known !== null) {
    difference.takeOff(Object.entries(known.counts));
    difference.takeOff(others.map((status) => [status, 1]));
    if (difference.isNone) {
      if (others.length > 0) await REST.change(store, () => beyond);
      return {
        jobs: found,
        agreed: await agree(groups, found, store, workspace.askedAtMs, isOnStatuses),
        polled: { atMs: workspace.askedAtMs, statuses: null },
      };
    }
  }
  if (rest.length === 0) {
    if (settled.length === 1)
      return {
        ...open(all),
        polled: statuses && { atMs: workspace.askedAtMs, statuses },
      };
    const named = await searchWorkspace(source, store, settled, profile.now, difference, statuses);
    for (const id of named ?? []) found.add(id);
    if (named !== null && named.size > 0) return open(found);
  }
  // If nothing is known of the rest, one of its submissions may hide a deletion, which only the form's own total shows.
  const { statuses: some } = difference;
  const asked = known === null || some.length === 0 ? [null, ...some] : some;
  const differing = await askEach(source, settled, asked);
  for (const id of differing) found.add(id);
  if (found.size > 0) return open(found);
  // No form explains the difference. If the workspace still shows it, it belongs to none of them.
  const again = await askCounts(source, {});
  const total = await source.count({});
  const isStill =
    workspace.isGapless && total === first.total && isDeepStrictEqual(again, workspace.statuses);
  if (isStill) await REST.change(store, () => beyond);
  return open(found);
}

/** How old an agreement may get in a target that is written only now and then. */
const AGREEMENT_LASTS_MS = 10 * 60_000;

/** Whether the last agreement says nearly as much. */
const isYoungAs = (
  { atMs, statusesAtMs, formIds }: Agreement,
  last: Agreement | undefined,
): boolean =>
  last !== undefined &&
  (last.statusesAtMs === null) === (statusesAtMs === null) &&
  atMs - last.atMs < AGREEMENT_LASTS_MS &&
  JSON.stringify(last.formIds) === JSON.stringify(formIds);

/** Records that the workspace has what the target accounts for, for the forms that need no run. */
async function agree(
  { settled, needing }: Groups,
  jobs: ReadonlySet<string>,
  store: Store,
  atMs: number,
  onStatuses: boolean,
): Promise<Agreement> {
  const formIds = settled.map(({ state }) => state.formId).filter((id) => !jobs.has(id));
  const agreement = { atMs, statusesAtMs: onStatuses ? atMs : null, formIds };
  // Until a run of theirs succeeds, nothing newer is known of the others.
  const others = new Set([...jobs, ...needing]);
  await AGREEMENTS.change(store, (before) => {
    if (store.isMetered === true && isYoungAs(agreement, before[0])) return before;
    const earlier = before.map((each) => {
      return { ...each, formIds: each.formIds.filter((id) => others.has(id)) };
    });
    return [agreement, ...earlier.filter((each) => each.formIds.length > 0)];
  });
  return agreement;
}
