import { isSameUnder, type StoredUnder } from '../mirror/picks.ts';
import type { Clock } from '../base/clock.ts';
import { labelMap } from '../mirror/fields.ts';
import { type Pause, pauseOf } from '../mirror/pauses.ts';
import type { Form } from '../mirror/types.ts';
import { accounted, type FormState, isDue, OUTCOMES, isOld } from '../mirror/form-state.ts';
import type { Store, StoredForm } from '../mirror/port.ts';
import { areIgnored, askCounts, type Counts } from './counts.ts';
import { readPauses } from './pauses.ts';
import { ProfileRecord } from './profile.ts';
import { Difference, explainNewest, type Workspace } from './poll-difference.ts';
import {
  type Agreement,
  readAgreement,
  readRest,
  writeAgreement,
  writeRest,
} from './poll-records.ts';
import { askEach, askRest, searchWorkspace, topOf } from './poll-search.ts';
import type { Source } from './source.ts';
import { mayWait, type WriteBackRule } from './write-back.ts';

/** A target as a poll sees it. */
export interface PolledTarget {
  readonly name: string;
  readonly store: Store;
  readonly sourceName: string;
  /** Whether the settings choose the form for this target. */
  readonly isChosen: (form: Pick<Form, 'id' | 'slug'>) => boolean;
  /** What the settings say of a form now; null where that is not known. */
  readonly storedUnder: (form: Pick<Form, 'id' | 'slug'>) => StoredUnder | null;
  /** How often each range is compared; null: none because of its age. */
  readonly compareEveryMs: number | null;
  readonly nowMs: number;
}

/** A form in a target that needs no run. */
export interface SettledForm {
  readonly target: string;
  readonly stored: StoredForm;
  /** When the source was asked (milliseconds). */
  readonly atMs: number;
  /** Statuses were counted. */
  readonly onStatuses: boolean;
}

/** A form in a target that needs a run. */
export interface SyncJob {
  readonly formId: string;
  readonly target: string;
  /** The form's own counts, where the poll has them. */
  readonly counts: Counts | null;
  /** Only a range that is due by its age needs it: newcomers go first. */
  readonly isComparison: boolean;
}

export interface PollResult {
  readonly syncs: readonly SyncJob[];
  /** Forms that the target accounts for as the source has them. */
  readonly settled: readonly SettledForm[];
  /** Forms that have, or get, submissions to write back. */
  readonly writeBacks: readonly string[];
}

/**
 * The scheduled check of the whole workspace: its six counts by status, then its newest page, held against what each target
 * accounts for. `forms`: as the source lists them. Rejects as the client does; a target that fails is `failed`.
 */
export async function poll(
  source: Source,
  targets: readonly PolledTarget[],
  forms: readonly Form[],
  rule: WriteBackRule | null,
  clock: Clock,
  onFailure: (target: string, error: unknown) => void,
): Promise<PollResult> {
  const syncs: SyncJob[] = [];
  const settled: SettledForm[] = [];
  const writeBacks = new Set<string>();
  const asking: { workspace?: Promise<Workspace> } = {};
  const ask = (): Promise<Workspace> => (asking.workspace ??= askWorkspace(source, clock));
  for (const target of targets) {
    try {
      const polled = new PolledForms(
        target,
        forms,
        await target.store.forms(),
        await readPauses(target.store),
      );
      const jobs = new Map<string, Counts | null>(polled.unsettled.map((id) => [id, null]));
      if (polled.spokenFor.length > 0) {
        const judged = await judge(source, target, polled, ask);
        for (const [id, counts] of judged.jobs) jobs.set(id, counts);
        if (judged.agreed !== null) {
          const { atMs, onStatuses } = judged.agreed;
          for (const stored of polled.spokenFor)
            if (!jobs.has(stored.state.formId) && !polled.paused.has(stored.state.formId))
              settled.push({ target: target.name, stored, atMs, onStatuses });
        }
      }
      for (const [formId, counts] of jobs)
        syncs.push({ formId, target: target.name, counts, isComparison: false });
      for (const formId of polled.old)
        syncs.push({ formId, target: target.name, counts: null, isComparison: true });
      for (const { state } of polled.spokenFor)
        if (rule !== null && mayWait(state, rule)) writeBacks.add(state.formId);
    } catch (error) {
      onFailure(target.name, error);
    }
  }
  // What a run is about to store may wait for write-back as well.
  if (rule !== null) for (const { formId } of syncs) writeBacks.add(formId);
  return { syncs, settled, writeBacks: [...writeBacks] };
}

