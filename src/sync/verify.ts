import type { CallOptions, SubmissionItem } from '../forms/client.ts';
import { FormPages } from '../forms/form-pages.ts';
import { canonicalTime } from '../mirror/canonical-time.ts';
import type { TargetNotice } from '../mirror/notices.ts';
import type { FieldPicks } from '../mirror/picks.ts';
import { ProofLedger } from '../mirror/proof.ts';
import type { CopyReader, Copy } from '../mirror/copy.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';
import { ById, withKnownStatus } from './by-id.ts';
import type { SyncContext } from './context.ts';
import { fullScan, type ItemSink } from './full-scan.ts';
import {
  NO_PATIENCE,
  type PassIntervals,
  type Patience,
  patienceOf,
  withLook,
} from './patience.ts';
import { RowComparer, type RowResult } from './row-comparer.ts';
import { Settling, type Suspect, type SuspectResult } from './suspects.ts';

/** How many IDs are listed for each kind of difference; the counts cover all. */
const LISTED_IDS = 20;
/** How many differences are looked at again; a table that is all wrong needs no confirmation and no patience. */
const MOST_SUSPECTS = 1_000;
const BATCH = 100;
/** A submission dated so long before reading began was there then, however clocks differ. */
const SURELY_BEFORE_MS = 10 * 60_000;
/** So many passes tell how long one takes: those of some hours, a full one among them. */
const RECENT_PASSES = 400;

/** What to compare. */
export interface VerifyRequest {
  readonly formId: string;
  readonly picks: FieldPicks;
  readonly hashKey: string | undefined;
  /** How often passes run. Without it no pass is expected: whatever differs is a difference. */
  readonly intervals?: PassIntervals;
  /** How long to look again at what differs; by default as long as the intervals explain. */
  readonly waitMs?: number | undefined;
  /** Called now and then while what differs is looked at again. */
  readonly onWait?: (differing: number, untilMs: number) => void;
}

/** Submissions that differ in one way. */
export interface Differences {
  readonly count: number;
  /** The first of them. */
  readonly ids: readonly string[];
}

/**
 * What a comparison found. `same`: nothing differs, and the source was proven to be read completely. `lagging`: the same
 * but for changes so young that the next passes explain them.
 */
export interface VerifyReport {
  readonly form: FormIdentity;
  readonly target: string;
  readonly outcome: 'same' | 'lagging' | 'different' | 'unproven';
  readonly startedAt: string;
  readonly endedAt: string;
  /** Submissions of the source that were compared. */
  readonly compared: number;
  readonly missing: Differences;
  /** Rows not marked deleted whose submission answers 404. */
  readonly extra: Differences;
  readonly differing: Differences & {
    /** How often each column differs: system columns by name, fields by label. */
    readonly columns: Readonly<Record<string, number>>;
  };
  /** Rows that hold a plain answer where a hash belongs, those included that are marked deleted. */
  readonly plain: Differences;
  /** Submissions that changed, came or went at the source within the last `withinMs`, and have not been brought over. */
  readonly lagging: Differences & { readonly withinMs: number };
  /**
   * Live rows that the source's list lacks, and that it neither shows nor calls gone when asked for; and submissions without a row
   * that the list shows, and that the source calls gone when asked for.
   */
  readonly undecided: Differences;
  /** Old submissions that the source shows when asked by ID, but not in its list: so the list proves nothing. */
  readonly unlisted: Differences;
  /** Submissions that are listed as rejected, and so may differ. */
  readonly listed: number;
  /** Submissions that were forgotten, and so have no row. */
  readonly forgotten: number;
  /** What people did to the target and the mirror leaves alone: why it differs, perhaps, and rows beside those compared. */
  readonly notices: readonly TargetNotice[];
  /** End of the form's newest pass here, as recorded, or the newest look some time after it; null before the first. */
  readonly lastPassAt: string | null;
  readonly requests: number;
}

/** A comparison that has read all of the source; what differed is to be looked at again. */
export interface StartedVerification {
  /** To be called once. */
  finish(): Promise<VerifyReport>;
}

/**
 * Compares source and target row by row, trusting neither checkpoints nor hashes. What differs is asked again on both
 * sides until it agrees, or has stood unchanged at the source for longer than the schedule explains: only then it is a
 * difference; a younger change is lag. Ends within `waitMs` after the source was read. Memory: a batch, 10 bytes an ID,
 * and a bounded number of submissions that differ.
 */
export async function verifyForm(
  context: SyncContext,
  target: Copy,
  request: VerifyRequest,
  signal: AbortSignal,
): Promise<VerifyReport> {
  const started = await startVerification(context, target, request, signal);
  return started.finish();
}

