import { MirrorError, toMirrorError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import type { SubmissionItem } from '../forms/client.ts';
import { FormsApiError } from '../forms/errors.ts';
import { isHopeless, readRefusal, REFUSAL_LASTS_MS } from '../mirror/mark-rules.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { type FormState, sumOf } from '../mirror/form-state.ts';
import type { Entry, OpenForm, Store } from '../mirror/port.ts';
import { type Mirroring, openForWriting, type Opened, readForm } from './mirroring.ts';
import { Source } from './source.ts';

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
  /** More wait: the job is to be queued again. */
  readonly hasMore: boolean;
  /** Some of those whose status could not be changed, with why. */
  readonly unwritten: readonly { readonly submissionId: string; readonly reason: string }[];
  /** Nothing succeeded, so that the others were not tried. */
  readonly isHopeless: boolean;
  readonly code: string | null;
  readonly error: string | null;
  /** Why not every status was changed that could be; null when all were, or when the source refused single ones and took others. */
  readonly failure: MirrorError | null;
}

/** The report of a write-back that had nothing to do, without its form. */
export const NOTHING_WRITTEN: Omit<WriteBackReport, 'form'> = {
  outcome: 'done',
  written: 0,
  adopted: 0,
  refused: 0,
  failed: 0,
  remembered: 0,
  hasMore: false,
  unwritten: [],
  isHopeless: false,
  code: null,
  error: null,
  failure: null,
};

/** So many submissions a job: a crash in between costs reading these again. */
const MOST_AT_ONCE = 50;
/** A report names so many that could not be changed. */
const MOST_NAMED = 10;
/** A status that was read longer ago may have changed since: it is read again before the PATCH (L7). */
const FRESH_MS = 10_000;
/** Some sources show a change a moment after they made it. */
const LOOK_AGAIN_MS = 2_000;

/** Rows that may wait for write-back: not fewer than do. */
export const mayWait = ({ tally }: FormState, { from }: WriteBackRule): boolean =>
  sumOf(from.map((status) => (tally.rows[status] ?? 0) - (tally.missing[status] ?? 0))) >
  tally.refused;

/** The outcome for one submission. `shown`: its latest reading; null where the source does not have it. */
interface Written {
  readonly shown: SubmissionItem | null;
  readonly what: 'written' | 'adopted' | 'refused' | 'failed';
  readonly reason: string;
  /** A refusal that speaks of the submission only if others are not refused. */
  readonly isUnsure?: boolean;
}

/**
 * Changes the status of submissions at the source after they are stored in every target that mirrors the form (L7): holds the
 * form's lease in each, reads each submission by its ID just before the PATCH and again after it, and stores the latest reading. A
 * submission that the source refuses delays no other. Never rejects.
 */
export async function writeBack(
  targets: readonly Mirroring[],
  identity: FormIdentity,
  rule: WriteBackRule,
  signal: AbortSignal,
): Promise<WriteBackReport> {
  const report: WriteBackReport = { ...NOTHING_WRITTEN, form: identity };
  const [first] = targets;
  if (first === undefined) return report;
  try {
    await using stack = new AsyncDisposableStack();
    const form = await readForm(first, identity.id, signal);
    if (form === null) return report;
    const opened: Opened[] = [];
    for (const mirroring of targets) {
      const held = await mirroring.store.open({ id: identity.id }, 'read');
      await held?.[Symbol.asyncDispose]();
      // A target that has none of it yet: its first copy comes before.
      if (held === null) return { ...report, outcome: 'waiting' };
      opened.push(stack.use(await openForWriting(mirroring, form, signal)));
    }
    return await writeAll(
      new Source(first.client, first.concurrency, signal),
      first,
      opened,
      rule,
      report,
    );
  } catch (error) {
    const failure = toMirrorError(error);
    const { code, message } = failure;
    const outcome =
      code === 'PAUSED'
        ? 'paused'
        : code === 'TARGET_BUSY'
          ? 'waiting'
          : code === 'CANCELLED'
            ? 'stopped'
            : 'failed';
    return { ...report, outcome, code, error: message, failure };
  }
}

/** The submissions whose status the next write-back would try to change, as the targets have them. Changes nothing. */
export async function wouldWriteBack(
  stores: readonly Store[],
  formId: string,
  rule: WriteBackRule,
  nowMs: number,
): Promise<{ id: string; status: string }[]> {
  await using stack = new AsyncDisposableStack();
  const opened: { form: OpenForm }[] = [];
  for (const store of stores) {
    const form = await store.open({ id: formId }, 'read');
    if (form === null) return [];
    opened.push({ form: stack.use(form) });
  }
  const [first] = opened;
  const found: { id: string; status: string }[] = [];
  const ids = await candidates(opened, rule, nowMs);
  if (first === undefined || ids.length === 0) return found;
  for await (const rows of first.form.rows({ ids }))
    for (const { id, status } of rows) found.push({ id, status });
  return found;
}

