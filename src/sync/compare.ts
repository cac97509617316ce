import type { Clock } from '../base/clock.ts';
import type { Joining } from '../mirror/selection.ts';
import type { ReadForm, StoredRow } from '../mirror/port.ts';
import { BaseProof, Sweep } from '../mirror/proof.ts';
import { differingColumns, Join } from '../mirror/row.ts';
import type { Form, Row, SubmissionItem } from '../mirror/types.ts';
import { createdMsOf, loadProfile, type Profile, queryOf, type Span, WHOLE } from './profile.ts';
import { shownOf } from './read-range.ts';
import { type Source } from '../forms/source.ts';
import { allRows, idsOf, type Target } from './target.ts';

/* Compares a form of the source with its copy, row by row, and writes nothing: for `verify` and a dry run. */

/** A submission that a run would store differently. */
export interface Difference {
  /** `missing`: the target has no row. `marked`: its row is marked deleted, but the source has it. `extra`: the source does not have it. */
  readonly kind: 'missing' | 'changed' | 'marked' | 'extra';
  readonly id: string;
  /** The columns that differ: system columns by name, fields by label. Never a value. */
  readonly columns: readonly string[];
  /** When the source says that it was created; null if that is not known. */
  readonly createdAt: string | null;
}

interface ComparedParts {
  readonly form: Form;
  /** The form in the target; null if the target does not have it. */
  readonly copy: ReadForm | null;
  readonly joining: Joining;
  readonly clock: Clock;
}

/** Compares a whole form. Rejects as source and target do, and if the settings let nothing of it be stored. */
export async function compareForm(target: Target, formId: string, signal: AbortSignal) {
  const { clock, store } = target;
  const startedAtMs = clock.now();
  const source = target.connect(signal);
  const form = await source.form(formId);
  const joining = await target.admit(form, signal, false);
  await using copy = await store.read(formId);
  const comparison = new Comparison({ form, copy, joining, clock });
  /** The source proved that it showed everything. */
  const isProven = await comparison.readAll(target, source);
  /** The copy, with its last run; undefined if the target has none. */
  const stored = (await store.forms(1)).find(({ state }) => state.formId === formId);
  return { source, form, joining, startedAtMs, comparison, isProven, stored };
}

/** A form of the source, compared with its copy in a target. */
export type ComparedForm = Awaited<ReturnType<typeof compareForm>>;

/** A submission dated this long before the reading began existed then, however clocks differ. */
const SURELY_BEFORE_MS = 10 * 60_000;
const MOST_READINGS = 12;

/** Reads a span until a reading proves that it showed everything; null if none does. Compares everything shown. */
async function readProven(
  source: Source,
  profile: Profile,
  formId: string,
  span: Span,
  comparison: Comparison,
): Promise<ReadonlySet<string> | null> {
  const base = new BaseProof([]);
  for (let reading = 0; reading < MOST_READINGS; reading++) {
    const sweep = new Sweep();
    for await (const page of source.pages({ formId, ...queryOf(profile, span) })) {
      const shown = shownOf(page, span);
      sweep.add(shown);
      base.add(shown);
      await comparison.compare(page.items);
    }
    const { verdict } = sweep;
    if (verdict === 'proven') return sweep.seen;
    if (base.isProven) return base.seen;
    if (verdict === 'contradiction' || verdict === 'elsewhere') return null;
  }
  return null;
}

/**
 * Compares submissions with their stored rows. Writes nothing, and trusts no state. If a submission is shown twice, the last one
 * counts. Rejects as source and target do.
 */
export class Comparison {
  /** IDs of submissions of the source that were compared. */
  readonly compared = new Set<string>();
  /** By ID. */
  readonly found = new Map<string, Difference>();
  /** IDs of stored submissions that the source hides or leaves open. */
  readonly undecided = new Set<string>();
  readonly #parts: ComparedParts;
  readonly #atMs: number;
  readonly #join: Join;
  /** IDs of submissions that are listed because of their own content; null until they are read. */
  #listed: ReadonlySet<string> | null = null;

