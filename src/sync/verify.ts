import type { Clock } from '../base/clock.ts';
import type { SubmissionItem } from '../forms/client.ts';
import { sameCell } from '../mirror/cells.ts';
import { pickFields, UnlistedFields } from '../mirror/fields.ts';
import { isPicked } from '../mirror/picks.ts';
import type { Form } from '../mirror/types.ts';
import { BaseProof, Sweep } from '../mirror/proof.ts';
import type { OpenForm, Row, StoredRow } from '../mirror/port.ts';
import { createdMsOf, dated, type Profile } from './profile.ts';
import { shownOf } from './read-range.ts';
import type { Joining } from '../mirror/picks.ts';
import { joinItem } from './sink.ts';
import type { Source } from './source.ts';
import { type Span, WHOLE } from './work.ts';

/** Submissions that differ in one way. */
export interface Differing {
  readonly count: number;
  /** The IDs of the first of them. */
  readonly ids: readonly string[];
}

/** What a comparison of all answers found. */
export interface Verification {
  /** `unproven`: the compared submissions are the same, but the source gave no proof that it showed everything. */
  readonly outcome: 'same' | 'different' | 'unproven';
  /** The source proved that it showed everything. */
  readonly isProven: boolean;
  /** All IDs that are missing, extra or changed. */
  readonly differing: ReadonlySet<string>;
  readonly startedAtMs: number;
  readonly compared: number;
  /** At the source, and not in the target. */
  readonly missing: Differing;
  /** In the target, and gone at the source. */
  readonly extra: Differing;
  /** With another status, time or answer. */
  readonly changed: Differing;
  /** Stored, and hidden or left open by the source. */
  readonly undecided: Differing;
  /** Fields and system columns that differ, and in how many submissions. */
  readonly columns: ReadonlyMap<string, number>;
}

/** A submission that a run would store otherwise. `stored`: null where the target has no row. `row`: null where the source has none. */
export interface Difference {
  readonly id: string;
  readonly stored: StoredRow | null;
  readonly row: Row | null;
  /** System columns that differ, and IDs of fields. */
  readonly columns: readonly string[];
  readonly fieldIds: readonly string[];
}

const LISTED = 20;
/** A submission dated so long before the reading began was there then, however clocks differ. */
const SURELY_BEFORE_MS = 10 * 60_000;
const MOST_READINGS = 12;

/** IDs, as found: the first are kept, all are counted. */
class Found {
  readonly #ids = new Set<string>();

  add(id: string): void {
    this.#ids.add(id);
  }

  delete(id: string): void {
    this.#ids.delete(id);
  }

  get all(): ReadonlySet<string> {
    return this.#ids;
  }