/** Counts first: a submission that arrives in between can only add to the stored ones. */
async function askWorkspace(source: Source, clock: Clock): Promise<Workspace> {
  const counts = await askCounts(source, {}, clock.now());
  return { counts, newest: await source.page({}) };
}

/** The forms of the workspace as one target knows them. */
export class PolledForms {
  /** Settled: their numbers are known, and the poll speaks for them. */
  readonly spokenFor: readonly StoredForm[];
  /** IDs of forms that need a run even if all counts agree. */
  readonly unsettled: readonly string[];
  /** IDs of listed forms that the poll does not speak for. */
  readonly rest: readonly string[];
  /** IDs of forms that people have paused. */
  readonly paused: ReadonlySet<string>;
  /** IDs of forms with ranges that are due by their age. */
  readonly old: readonly string[];

  constructor(
    target: PolledTarget,
    forms: readonly Form[],
    stored: readonly StoredForm[],
    pauses: readonly Pause[],
  ) {
    const paused = new Set<string>();
    const byId = new Map(stored.map((each) => [each.state.formId, each]));
    const listed = new Map(forms.map((form) => [form.id, form]));
    const spokenFor: StoredForm[] = [];
    const unsettled: string[] = [];
    const old: string[] = [];
    for (const form of forms) {
      const held = byId.get(form.id);
      const isPaused = pauseOf(pauses, form.id) !== null;
      if (isPaused) paused.add(form.id);
      if (!target.isChosen(form)) continue;
      const isAsNow =
        held !== undefined && isSameUnder(held.state.storedUnder, target.storedUnder(form));
      const isSettled = held !== undefined && isAsNow && isSpokenFor(held.state);
      if (isSettled) spokenFor.push(held);
      if (isPaused) continue;
      if (!isSettled || needsRun(form, held)) unsettled.push(form.id);
      if (held !== undefined && hasOldRange(target, held.state)) old.push(form.id);
    }
    for (const { state } of stored) {
      const { formId, slug, goneAtMs } = state;
      const isMissing = !listed.has(formId) && goneAtMs === null;
      // A run finds out whether it is gone.
      if (isMissing && target.isChosen({ id: formId, slug }) && pauseOf(pauses, formId) === null)
        unsettled.push(formId);
    }
    const known = new Set(spokenFor.map(({ state }) => state.formId));
    [this.spokenFor, this.unsettled, this.paused] = [spokenFor, unsettled, paused];
    this.old = old;
    this.rest = forms.flatMap(({ id }) => (known.has(id) ? [] : [id]));
  }
}

const isSpokenFor = ({ outcome, ranges, goneAtMs, submissionsAsOfMs }: FormState): boolean =>
  outcome !== null &&
  OUTCOMES[outcome].isSuccess &&
  ranges.length > 0 &&
  goneAtMs === null &&
  submissionsAsOfMs !== null;

const hasOldRange = ({ compareEveryMs, nowMs }: PolledTarget, state: FormState): boolean =>
  compareEveryMs !== null &&
  state.ranges.some((range) => isOld(state, range, compareEveryMs, nowMs));

function needsRun(form: Form, { state, fields }: StoredForm): boolean {
  return (
    isDue(state) ||
    state.slug !== form.slug ||
    state.name !== form.name ||
    areRelabelled(form, fields)
  );
}

/** Whether the form shows other fields or labels than the target knows; a list may leave the fields out. */
function areRelabelled(form: Form, fields: StoredForm['fields']): boolean {
  if (form.fields.length === 0) return false;
  const labels = labelMap(form);
  return fields.some(({ id, label, isInForm }) => {
    const now = labels.get(id);
    return now === undefined ? isInForm : now.label !== label || !isInForm;
  });
}

/** What a poll found of the settled forms of a target. */
interface Judged {
  /** Those that need a run. */
  readonly jobs: ReadonlyMap<string, Counts | null>;
  /** As of when the workspace has what the target accounts for of the others; null: that is not known. */
  readonly agreed: Agreement | null;
}