  constructor(parts: ComparedParts) {
    const { form, copy, joining, clock } = parts;
    [this.#parts, this.#atMs] = [parts, clock.now()];
    this.#join = new Join(joining, form, copy?.fields ?? []);
  }

  /**
   * Reads the whole form at the source, by ranges if the source allows that, and compares each answer. Returns whether the source
   * proved that it showed everything.
   */
  async readAll(target: Target, source: Source): Promise<boolean> {
    const { form, copy } = this.#parts;
    const { now: profile } = await loadProfile(target);
    const isDated = queryOf(profile, { fromMs: 0, toMs: null }).dateFrom !== undefined;
    const ranges = isDated ? (copy?.state.ranges ?? []) : [];
    let isProven = true;
    let counted = 0;
    const read = async (span: Span): Promise<void> => {
      const seen = await readProven(source, profile, form.id, span, this);
      if (seen === null) isProven = false;
      else await this.#findExtra(source, span, seen);
      counted += seen?.size ?? 0;
    };
    for (const span of ranges.length > 1 ? ranges : [WHOLE]) await read(span);
    // Submissions without a date are in no range. The form's total shows whether there are any.
    if (ranges.length > 1 && (await source.count({ formId: form.id })) !== counted)
      await read(WHOLE);
    return (
      isProven && (profile.hasForms === true || (await source.areFormsApart(form.id)) !== false)
    );
  }

  async compare(items: readonly SubmissionItem[]): Promise<void> {
    const { form, copy } = this.#parts;
    const join = this.#join;
    if (join.meet(items)) join.prepare(form, copy?.fields ?? []);
    const { fields } = join;
    const rows = new Map<string, Row>();
    for (const item of items) {
      const { row } = join.item(item, this.#atMs);
      if (row !== null) rows.set(row.id, row);
    }
    if (rows.size === 0) return;
    const ids = [...rows.keys()];
    const stored = new Map<string, StoredRow>();
    if (copy !== null)
      for await (const some of allRows(copy, { ids }, true))
        for (const row of some) stored.set(row.id, row);
    const forgotten = (await copy?.forgotten(ids)) ?? new Map<string, string>();
    this.#listed ??= new Set(
      (await copy?.entries(['rejected']))?.flatMap(({ id, blocked }) => (blocked ? [] : [id])),
    );
    const listed = this.#listed;
    for (const row of rows.values()) {
      if (forgotten.has(row.id)) continue;
      this.compared.add(row.id);
      this.found.delete(row.id);
      const before = stored.get(row.id) ?? null;
      // It could not be stored unchanged: its answers may differ, or it has no row.
      if (listed.has(row.id) && (before === null || row.status === before.status)) continue;
      if (before === null) this.#note('missing', row);
      else {
        const columns = differingColumns(row, before, fields);
        const kind = before.deletedAt === null ? 'changed' : 'marked';
        if (columns.length > 0) this.#note(kind, row, columns);
      }
    }
  }

  #note(
    kind: Difference['kind'],
    { id, createdAt }: Pick<Row, 'id' | 'createdAt'>,
    columns: string[] = [],
  ): void {
    this.found.set(id, { kind, id, columns, createdAt });
  }

  /** Asks by ID for the rows that a proven list does not show. */
  async #findExtra(source: Source, span: Span, seen: ReadonlySet<string>): Promise<void> {
    const { copy } = this.#parts;
    const absent = copy === null ? new Set<string>() : await idsOf(copy.rows(span));
    for (const id of seen) absent.delete(id);
    const there: SubmissionItem[] = [];
    await source.byIds(this.#parts.form.id, [...absent], (id, answer) => {
      if (answer.kind === 'gone') return this.#note('extra', { id, createdAt: null });
      // A submission that came while the list was read proves nothing about the list.
      const createdMs = answer.kind === 'there' ? createdMsOf(answer.item) : null;
      if (createdMs === null || createdMs < this.#atMs - SURELY_BEFORE_MS) this.undecided.add(id);
      if (answer.kind === 'there') there.push(answer.item);
    });
    await this.compare(there);
  }
}