async function writeAll(
  source: Source,
  { clock }: Mirroring,
  opened: readonly Opened[],
  rule: WriteBackRule,
  report: WriteBackReport,
): Promise<WriteBackReport> {
  const waiting = await candidates(opened, rule, clock.now());
  const ids = waiting.slice(0, MOST_AT_ONCE);
  const results = new Map<string, Written>();
  const tally = { succeeded: 0, failedInARow: 0 };
  let fatal: unknown;
  // A person may pause while a batch is under way: that stops the next PATCH.
  const requireUnpaused = async (): Promise<void> => {
    for (const { sink } of opened) await sink.beforeCommit();
  };
  const next = ids.values();
  await Promise.all(
    Array.from({ length: Math.min(source.concurrency, ids.length) }, async () => {
      for (const id of next) {
        if (fatal !== undefined || isHopeless(tally)) return;
        try {
          const result = await writeOne(source, clock, id, rule, requireUnpaused);
          results.set(id, result);
          const isFailure = result.what === 'refused' || result.what === 'failed';
          if (isFailure) tally.failedInARow++;
          else [tally.succeeded, tally.failedInARow] = [tally.succeeded + 1, 0];
        } catch (error) {
          fatal ??= error;
        }
      }
    }),
  );
  const isAnyWritten = [...results.values()].some(({ what }) => what === 'written');
  if (!isAnyWritten)
    for (const [id, result] of results)
      if (result.isUnsure === true) results.set(id, { ...result, what: 'failed' });
  await storeAll(opened, results, rule, clock.now());
  if (fatal !== undefined) throw fatal;
  const count = (what: Written['what']): number =>
    [...results.values()].filter((each) => each.what === what).length;
  const [refused, failed] = [count('refused'), count('failed')];
  const worst = [...results.values()].find(({ what }) => what === 'refused' || what === 'failed');
  const error = worst === undefined ? null : worst.reason;
  return {
    ...report,
    outcome: worst === undefined ? 'done' : 'failed',
    written: count('written'),
    adopted: count('adopted'),
    refused,
    failed,
    hasMore: waiting.length > ids.length && !isHopeless(tally),
    unwritten: [...results]
      .filter(([, { what }]) => what === 'refused' || what === 'failed')
      .slice(0, MOST_NAMED)
      .map(([submissionId, { reason }]) => ({ submissionId, reason })),
    isHopeless: isHopeless(tally),
    code: worst === undefined ? null : worst.what === 'refused' ? 'FORMS_REFUSED' : 'FORMS_FAILED',
    error,
  };
}

/** Submissions in one of the statuses that every target holds, and that none lists; a refused one rests for a day. */
async function candidates(
  opened: readonly Pick<Opened, 'form'>[],
  { from }: WriteBackRule,
  nowMs: number,
): Promise<string[]> {
  const wanted = new Set<string>();
  for (const { form } of opened)
    for (const status of from)
      for await (const rows of form.rows({ status })) for (const { id } of rows) wanted.add(id);
  for (const { form } of opened) {
    if (wanted.size === 0) return [];
    const durable = new Set<string>();
    for await (const rows of form.rows({ ids: [...wanted], isSure: true }))
      for (const { id } of rows) durable.add(id);
    for (const id of wanted) if (!durable.has(id)) wanted.delete(id);
    for (const id of await listedIn(form, nowMs)) wanted.delete(id);
  }
  return [...wanted];
}

async function listedIn(form: OpenForm, nowMs: number): Promise<Set<string>> {
  const listed = new Set<string>();
  for (const kind of ['rejected', 'held', 'undecided', 'refused'] as const)
    for await (const entries of form.entries(kind))
      for (const { id, atMs } of entries)
        if (kind !== 'refused' || nowMs - atMs < REFUSAL_LASTS_MS) listed.add(id);
  return listed;
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
    const http = failure instanceof FormsApiError ? failure.status : null;
    const speaksOf = readRefusal(http);
    if (speaksOf === 'failure' && (http === null || http >= 300))
      return { shown: before, what: 'failed', reason: failure.message };
    refusal = failure.message;
    isUnsure = speaksOf === 'perhaps';
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
  const entries = [...results].flatMap(([id, { what, reason, shown: item }]): Entry[] =>
    what === 'refused'
      ? [
          {
            kind: 'refused',
            id,
            status: statusOf(item) ?? from[0] ?? '',
            createdAt: item?.submission?.createdAt ?? null,
            reason,
            atMs,
          },
        ]
      : [],
  );
  const done = [...results].flatMap(([id, { what }]) => (what === 'refused' ? [] : [id]));
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

/** The report of a write-back that has come to its end: it failed only if more than single submissions could not be changed. */
export function concluded(report: WriteBackReport, { to }: WriteBackRule): WriteBackReport {
  const { outcome, refused, failed, unwritten, failure, isHopeless, written } = report;
  if (outcome !== 'failed' || failure !== null) return report;
  const [first] = unwritten;
  if (first === undefined || (failed === 0 && written > 0 && !isHopeless))
    return { ...report, outcome: 'done' };
  const many = plural(refused + failed, 'submission');
  const others = isHopeless ? 'the others were not tried' : 'no other was held up';
  const begin = isHopeless ? 'Write-back stopped: ' : '';
  const what = `${begin}${many} could not be set to ${to}; ${others}. The first: ${first.reason}`;
  const code = failed > 0 ? 'FORMS_FAILED' : 'FORMS_REFUSED';
  return { ...report, code, failure: new MirrorError(code, what, { retryable: false }) };
}
