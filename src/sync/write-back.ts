import type { Clock } from '../base/clock.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { iso, plural } from '../base/format.ts';
import { FormsApiError } from '../forms/errors.ts';
import { type FormState, sumOf } from '../mirror/form-state.ts';
import type { Entry, OpenForm } from '../mirror/port.ts';
import type { FormIdentity, SubmissionItem } from '../mirror/types.ts';
import { openForWriting } from './open-form.ts';
import { noteWriteBack } from './records.ts';
import { type Source } from '../forms/source.ts';
import type { Sink } from './sink.ts';
import {
  formsIn,
  idsOf,
  type Mirror,
  requireUnpaused,
  type Target,
  type Waiting,
  whileBusy,
} from './target.ts';

/** The statuses that are changed, and the new one. */
export interface WriteBackRule {
  readonly from: readonly string[];
  readonly to: string;
}

export interface WriteBackReport {
  readonly form: FormIdentity;
  /** `waiting`: a target does not have the form yet, or another process has it. */
  readonly outcome: 'done' | 'waiting' | 'paused' | 'failed' | 'stopped';
  readonly written: number;
  /** A person changed the status in between; it is stored. */
  readonly adopted: number;
  /** They are not tried for a day. */
  readonly refused: number;
  readonly failed: number;
  /** Why not every possible status was changed. Null if all were, or if the source refused single ones and took others. */
  readonly failure: MirrorError | null;
}

const OUTCOMES: Partial<Record<MirrorError['code'], WriteBackReport['outcome']>> = {
  PAUSED: 'paused',
  TARGET_BUSY: 'waiting',
  CANCELLED: 'stopped',
};

/** The report of a write-back; without results, the report of one that could not begin. */
export function writeBackReport(
  form: FormIdentity,
  failure: MirrorError | null,
  results: Results = new Map(),
): WriteBackReport {
  const count = (what: Written['what']): number =>
    [...results.values()].filter((each) => each.what === what).length;
  return {
    form,
    outcome: failure === null ? 'done' : (OUTCOMES[failure.code] ?? 'failed'),
    written: count('written'),
    adopted: count('adopted'),
    refused: count('refused'),
    failed: count('failed'),
    failure,
  };
}

/** The number of submissions at once. After a crash, these must be read again. */
const MOST_AT_ONCE = 50;
/** The pause between two batches. A command that waits for the form takes it then. */
const LEAVE_MS = 500;
/** A status that was read longer ago may have changed, so it is read again before the PATCH (L7). */
const FRESH_MS = 10_000;
/** Some sources show a change only a moment after they made it. */
const LOOK_AGAIN_MS = 2_000;
/** How long a submission whose change of status was refused is not tried again, unless it changes: a day. */
const REFUSAL_LASTS_MS = 24 * 3_600_000;

/** The number of rows that may wait for write-back; at least as many as do. */
export const mayWait = ({ tally }: FormState, { from }: WriteBackRule): boolean =>
  sumOf(from.map((status) => (tally.rows[status] ?? 0) - (tally.missing[status] ?? 0))) >
  tally.refused;

/** The outcome for one submission. `shown`: its latest reading; null if the source does not have it. */
interface Written {
  readonly shown: SubmissionItem | null;
  readonly what: 'written' | 'adopted' | 'refused' | 'failed';
  readonly reason: string;
}
type Results = ReadonlyMap<string, Written>;

const isUnwritten = ({ what }: Written): boolean => what === 'refused' || what === 'failed';

interface Writing {
  /** All targets that mirror the form. */
  readonly targets: readonly Target[];
  readonly form: FormIdentity;
  readonly rule: WriteBackRule;
  readonly source: Source;
  readonly clock: Clock;
  /** Each submission once. */
  readonly results: Map<string, Written>;
  /** How many submissions a target lists as refused, so they are not tried for now. */
  listed: number;
}

/**
 * Changes the status of submissions at the source after they are stored in every target that mirrors the form (L7), some at a time.
 * It holds the form's lease in each target, reads each submission by its ID just before the PATCH and again after it, and stores
 * the latest reading. Between two batches it leaves the form to others, and it ends if `isAwaited`. A submission that the source
 * refuses delays no other. Each target records what could not be done. Never rejects.
 */