/** Which of the settled forms of a target need a run. */
async function judge(
  source: Source,
  target: PolledTarget,
  polled: PolledForms,
  ask: () => Promise<Workspace>,
): Promise<Judged> {
  const { store } = target;
  const { spokenFor, rest } = polled;
  const open = (jobs: ReadonlyMap<string, Counts | null>): Judged => ({ jobs, agreed: null });
  const all = new Map<string, Counts | null>(spokenFor.map(({ state }) => [state.formId, null]));
  const workspace = await ask();
  const { counts, newest } = workspace;
  const profile = await ProfileRecord.load(store, target.sourceName, counts.askedAtMs);
  if (newest.total > 0) {
    profile.learn({
      hasWorkspace: true,
      hasWorkspaceStatuses: counts.statuses !== null && !areIgnored(counts, newest.total),
    });
  }
  await profile.save(store);
  // A workspace that has shown nothing yet may be one that cannot be asked without a form: each form is. Where lists are not
  // sorted, the first page does not show the newest submissions, and one that came beside a deletion moves no count.
  if (profile.now.hasWorkspace !== true || !profile.now.isSorted) return open(all);

  const statuses = profile.now.hasWorkspaceStatuses === true ? counts.statuses : null;
  const topMs = topOf(newest, rest);
  const known = await readRest(store, rest, topMs);
  const difference = new Difference(newest.total, statuses);
  for (const { state } of spokenFor) difference.takeOff(accounted(state.tally));
  // Even when the counts agree: a newcomer and a deletion together leave them unchanged.
  const explained = await explainNewest(store, spokenFor, workspace, difference);
  const found = new Map<string, Counts | null>([...explained].map((id) => [id, null]));
  if (known !== null) {
    difference.takeOff(new Map(Object.entries(known.statuses)), known.total);
    // The newest page explains everything that differs: runs need no counts of their own.
    const jobs = new Map([...explained].map((id) => [id, { ...counts, statuses: null }]));
    if (difference.isNone)
      return { jobs, agreed: await agree(target, polled, jobs, workspace, statuses !== null) };
  }
  const [only] = spokenFor;
  if (spokenFor.length === 1 && rest.length === 0 && only !== undefined)
    return open(found.set(only.state.formId, statuses === null ? null : counts));

  if (rest.length > 0 && (known === null || rest.length <= spokenFor.length)) {
    const asked = await askRest(source, rest, workspace, statuses !== null);
    if (known !== null) difference.putBack(new Map(Object.entries(known.statuses)), known.total);
    difference.takeOff(new Map(Object.entries(asked.statuses)), asked.total);
    await writeRest(store, asked);
    if (difference.isNone) return open(found);
  } else if (rest.length === 0) {
    const searched = await searchWorkspace(
      source,
      store,
      spokenFor,
      profile.now,
      difference,
      counts,
    );
    if (searched !== null && searched.size > 0) {
      for (const id of searched) found.set(id, null);
      return open(found);
    }
  }
  const differing = await askEach(source, spokenFor, difference);
  for (const id of differing) found.set(id, null);
  if (found.size > 0) return open(found);
  // No form explains the difference, so it belongs to none of them, if the workspace still shows it.
  const again = await askCounts(source, {}, counts.askedAtMs);
  const total = (await source.count({}))?.total;
  const isStill =
    total === newest.total &&
    (statuses === null || [...statuses].every(([key, n]) => again.statuses?.get(key) === n));
  if (isStill) {
    const beyond = new Difference(newest.total, statuses);
    for (const { state } of spokenFor) beyond.takeOff(accounted(state.tally));
    await writeRest(store, { formIds: [...rest], topMs, ...beyond.asRest() });
  }
  return open(found);
}

/** How old an agreement may grow in a target that is written only now and then. */
const AGREEMENT_LASTS_MS = 10 * 60_000;

/** Whether what a target holds already says nearly as much. */
const isYoungAs = ({ atMs, onStatuses, formIds }: Agreement, held: Agreement | null): boolean =>
  held !== null &&
  held.onStatuses === onStatuses &&
  atMs - held.atMs < AGREEMENT_LASTS_MS &&
  JSON.stringify(held.formIds) === JSON.stringify(formIds);

/** The workspace has what the target accounts for of the forms that need no run. */
async function agree(
  { store }: PolledTarget,
  { spokenFor }: PolledForms,
  jobs: ReadonlyMap<string, unknown>,
  { counts }: Workspace,
  onStatuses: boolean,
): Promise<Agreement> {
  const formIds = spokenFor.map(({ state }) => state.formId).filter((id) => !jobs.has(id));
  const agreement = { atMs: counts.askedAtMs, onStatuses, formIds };
  if (store.isMetered !== true || !isYoungAs(agreement, await readAgreement(store)))
    await writeAgreement(store, agreement);
  return agreement;
}