/** The first part of {@link verifyForm}: other forms can be read while this one's differences are looked at again. */
export async function startVerification(
  context: SyncContext,
  target: Copy,
  request: VerifyRequest,
  signal: AbortSignal,
): Promise<StartedVerification> {
  let requests = 0;
  const startedAt = new Date(context.clock.now()).toISOString();
  const call: CallOptions = { signal, onAttempt: () => requests++ };
  const { formId, picks, hashKey, intervals, waitMs, onWait = () => {} } = request;
  const form = await context.labels.form(formId, { fresh: true, call });
  const ledger = new ProofLedger();
  const comparer = new RowComparer({ target, form, picks, hashKey });
  const reader = await comparer.open();
  const look = await target.lastLook();
  const recorded = (await reader?.passes(RECENT_PASSES)) ?? [];
  const passes = withLook(recorded, look?.at ?? null);
  const [newest] = recorded;
  // What the target refuses is no lag, however young it is: no pass is known to bring it (L6).
  const isRefused = newest?.outcome === 'failed' && newest.code?.startsWith('TARGET_') === true;
  const byId = new ById(context.client, call);
  const comparison = new Comparison({ context, form, reader, comparer, ledger, byId });
  const proven = await fullScan({
    pages: new FormPages(context.client, form.id, call),
    sink: comparison,
    ledger,
    readAhead: context.readAhead,
    signal,
    history: (await reader?.checkpoint()) !== undefined,
    onTotal: () => {},
  });
  await comparison.flush();
  await comparison.lookForExtra();
  await comparison.lookForPlain();
  const planned = intervals
    ? patienceOf(intervals, passes, context.clock.now(), waitMs)
    : NO_PATIENCE;
  const explained = isRefused ? { ...planned, explainedMs: 0 } : planned;
  const patience = comparison.allWrong ? NO_PATIENCE : explained;
  return {
    async finish() {
      const onDecided = (suspect: Suspect, lag: boolean): void => comparison.decide(suspect, lag);
      const parts = { context, comparer, patience, byId, signal, onWait, onDecided };
      await new Settling(parts, comparison.suspects).run();
      const found = comparison.found(patience);
      const { id, slug, name } = form;
      return {
        form: { id, slug, name },
        target: target.name,
        outcome: outcomeOf(found, proven),
        startedAt,
        endedAt: new Date(context.clock.now()).toISOString(),
        ...found,
        notices: (await reader?.notices()) ?? [],
        lastPassAt: passes[0]?.endedAt ?? null,
        requests,
      };
    },
  };
}

type Found = Pick<
  VerifyReport,
  | 'compared'
  | 'missing'
  | 'extra'
  | 'differing'
  | 'plain'
  | 'lagging'
  | 'undecided'
  | 'unlisted'
  | 'listed'
  | 'forgotten'
>;

function outcomeOf(found: Found, proven: boolean): VerifyReport['outcome'] {
  const different = [found.missing, found.extra, found.differing, found.plain];
  if (different.some(({ count }) => count > 0)) return 'different';
  if (!proven || found.undecided.count + found.unlisted.count > 0) return 'unproven';
  return found.lagging.count > 0 ? 'lagging' : 'same';
}

interface Parts {
  readonly context: SyncContext;
  readonly form: Form;
  /** Undefined: never mirrored here. */
  readonly reader: CopyReader | undefined;
  readonly comparer: RowComparer;
  readonly ledger: ProofLedger;
  readonly byId: ById;
}

/** Counts, and keeps the first few. */
class Tally {
  count = 0;
  readonly ids: string[] = [];
  add(id: string): void {
    this.count++;
    if (this.ids.length < LISTED_IDS) this.ids.push(id);
  }
}