  get differing(): Differing {
    return { count: this.#ids.size, ids: [...this.#ids].slice(0, LISTED) };
  }
}

/**
 * Reads everything of a form at the source and compares each answer with the stored one, by ranges where the source allows
 * that. Writes nothing, and trusts no state. `held`: the form in the target; null where it has none. `onDifference` hears
 * of each submission that differs, of one that is shown twice perhaps twice. Rejects as source and target do.
 */
export async function verify(
  source: Source,
  form: Form,
  held: OpenForm | null,
  joining: Joining,
  profile: Profile,
  clock: Clock,
  onDifference: (difference: Difference) => void = () => {},
): Promise<Verification> {
  const startedAtMs = clock.now();
  const comparison = new Comparison(form, held, joining, startedAtMs, onDifference);
  await comparison.open();
  const isDated = dated(profile, 0, null).dateFrom !== undefined;
  const spans: Span[] =
    isDated && held !== null && held.state.ranges.length > 1 ? [...held.state.ranges] : [WHOLE];
  let isProven = true;
  let counted = 0;
  for (const span of spans) {
    const seen = await readProven(source, profile, form.id, span, comparison);
    if (seen === null) isProven = false;
    else {
      counted += seen.size;
      await comparison.findExtra(source, span, seen);
    }
  }
  // Submissions without a date are in no range: the form's total shows whether there are any.
  if (spans.length > 1 && (await source.count({ formId: form.id }))?.total !== counted) {
    const seen = await readProven(source, profile, form.id, WHOLE, comparison);
    if (seen === null) isProven = false;
    else await comparison.findExtra(source, WHOLE, seen);
  }
  return comparison.result(isProven);
}

/** Compares some submissions with their stored rows; see {@link verify}. */
export async function compareItems(
  form: Form,
  held: OpenForm | null,
  joining: Joining,
  nowMs: number,
  items: readonly SubmissionItem[],
  onDifference: (difference: Difference) => void,
): Promise<void> {
  const comparison = new Comparison(form, held, joining, nowMs, onDifference);
  await comparison.open();
  await comparison.compare(items);
}

/** Reads a span until a reading proves that it showed everything; null where none does. All that is shown is compared. */
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
    let met: number | null = null;
    for await (const page of source.pages({ formId, ...dated(profile, span.fromMs, span.toMs) })) {
      const shown = shownOf(page, span);
      sweep.add(shown);
      base.add(shown);
      if (reading > 0 && met !== null && base.met > met) sweep.noteNewcomer();
      met = base.met;
      await comparison.compare(page.items);
    }
    const { verdict } = sweep;
    if (verdict === 'proven') return sweep.seen;
    if (base.isProven) return base.seen;
    if (verdict === 'contradiction' || verdict === 'elsewhere') return null;
  }
  return null;
}

/** What of a row is not stored so: system columns, and IDs of fields. */
export function differencesOf(
  row: Row,
  stored: StoredRow,
  fieldIds: Iterable<string>,
): { readonly system: string[]; readonly others: string[] } {
  return {
    system: [
      ...(row.status === stored.status ? [] : ['status']),
      ...(row.createdAt === stored.createdAt ? [] : ['created_at']),
    ],
    others: [...fieldIds].filter(
      (id) => !sameCell(stored.cells.get(id) ?? null, row.cells.get(id) ?? null),
    ),
  };
}

class Comparison {
  readonly #form: Form;
  readonly #held: OpenForm | null;
  readonly #joining: Joining;
  readonly #atMs: number;
  readonly #onDifference: (difference: Difference) => void;
  readonly #unlisted: UnlistedFields;
  readonly #compared = new Set<string>();
  readonly #missing = new Found();
  readonly #extra = new Found();
  readonly #changed = new Found();
  readonly #undecided = new Found();
  readonly #columns = new Map<string, Set<string>>();
  readonly #listed = new Set<string>();

