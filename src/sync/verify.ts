import type { CallOptions, SubmissionItem } from '../forms/client.ts';
import { FormPages } from '../forms/form-pages.ts';
import { canonicalTime } from '../mirror/canonical-time.ts';
import { compareRow, type RowDifference } from '../mirror/changes.ts';
import { pickFields } from '../mirror/label-map.ts';
import type { FieldPicks } from '../mirror/picks.ts';
import { ProofLedger } from '../mirror/proof.ts';
import { joinRow } from '../mirror/row.ts';
import type { FormReader, Target } from '../mirror/target.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';
import type { SyncContext } from './context.ts';
import { submissionOrNull } from './deletions.ts';
import { fullScan, type ItemSink } from './full-scan.ts';

/** How many IDs of each sort of difference are listed; the counts are of all. */
const LISTED_IDS = 20;
/** How many differences are asked about a second time, each by ID; a table that is all wrong needs no second opinion. */
const SECOND_LOOKS = 1_000;
const BATCH = 100;
/** How many listed rejections are looked at, newest first; a longer list is no list any more. */
const MOST_LISTED = 10_000;

/** What to compare. */
export interface VerifyRequest {
  readonly formId: string;
  readonly picks: FieldPicks;
  readonly hashKey: string | undefined;
}

/** Submissions of one sort of difference. */
export interface Differences {
  readonly count: number;
  /** The first of them. */
  readonly ids: readonly string[];
}

/** What a comparison found. `same`: nothing differs, and the source was proven to be read whole. */
export interface VerifyReport {
  readonly form: FormIdentity;
  readonly target: string;
  readonly outcome: 'same' | 'different' | 'unproven';
  /** Submissions of the source that were compared. */
  readonly compared: number;
  readonly missing: Differences;
  /** Rows not marked deleted whose submission answers 404. */
  readonly extra: Differences;
  readonly differing: Differences & {
    /** How often each column differs: system columns by name, fields by label. */
    readonly columns: Readonly<Record<string, number>>;
  };
  /** Submissions that are listed as rejected, and so may differ. */
  readonly listed: number;
  readonly requests: number;
}

/**
 * Compares source and target afresh, row by row, trusting neither checkpoints nor hashes. What differs is asked for
 * again on both sides, so that changes while it reads are no differences. Memory: a batch, and 10 bytes an ID.
 */
export async function verifyForm(
  context: SyncContext,
  target: Target,
  request: VerifyRequest,
  signal: AbortSignal,
): Promise<VerifyReport> {
  let requests = 0;
  const call: CallOptions = { signal, onAttempt: () => requests++ };
  const form = await context.labels.form(request.formId, { fresh: true, call });
  const ledger = new ProofLedger();
  const reader = await target.reader(form.id);
  const rejections = (await reader?.rejections(MOST_LISTED))?.items ?? [];
  const listed = new Set(rejections.map(({ submissionId }) => submissionId));
  const comparison = new Comparison({ context, form, reader, request, ledger, call, listed });
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
  const found = comparison.found();
  const clean = found.missing.count + found.extra.count + found.differing.count === 0;
  const outcome = clean ? (proven ? 'same' : 'unproven') : 'different';
  const { id, slug, name } = form;
  return { form: { id, slug, name }, target: target.name, outcome, ...found, requests };
}

interface Parts {
  readonly context: SyncContext;
  readonly form: Form;
  /** Undefined: never mirrored here. */
  readonly reader: FormReader | undefined;
  readonly request: VerifyRequest;
  readonly ledger: ProofLedger;
  readonly call: CallOptions;
  /** Submissions that the target lists as rejected. */
  readonly listed: ReadonlySet<string>;
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

type Verdict = 'same' | 'missing' | 'listed' | RowDifference;

class Comparison implements ItemSink {
  readonly #parts: Parts;
  #pending = new Map<string, SubmissionItem>();
  readonly #strangers = new Set<string>();
  readonly #missing = new Tally();
  readonly #extra = new Tally();
  readonly #differing = new Tally();
  readonly #columns = new Map<string, number>();
  #listed = 0;
  #secondLooks = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async take(items: readonly SubmissionItem[]): Promise<void> {
    for (const item of items) this.#pending.set(item.key, item);
    if (this.#pending.size >= BATCH) await this.flush();
  }