export async function writeBack(
  { clock, connect }: Mirror,
  targets: readonly Target[],
  form: FormIdentity,
  rule: WriteBackRule,
  waiting: Waiting,
  isAwaited = async (): Promise<boolean> => false,
): Promise<WriteBackReport> {
  const results = new Map<string, Written>();
  const source = connect(waiting.signal);
  const writing: Writing = { targets, form, rule, source, clock, results, listed: 0 };
  let state: BatchState = 'more';
  let failure: MirrorError | null;
  try {
    for (;;) {
      state = await whileBusy(clock, waiting, () => writeBatch(writing));
      if (state !== 'more' || (await isAwaited())) break;
      await clock.sleep(LEAVE_MS, waiting.signal);
    }
    failure = failureOf(writing);
  } catch (error) {
    failure = toMirrorError(error);
  }
  const report = writeBackReport(form, failure, results);
  if (state === 'waiting') return { ...report, outcome: state };
  if (report.outcome === 'done' || report.outcome === 'failed') {
    const since = iso(clock.now());
    const { code = null, message: error = null } = failure ?? {};
    const problem = failure === null && writing.listed === 0 ? null : { since, code, error };
    // If it cannot be stored, the report still has it.
    for (const { store } of targets) await noteWriteBack(store, form.id, problem).catch(() => {});
  }
  return report;
}

type BatchState = 'more' | 'done' | 'waiting';

/** A write-back has failed if not only single submissions could not be changed. */
function failureOf({ results, rule }: Writing): MirrorError | null {
  const all = [...results.values()];
  const unwritten = all.filter(isUnwritten);
  const [first] = unwritten;
  const isAnyFailed = all.some(({ what }) => what === 'failed');
  if (first === undefined || (!isAnyFailed && all.some(({ what }) => what === 'written')))
    return null;
  const what = `${plural(unwritten.length, 'submission')} could not be set to ${rule.to}. The first: ${first.reason}`;
  return new MirrorError(isAnyFailed ? 'FORMS_FAILED' : 'FORMS_REFUSED', what, {
    retryable: false,
  });
}

async function writeBatch(writing: Writing): Promise<BatchState> {
  const { targets, form: identity, rule, source, clock, results } = writing;
  const form = await source.formOrNull(identity.id);
  if (form === null) return 'done';
  await using stack = new AsyncDisposableStack();
  const opened: Sink[] = [];
  for (const target of targets) {
    const known = await formsIn(target);
    // A target does not have the form yet: its first copy comes first.
    if (!known.some(({ id }) => id === identity.id)) return 'waiting';
    opened.push(stack.use(await openForWriting(target, source, form)));
  }
  const waiting = (await candidates(opened, rule, clock.now())).filter((id) => !results.has(id));
  const ids = waiting.slice(0, MOST_AT_ONCE);
  let fatal: unknown;
  // A person may pause during a batch; that stops the next PATCH.
  const requireAllUnpaused = async (): Promise<void> => {
    for (const target of targets) await requireUnpaused(target, form);
  };
  const batch = new Map<string, Written>();
  await source.forEach(ids, async (id) => {
    if (fatal !== undefined) return;
    try {
      batch.set(id, await writeOne(source, clock, form.id, id, rule, requireAllUnpaused));
    } catch (error) {
      fatal ??= error;
    }
  });
  for (const [id, result] of batch) results.set(id, result);
  await storeAll(opened, batch, rule, clock.now());
  writing.listed = Math.max(...opened.map(({ form }) => form.state.tally.refused));
  if (fatal !== undefined) throw fatal;
  // If the whole batch failed, the cause is not in single submissions: the next write-back tries the others.
  const isHopeless = [...batch.values()].every(isUnwritten);
  return waiting.length > ids.length && !isHopeless ? 'more' : 'done';
}

/** Submissions in one of the statuses that every target has and none lists; a refused one rests for a day. */
async function candidates(
  opened: readonly Sink[],
  { from }: WriteBackRule,
  nowMs: number,
): Promise<string[]> {
  const wanted = new Set<string>();
  for (const { form } of opened)
    for (const status of from) for (const id of await idsOf(form.rows({ status }))) wanted.add(id);
  for (const { form } of opened) {
    if (wanted.size === 0) return [];
    const durable = await idsOf(form.rows({ ids: [...wanted], isSure: true }));
    for (const id of wanted) if (!durable.has(id)) wanted.delete(id);
    for (const id of await listedIn(form, nowMs)) wanted.delete(id);
  }
  return [...wanted];
}