  constructor(
    form: Form,
    held: OpenForm | null,
    joining: Joining,
    atMs: number,
    onDifference: (difference: Difference) => void,
  ) {
    [this.#form, this.#held, this.#joining, this.#atMs] = [form, held, joining, atMs];
    this.#onDifference = onDifference;
    this.#unlisted = new UnlistedFields((id) => isPicked(joining.picks, form, id));
  }

  async open(): Promise<void> {
    const known = this.#held?.fields ?? [];
    this.#unlisted.know(
      this.#form.fields.map(({ id }) => id),
      known.map(({ id }) => id),
    );
    if (this.#held === null) return;
    // Listed, because it could not be stored unchanged: it may differ.
    for await (const entries of this.#held.entries('rejected'))
      for (const { id } of entries) this.#listed.add(id);
  }

  async compare(items: readonly SubmissionItem[]): Promise<void> {
    for (const { submission } of items)
      if (submission !== null) this.#unlisted.meet(submission.data);
    const fields = pickFields(
      this.#form,
      this.#joining.picks,
      this.#held?.fields ?? [],
      this.#unlisted.ids,
    );
    const rows = new Map<string, Row>();
    for (const item of items) {
      const { row } = joinItem(item, fields, this.#joining, this.#unlisted, this.#atMs);
      if (row !== null) rows.set(row.id, row);
    }
    const ids = [...rows.keys()];
    const stored = new Map<string, StoredRow>();
    if (this.#held !== null && ids.length > 0)
      for await (const batch of this.#held.rows({ ids }, true))
        for (const each of batch) stored.set(each.id, each);
    const forgotten = (await this.#held?.forgotten(ids)) ?? new Map<string, string>();
    const fieldIds = fields.map(({ id }) => id);
    const former = await this.#formerRows(ids.filter((id) => !stored.has(id)));
    for (const row of rows.values()) {
      if (forgotten.has(row.id)) continue;
      this.#compared.add(row.id);
      this.#extra.delete(row.id);
      this.#compareRow(row, stored.get(row.id) ?? former.get(row.id), fieldIds);
    }
  }

  /** Rows that are marked deleted. */
  async #formerRows(ids: readonly string[]): Promise<Map<string, StoredRow>> {
    const former = new Map<string, StoredRow>();
    if (this.#held === null || ids.length === 0) return former;
    for await (const batch of this.#held.rows({ ids, isDeleted: true }, true))
      for (const each of batch) former.set(each.id, each);
    return former;
  }

  #compareRow(row: Row, stored: StoredRow | undefined, fieldIds: readonly string[]): void {
    for (const ids of this.#columns.values()) ids.delete(row.id);
    this.#changed.delete(row.id);
    this.#missing.delete(row.id);
    // Its answers may differ, or it has no row.
    if (this.#listed.has(row.id) && (stored === undefined || row.status === stored.status)) return;
    if (stored === undefined) {
      this.#missing.add(row.id);
      this.#onDifference({ id: row.id, stored: null, row, columns: [], fieldIds: [] });
      return;
    }
    const { system, others } = differencesOf(row, stored, fieldIds);
    const columns = [...system, ...others];
    if (stored.deletedAt !== null) {
      this.#missing.add(row.id);
      this.#onDifference({ id: row.id, stored, row, columns: system, fieldIds: others });
      return;
    }
    if (columns.length > 0) {
      this.#changed.add(row.id);
      this.#onDifference({ id: row.id, stored, row, columns: system, fieldIds: others });
    }
    for (const column of columns)
      this.#columns.set(column, (this.#columns.get(column) ?? new Set()).add(row.id));
  }

  /** Rows that a proven list does not show: asked for by ID. */
  async findExtra(source: Source, span: Span, seen: ReadonlySet<string>): Promise<void> {
    if (this.#held === null) return;
    const absent: string[] = [];
    for await (const rows of this.#held.rows(span))
      absent.push(...rows.flatMap(({ id }) => (seen.has(id) ? [] : [id])));
    const there: SubmissionItem[] = [];
    await source.byIds(absent, (id, answer) => {
      if (answer.kind === 'gone') {
        this.#extra.add(id);
        this.#onDifference({ id, stored: null, row: null, columns: [], fieldIds: [] });
      } else {
        // One that came while the list was read proves nothing of the list.
        const createdMs = answer.kind === 'there' ? createdMsOf(answer.item) : null;
        if (createdMs === null || createdMs < this.#atMs - SURELY_BEFORE_MS)
          this.#undecided.add(id);
        if (answer.kind === 'there') there.push(answer.item);
      }
    });
    await this.compare(there);
  }

  result(isProven: boolean): Verification {
    const isSame = [this.#missing, this.#extra, this.#changed].every(({ all }) => all.size === 0);
    const isKnown = isProven && this.#undecided.all.size === 0;
    return {
      outcome: isSame ? (isKnown ? 'same' : 'unproven') : 'different',
      isProven,
      differing: new Set([...this.#missing.all, ...this.#extra.all, ...this.#changed.all]),
      startedAtMs: this.#atMs,
      compared: this.#compared.size,
      missing: this.#missing.differing,
      extra: this.#extra.differing,
      changed: this.#changed.differing,
      undecided: this.#undecided.differing,
      columns: new Map(
        [...this.#columns].flatMap(([column, ids]) => (ids.size > 0 ? [[column, ids.size]] : [])),
      ),
    };
  }
}
