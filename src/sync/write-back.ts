import { MirrorError, toMirrorError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import type { SubmissionItem } from '../forms/client.ts';
import { FormsApiError } from '../forms/errors.ts';
import { type FormState, sumOf } from '../mirror/form-state.ts';
import type { Entry, OpenForm } from '../mirror/port.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { type Mirroring, openForWriting, type Opened, readForm, sourceOf } from './mirroring.ts';
import { noteWriteBack } from './records.ts';
import type { Source } from './source.ts';
import { entriesOf, heldForms, idsOf, whileBusy } from './target.ts';

/** Which statuses are changed, and into which. */
export interface WriteBackRule {
  readonly from: readonly string[];
  readonly to: string;
}

export interface WriteBackReport {
  readonly form: FormIdentity;
  /** `waiting`: a target does not have the form yet, or another process has it. */
  readonly outcome: 'done' | 'waiting' | 'paused' | 'failed' | 'stopped';
  readonly written: number;
  /** A person changed the status in between: theirs is stored. */
  readonly adopted: number;
  readonly refused: number;
  readonly failed: number;
  /** Not tried, as the source refused the same change within the last day. */
  readonly remembered: number;
  /** Some of those whose status could not be changed, with why. */
  readonly unwritten: readonly { readonly submissionId: string; readonly reason: string }[];
  /** Why not every status was changed that could be; null when all were, or when the source refused single ones and took others. */
  readonly failure: MirrorError | null;
}

/** The report of a write-back that could not begin. */
export const nothingWritten = (form: FormIdentity, failure: MirrorError): WriteBackReport => ({
  form,
  outcome: OUTCOMES[failure.code] ?? 'failed',
  written: 0,
  adopted: 0,
  refused: 0,
  failed: 0,
  remembered: 0,
  unwritten: [],
  failure,
});

/** So many submissions at once: a crash in between costs reading these again. */
const MOST_AT_ONCE = 50;
/** A report names so many that could not be changed. */
const MOST_NAMED = 10;
/** A status that was read longer ago may have changed since: it is read again before the PATCH (L7). */
const FRESH_MS = 10_000;
/** Some sources show a change a moment after they made it. */
const LOOK_AGAIN_MS = 2_000;
/** For how long a submission whose change of status was refused is not tried again, unless it changes before: a day. */
export const REFUSAL_LASTS_MS = 24 * 3_600_000;
/** So many failures without any success, and so many in a row after one, are not about single submissions. */
const [HOPELESS, HOPELESS_IN_A_ROW] = [10, 100];

/** Rows that may wait for write-back: not fewer than do. */
export const mayWait = ({ tally }: FormState, { from }: WriteBackRule): boolean =>
  sumOf(from.map((status) => (tally.rows[status] ?? 0) - (tally.missing[status] ?? 0))) >
  tally.refused;

/** The outcome for one submission. `shown`: its latest reading; null if the source does not have it. */
interface Written {
  readonly shown: SubmissionItem | null;
  readonly what: 'written' | 'adopted' | 'refused' | 'failed';
  readonly reason: string;
  /** A refusal that concerns the submission only if others are not refused. */
  readonly isUnsure?: boolean;
}

const isUnwritten = ({ what }: Written): boolean => what === 'refused' || what === 'failed';

/** All that mirror the form. */
export type WrittenTargets = readonly [Mirroring, ...Mirroring[]];

/** One write-back of a form. */
interface Writing {
  readonly targets: WrittenTargets;
  readonly form: FormIdentity;
  readonly rule: WriteBackRule;
  readonly source: Source;
  readonly signal: AbortSignal;
  /** Each submission once. */
  readonly results: Map<string, Written>;
}

/** Whether going on would only repeat the same failure, for thousands of submissions and again at the next run. */
const isHopeless = ({ results }: Writing): boolean => {
  const all = [...results.values()];
  const last = all.every(isUnwritten) ? HOPELESS : HOPELESS_IN_A_ROW;
  return all.length >= last && all.slice(-last).every(isUnwritten);
};

/**
 * Changes the status of submissions at the source after they are stored in every target that mirrors the form (L7), some at a time:
 * holds the form's lease in each target, reads each submission by its ID just before the PATCH and again after it, and stores the
 * latest reading. A submission that the source refuses delays no other. What could not be done is kept in each target. Never rejects.
 */
export async function writeBack(
  targets: WrittenTargets,
  form: FormIdentity,
  rule: WriteBackRule,
  waitMs: number,
  signal: AbortSignal,
): Promise<WriteBackReport> {
  const [first] = targets;
  const { clock } = first;
  const results = new Map<string, Written>();
  const source = sourceOf(first, signal);
  const writing: Writing = { targets, form, rule, source, signal, results };
  let outcome: WriteBackReport['outcome'] = 'done';
  let failure: MirrorError | null = null;
  try {
    let state: BatchState = 'more';
    while (state === 'more')
      state = await whileBusy(() => writeBatch(writing), { waitMs, signal, clock });
    outcome = state;
  } catch (error) {
    failure = toMirrorError(error);
    outcome = OUTCOMES[failure.code] ?? 'failed';
  }
  const count = (what: Written['what']): number =>
    [...results.values()].filter((each) => each.what === what).length;
  const [refused, failed] = [count('refused'), count('failed')];
  failure ??= failureOf(writing, refused, failed);
  if (failure !== null && outcome === 'done') outcome = 'failed';
  const remembered = Math.max(0, (await refusedIn(targets, form)) - refused);
  if (outcome === 'done' || outcome === 'failed') {
    const since = new Date(clock.now()).toISOString();
    const { code = null, message: error = null } = failure ?? {};
    const isClean = failure === null && refused + remembered === 0;
    const problem = isClean ? null : { since, code, error, refused: refused + remembered };
    // If it cannot be stored, the report still has it.
    for (const { store } of targets) await noteWriteBack(store, form.id, problem).catch(() => {});
  }
  const counts = { written: count('written'), adopted: count('adopted'), refused, failed };
  return { form, outcome, ...counts, remembered, unwritten: unwrittenOf(writing), failure };
}

type BatchState = 'more' | 'done' | 'waiting';

const OUTCOMES: Partial<Record<MirrorError['code'], WriteBackReport['outcome']>> = {
  PAUSED: 'paused',
  TARGET_BUSY: 'waiting',
  CANCELLED: 'stopped',
};

const unwrittenOf = ({ results }: Writing): WriteBackReport['unwritten'] =>
  [...results]
    .filter(([, result]) => isUnwritten(result))
    .slice(0, MOST_NAMED)
    .map(([submissionId, { reason }]) => ({ submissionId, reason }));

/** A write-back has failed if more than single submissions could not be changed. */
function failureOf(writing: Writing, refused: number, failed: number): MirrorError | null {
  const [first] = unwrittenOf(writing);
  const isAnyWritten = [...writing.results.values()].some(({ what }) => what === 'written');
  const isEnd = isHopeless(writing);
  if (first === undefined || (failed === 0 && isAnyWritten && !isEnd)) return null;
  const many = plural(refused + failed, 'submission');
  const others = isEnd ? 'the others were not tried' : 'all others were tried';
  const begin = isEnd ? 'Write-back stopped: ' : '';
  const what = `${begin}${many} could not be set to ${writing.rule.to}; ${others}. The first: ${first.reason}`;
  const code = failed > 0 ? 'FORMS_FAILED' : 'FORMS_REFUSED';
  return new MirrorError(code, what, { retryable: false });
}

/** How many submissions one of the targets lists as refused, so that they are not tried for now. */
async function refusedIn(targets: WrittenTargets, { id }: FormIdentity): Promise<number> {
  let most = 0;
  for (const { store } of targets) {
    const states = await store.states().catch(() => []);
    most = Math.max(
      most,
      states.find(({ state }) => state.formId === id)?.state.tally.refused ?? 0,
    );
  }
  return most;
}

/** Writes back some submissions. */
async function writeBatch(writing: Writing): Promise<BatchState> {
  const { targets, form: identity, rule, source, signal, results } = writing;
  const { clock } = targets[0];
  const form = await readForm(targets[0], identity.id, signal);
  if (form === null) return 'done';
  await using stack = new AsyncDisposableStack();
  const opened: Opened[] = [];
  for (const mirroring of targets) {
    const held = await heldForms(mirroring);
    // A target that has none of it yet: its first copy comes before.
    if (!held.some(({ id }) => id === identity.id)) return 'waiting';
    opened.push(stack.use(await openForWriting(mirroring, form, signal)));
  }
  const waiting = (await candidates(opened, rule, clock.now())).filter((id) => !results.has(id));
  const ids = waiting.slice(0, MOST_AT_ONCE);
  let fatal: unknown;
  // A person may pause during a batch: that stops the next PATCH.
  const requireUnpaused = async (): Promise<void> => {
    for (const { sink } of opened) await sink.beforeCommit();
  };
  const next = ids.values();
  await Promise.all(
    Array.from({ length: Math.min(source.concurrency, ids.length) }, async () => {
      for (const id of next) {
        if (fatal !== undefined || isHopeless(writing)) return;
        try {
          results.set(id, await writeOne(source, clock, id, rule, requireUnpaused));
        } catch (error) {
          fatal ??= error;
        }
      }
    }),
  );
  if (![...results.values()].some(({ what }) => what === 'written'))
    for (const [id, result] of results)
      if (result.isUnsure === true) results.set(id, { ...result, what: 'failed' });
  const done = new Map([...results].filter(([id]) => ids.includes(id)));
  await storeAll(opened, done, rule, clock.now());
  if (fatal !== undefined) throw fatal;
  return waiting.length > ids.length && !isHopeless(writing) ? 'more' : 'done';
}

/** Submissions in one of the statuses that every target holds, and that none lists; a refused one rests for a day. */
async function candidates(
  opened: readonly Opened[],
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
  const entries = await entriesOf(form, ['rejected', 'held', 'undecided', 'refused']);
  return entries
    .filter(({ kind, atMs }) => kind !== 'refused' || nowMs - atMs < REFUSAL_LASTS_MS)
    .map(({ id }) => id);
}

/** Writes back one submission. Throws an error that stops the batch: a refused key, a pause, a stop. */
async function writeOne(
  source: Source,
  clock: Mirroring['clock'],
  id: string,
  { from, to }: WriteBackRule,
  requireUnpaused: () => Promise<void>,
): Promise<Written> {
  const before = await read(source, id);
  if (typeof before === 'string') return { shown: null, what: 'failed', reason: before };
  const status = statusOf(before);
  if (before === null || status === null) return { shown: before, what: 'adopted', reason: '' };
  if (!from.includes(status)) return { shown: before, what: 'adopted', reason: '' };
  let refusal: string | null = null;
  let isUnsure = false;
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
    // 400 and 409: this submission may not change from its status to the wanted one; 422: the same, if others may. Any
    // other status concerns the key, the method, the server or the network, and may be corrected at any time.
    const http = failure instanceof FormsApiError ? failure.status : null;
    if (http === null || (http >= 300 && ![400, 409, 422].includes(http)))
      return { shown: before, what: 'failed', reason: failure.message };
    refusal = failure.message;
    isUnsure = http === 422;
  }
  // Only the submission itself shows whether it was made.
  let after = await read(source, id);
  if (refusal === null && typeof after !== 'string' && statusOf(after) === status) {
    await clock.sleep(LOOK_AGAIN_MS);
    after = await read(source, id);
  }
  if (typeof after === 'string') return { shown: null, what: 'failed', reason: after };
  if (after === null || statusOf(after) === to)
    return { shown: after, what: 'written', reason: '' };
  if (statusOf(after) !== status) return { shown: after, what: 'adopted', reason: '' };
  const reason =
    refusal ??
    `the source answered PATCH /submissions/${id}/status with success and did not change the status`;
  return { shown: after, what: 'refused', reason, isUnsure };
}

/** The submission at the source now; null where it is gone; a sentence where the source gives no answer. */
async function read(source: Source, id: string): Promise<SubmissionItem | string | null> {
  const answer = await source.byId(id);
  if (answer.kind === 'gone') return null;
  return answer.kind === 'there' ? answer.item : `submission ${id}: ${answer.reason}`;
}

/** Null where the answer leaves it out: then it is not known whether it may be changed. */
const statusOf = (item: SubmissionItem | null): string | null => {
  const status = item?.submission?.status ?? '';
  return status === '' ? null : status;
};

/** Stores the latest reading in every target, even if one fails; the next job does the rest. */
async function storeAll(
  opened: readonly Opened[],
  results: ReadonlyMap<string, Written>,
  { from }: WriteBackRule,
  atMs: number,
): Promise<void> {
  // An answer without a status leaves it open: the stored one stays.
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
  const failures: unknown[] = [];
  for (const { sink } of opened) {
    try {
      await sink.add(shown);
      await sink.flush({ entries, settled: [{ kind: 'refused', ids: done }] });
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