async function listedIn(form: OpenForm, nowMs: number): Promise<string[]> {
  const entries = await form.entries(['rejected', 'held', 'undecided', 'refused']);
  return entries
    .filter(({ kind, atMs }) => kind !== 'refused' || nowMs - atMs < REFUSAL_LASTS_MS)
    .map(({ id }) => id);
}

/** Writes back one submission. Throws errors that stop the batch: a refused key, a pause, a stop. */
async function writeOne(
  source: Source,
  clock: Clock,
  formId: string,
  id: string,
  { from, to }: WriteBackRule,
  requireUnpaused: () => Promise<void>,
): Promise<Written> {
  const before = await read(source, formId, id);
  if (typeof before === 'string') return { shown: null, what: 'failed', reason: before };
  const status = statusOf(before);
  if (status === null || !from.includes(status))
    return { shown: before, what: 'adopted', reason: '' };
  let refusal: string | null = null;
  const readAtMs = clock.now();
  await requireUnpaused();
  try {
    await source.setStatus(id, to, () => {
      if (clock.now() - readAtMs > FRESH_MS)
        throw new MirrorError('FORMS_FAILED', 'its status was read too long ago');
    });
  } catch (error) {
    const failure = toMirrorError(error);
    if (/^(CANCELLED|FORMS_UNAUTHORIZED|INTERNAL)$/.test(failure.code)) throw failure;
    // The source refuses this change for this submission. Any other status concerns the key, the method, the server or the network,
    // and may be corrected at any time.
    const http = failure instanceof FormsApiError ? failure.status : null;
    if (http === null || (http >= 300 && ![400, 404, 409, 410, 422].includes(http)))
      return { shown: before, what: 'failed', reason: failure.message };
    refusal = failure.message;
  }
  // Only the submission itself shows whether the change was made.
  let after = await read(source, formId, id);
  if (refusal === null && typeof after !== 'string' && statusOf(after) === status) {
    await clock.sleep(LOOK_AGAIN_MS);
    after = await read(source, formId, id);
  }
  if (typeof after === 'string') return { shown: null, what: 'failed', reason: after };
  if (statusOf(after) === to) return { shown: after, what: 'written', reason: '' };
  if (statusOf(after) !== status) return { shown: after, what: 'adopted', reason: '' };
  const reason =
    refusal ??
    `the source answered PATCH /submissions/${id}/status with success and did not change the status`;
  return { shown: after, what: 'refused', reason };
}

/** The submission at the source now; null if it is gone; a sentence if the source does not answer. */
async function read(
  source: Source,
  formId: string,
  id: string,
): Promise<SubmissionItem | string | null> {
  const answer = await source.byId(formId, id);
  if (answer.kind === 'gone') return null;
  return answer.kind === 'there' ? answer.item : `submission ${id}: ${answer.reason}`;
}

/** Null if the response omits it: then it is not known whether it may be changed. */
const statusOf = (item: SubmissionItem | null): string | null => {
  const status = item?.submission?.status ?? '';
  return status === '' ? null : status;
};

/** Stores the latest reading in every target, even if one fails; the next job does the rest. */
async function storeAll(
  opened: readonly Sink[],
  results: Results,
  { from }: WriteBackRule,
  atMs: number,
): Promise<void> {
  // If a response has no status, the stored status stays.
  const shown = [...results.values()].flatMap(({ shown: item }) =>
    item === null || statusOf(item) === null ? [] : [item],
  );
  const entries: Entry[] = [];
  const done: string[] = [];
  for (const [id, { what, reason, shown: item }] of results) {
    const status = statusOf(item) ?? from[0] ?? '';
    const createdAt = item?.submission?.createdAt ?? null;
    if (what === 'refused') entries.push({ kind: 'refused', id, status, createdAt, reason, atMs });
    else done.push(id);
  }
  let failure: unknown;
  for (const sink of opened) {
    try {
      await sink.add(shown);
      await sink.flush({ entries, settled: [{ kind: 'refused', ids: done }] });
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}