class Comparison implements ItemSink {
  readonly suspects: Suspect[] = [];
  /** True when more differs than is looked at again. */
  allWrong = false;
  readonly #parts: Parts;
  #pending = new Map<string, SubmissionItem>();
  readonly #missing = new Tally();
  readonly #extra = new Tally();
  readonly #differing = new Tally();
  readonly #plain = new Tally();
  readonly #lagging = new Tally();
  readonly #undecided = new Tally();
  readonly #unlisted = new Tally();
  readonly #startedMs: number;
  #foundById = 0;
  readonly #columns = new Map<string, number>();
  #listed = 0;
  #forgotten = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#startedMs = parts.context.clock.now();
  }

  async take(items: readonly SubmissionItem[]): Promise<void> {
    // As a pass does: of a submission that is shown twice, the first counts.
    for (const item of items) if (!this.#pending.has(item.key)) this.#pending.set(item.key, item);
    if (this.#pending.size >= BATCH) await this.flush();
  }

  async flush(): Promise<void> {
    const items = [...this.#pending.values()];
    this.#pending = new Map();
    const { ledger, comparer } = this.#parts;
    const first = items.filter((item) => !ledger.has(item.key));
    const results = await comparer.compare(first);
    for (const item of items) {
      const existed = (results.get(item.key) ?? 'missing') !== 'missing';
      const createdAt = canonicalTime(item.submission?.createdAt ?? '');
      ledger.sight({ key: item.key, createdAt, existed });
    }
    this.#note(first, results);
  }

  /** Live rows that the source's list did not show. */
  async lookForExtra(): Promise<void> {
    const { reader, ledger, comparer, byId } = this.#parts;
    if (reader === undefined) return;
    for await (const ids of reader.liveIds()) {
      for (const id of ids.filter((id) => !ledger.has(id))) {
        const answer = await byId.ask(id);
        if (answer.kind === 'undecided')
          for (const plain of await comparer.plain([id])) this.#plain.add(plain);
        if (answer.kind === 'undecided' && comparer.isListed(id)) this.#listed++;
        else if (answer.kind === 'undecided') this.#undecided.add(id);
        else if (answer.kind === 'gone') this.#suspect(id, null, 'extra');
        else {
          const item = withKnownStatus(answer.item, await comparer.storedStatus(id));
          this.#foundById++;
          if (this.#isOld(item)) this.#unlisted.add(id);
          this.#note([item], await comparer.compare([item]));
        }
      }
    }
  }

  /** Rows that are marked deleted are compared with nothing; that they were to be hashed is known all the same. */
  async lookForPlain(): Promise<void> {
    const { reader, ledger, comparer } = this.#parts;
    for await (const chunk of reader?.deletedIds() ?? []) {
      const ids = chunk.filter((id) => !ledger.has(id));
      for (let from = 0; from < ids.length; from += BATCH) {
        for (const id of await comparer.plain(ids.slice(from, from + BATCH))) this.#plain.add(id);
      }
    }
  }

  /** Counts one that still differs after it was looked at again. */
  decide({ id, result }: Pick<Suspect, 'id' | 'result'>, lag: boolean): void {
    if (result === 'listed') this.#listed++;
    else if (result === 'forgotten') this.#forgotten++;
    else if (result === 'denied') this.#undecided.add(id);
    else if (lag) this.#lagging.add(id);
    else if (result === 'missing') this.#missing.add(id);
    else if (result === 'extra') this.#extra.add(id);
    else if (result !== 'same') this.#noteDifference(id, result);
  }

  found({ explainedMs }: Patience): Found {
    const tally = ({ count, ids }: Tally): Differences => ({ count, ids });
    return {
      compared: this.#parts.ledger.distinct + this.#foundById,
      missing: tally(this.#missing),
      extra: tally(this.#extra),
      differing: { ...tally(this.#differing), columns: Object.fromEntries(this.#columns) },
      plain: tally(this.#plain),
      lagging: { ...tally(this.#lagging), withinMs: explainedMs },
      undecided: tally(this.#undecided),
      unlisted: tally(this.#unlisted),
      listed: this.#listed,
      forgotten: this.#forgotten,
    };
  }

  #isOld({ submission }: SubmissionItem): boolean {
    const createdMs = Date.parse(canonicalTime(submission?.createdAt ?? '') ?? '');
    return createdMs < this.#startedMs - SURELY_BEFORE_MS;
  }

  #note(items: readonly SubmissionItem[], results: ReadonlyMap<string, RowResult>): void {
    for (const item of items) {
      const result = results.get(item.key) ?? 'same';
      if (result === 'listed') this.#listed++;
      else if (result === 'forgotten') this.#forgotten++;
      else if (result !== 'same') this.#suspect(item.key, item, result);
    }
  }

  #suspect(id: string, item: SubmissionItem | null, result: SuspectResult): void {
    if (this.suspects.length >= MOST_SUSPECTS) {
      this.allWrong = true;
      this.decide({ id, result }, false);
      return;
    }
    const createdAtMs = Date.parse(canonicalTime(item?.submission?.createdAt ?? '') ?? '');
    const nowMs = this.#parts.context.clock.now();
    this.suspects.push({
      id,
      item,
      result,
      createdAtMs: Number.isNaN(createdAtMs) ? null : createdAtMs,
      seenAtMs: nowMs,
      lookedAtMs: nowMs,
      changedAtMs: null,
    });
  }

  #noteDifference(id: string, difference: Exclude<RowResult, string>): void {
    this.#differing.add(id);
    if (difference.isPlain) this.#plain.add(id);
    const labels = new Map(this.#parts.form.fields.map((field) => [field.id, field.label]));
    const { columns, fieldIds } = difference;
    for (const name of [...columns, ...fieldIds.map((fieldId) => labels.get(fieldId) ?? fieldId)]) {
      this.#columns.set(name, (this.#columns.get(name) ?? 0) + 1);
    }
  }
}