  async flush(): Promise<void> {
    const items = [...this.#pending.values()];
    this.#pending = new Map();
    const first = new Set(items.filter((item) => !this.#parts.ledger.has(item.key)));
    const verdicts = await this.#compare(items.filter((item) => first.has(item)));
    for (const item of items) {
      const existed = (verdicts.get(item.key) ?? 'missing') !== 'missing';
      const createdAt = canonicalTime(item.submission?.createdAt ?? '');
      this.#parts.ledger.sight({ key: item.key, createdAt, existed });
    }
    await this.#conclude(verdicts);
  }

  /** Live rows that the source did not show: those that answer 404 are extra, the others are compared. */
  async lookForExtra(): Promise<void> {
    const { reader, ledger, context, call } = this.#parts;
    if (reader === undefined) return;
    for await (const ids of reader.liveIds()) {
      for (const id of ids.filter((id) => !ledger.has(id))) {
        const item = await submissionOrNull(context.client, id, call);
        if (item === null) this.#extra.add(id);
        else await this.#conclude(await this.#compare([item]));
      }
    }
  }

  found(): Omit<VerifyReport, 'form' | 'target' | 'outcome' | 'requests'> {
    const tally = ({ count, ids }: Tally): Differences => ({ count, ids });
    return {
      compared: this.#parts.ledger.distinct,
      missing: tally(this.#missing),
      extra: tally(this.#extra),
      differing: { ...tally(this.#differing), columns: Object.fromEntries(this.#columns) },
      listed: this.#listed,
    };
  }

  async #compare(items: readonly SubmissionItem[]): Promise<Map<string, Verdict>> {
    const { reader, form, request } = this.#parts;
    const ids = items.flatMap(({ submission }) => (submission === null ? [] : [submission.id]));
    const stored = (await reader?.rows(ids)) ?? new Map();
    const known = (await reader?.fields()) ?? [];
    for (const item of items) {
      for (const id of item.submission?.data.keys() ?? []) this.#strangers.add(id);
    }
    const fields = pickFields(form, request.picks, known, this.#strangers);
    const fieldIds = fields.map((field) => field.id);
    const verdicts = new Map<string, Verdict>();
    for (const { key, submission, defects } of items) {
      if (submission === null) {
        verdicts.set(key, 'listed');
        continue;
      }
      const row = stored.get(submission.id);
      const { row: wanted } = joinRow(submission, defects, fields, request.hashKey);
      const difference = row && compareRow(wanted, row, fieldIds);
      verdicts.set(key, row === undefined ? 'missing' : (difference ?? 'same'));
    }
    return this.#setListedApart(verdicts);
  }

  /** What is listed as rejected was stored as far as possible, or not at all: that it differs is known. */
  #setListedApart(verdicts: Map<string, Verdict>): Map<string, Verdict> {
    for (const [id, verdict] of verdicts) {
      if (!this.#parts.listed.has(id) || verdict === 'same') continue;
      const deleted = typeof verdict === 'object' && verdict.columns.includes('_deleted_at');
      if (!deleted) verdicts.set(id, 'listed');
    }
    return verdicts;
  }

  /** Counts what differs, after a second look on both sides. */
  async #conclude(verdicts: ReadonlyMap<string, Verdict>): Promise<void> {
    for (const [id, verdict] of verdicts) {
      if (verdict === 'same') continue;
      const final = verdict === 'listed' ? verdict : await this.#secondLook(id, verdict);
      if (final === 'missing') this.#missing.add(id);
      else if (final === 'listed') this.#listed++;
      else if (final !== 'same') this.#noteDifference(id, final);
    }
  }

  async #secondLook(id: string, verdict: Verdict): Promise<Verdict> {
    if (this.#secondLooks >= SECOND_LOOKS) return verdict;
    this.#secondLooks++;
    const { context, call } = this.#parts;
    const item = await submissionOrNull(context.client, id, call);
    // Deleted while we read: no longer something to compare.
    if (item === null) return 'same';
    return (await this.#compare([item])).get(id) ?? 'same';
  }

  #noteDifference(id: string, { columns, fieldIds }: RowDifference): void {
    this.#differing.add(id);
    const labels = new Map(this.#parts.form.fields.map((field) => [field.id, field.label]));
    for (const name of [...columns, ...fieldIds.map((fieldId) => labels.get(fieldId) ?? fieldId)]) {
      this.#columns.set(name, (this.#columns.get(name) ?? 0) + 1);
    }
  }
}
