import type { SubmissionItem } from '../forms/client.ts';
import { compareRow, type RowDifference } from '../mirror/changes.ts';
import { pickFields } from '../mirror/label-map.ts';
import { type FieldPicks, isPicked } from '../mirror/picks.ts';
import { joinRow } from '../mirror/row.ts';
import type { CopyReader, Copy } from '../mirror/copy.ts';
import type { StoredRow } from '../mirror/target.ts';
import type { Form, PickedField, Row } from '../mirror/types.ts';
import { UnlistedFields } from '../mirror/unlisted-fields.ts';
import { plainFields } from './hash-unseen-rows.ts';

/** How many listed rejections are read, newest first. */
const MOST_LISTED = 10_000;

/**
 * How one submission compares with its row; `listed`: it is listed as rejected, so it may differ; `forgotten`: it has none,
 * because a person asked for that (L18).
 */
export type RowResult = 'same' | 'missing' | 'listed' | 'forgotten' | StoredDifference;

/** How a stored row differs. */
export interface StoredDifference extends RowDifference {
  /** Whether it holds a plain answer where a hash belongs. */
  readonly isPlain: boolean;
}

/** What is compared with what. */
export interface ComparerOptions {
  readonly target: Copy;
  readonly form: Form;
  readonly picks: FieldPicks;
  readonly hashKey: string | undefined;
}

/** Compares submissions as the source shows them with rows as the target holds them, trusting no checkpoint and no hash. */
export class RowComparer {
  readonly #options: ComparerOptions;
  readonly #unlisted: UnlistedFields;
  #reader: CopyReader | undefined;
  #listed: ReadonlySet<string> = new Set();
  /** Those of which no row was stored. */
  #unstored: ReadonlySet<string> = new Set();

  constructor(options: ComparerOptions) {
    this.#options = options;
    const { picks, form } = options;
    this.#unlisted = new UnlistedFields((id) => isPicked(picks, form, id));
  }

  /** Looks at the target afresh: what was read of it before may be old. Undefined: the form was never mirrored there. */
  async open(): Promise<CopyReader | undefined> {
    this.#reader = await this.#options.target.reader(this.#options.form.id);
    const rejections = (await this.#reader?.rejections(MOST_LISTED))?.items ?? [];
    this.#listed = new Set(rejections.map(({ submissionId }) => submissionId));
    const unstored = rejections.filter(({ stored }) => !stored);
    this.#unstored = new Set(unstored.map(({ submissionId }) => submissionId));
    return this.#reader;
  }

  /** Whether the target lists a submission as one that could not be stored, or not unchanged, or asked for. */
  isListed(id: string): boolean {
    return this.#listed.has(id);
  }

  /** By key, for at most `batchRows` submissions. */
  async compare(items: readonly SubmissionItem[]): Promise<Map<string, RowResult>> {
    const ids = items.flatMap(({ submission }) => (submission === null ? [] : [submission.id]));
    const stored = (await this.#reader?.rows(ids)) ?? new Map();
    const fields = await this.#fieldsOf(items);
    const results = new Map<string, RowResult>();
    for (const { key, submission, defects } of items) {
      if (submission === null) {
        results.set(key, 'listed');
        continue;
      }
      const row = stored.get(submission.id);
      const { row: wanted } = joinRow(submission, defects, fields, this.#options.hashKey);
      const result = row === undefined ? 'missing' : differenceOf(wanted, row, fields);
      results.set(key, this.#mayDiffer(key, result) ? 'listed' : result);
    }
    return this.#withForgotten(results);
  }

  /** Of these IDs those whose row is there and not marked deleted. At most `batchRows`. */
  async live(ids: readonly string[]): Promise<Set<string>> {
    const stored = (await this.#reader?.rows(ids)) ?? new Map();
    return new Set(ids.filter((id) => stored.get(id)?.deletedAt === null));
  }

  /** The status of a row; null when there is none. */
  async storedStatus(id: string): Promise<string | null> {
    return (await this.#reader?.rows([id]))?.get(id)?.status ?? null;
  }

  /** Whether two looks at one submission would make different rows. */
  async changed(before: SubmissionItem, after: SubmissionItem): Promise<boolean> {
    if (before.submission === null || after.submission === null) return false;
    const fields = await this.#fieldsOf([before, after]);
    const { hashKey } = this.#options;
    const was = joinRow(before.submission, before.defects, fields, hashKey).row;
    const is = joinRow(after.submission, after.defects, fields, hashKey).row;
    const fieldIds = fields.map((field) => field.id);
    return compareRow(is, { ...was, deletedAt: null }, fieldIds) !== undefined;
  }

  /** Of the rows with these IDs those that hold a plain answer where a hash belongs. At most `batchRows`. */
  async plain(ids: readonly string[]): Promise<string[]> {
    const hashed = hashedIds(await this.#fieldsOf([]));
    if (hashed.length === 0) return [];
    const stored = (await this.#reader?.rows(ids)) ?? new Map<string, StoredRow>();
    return [...stored.values()]
      .filter((row) => plainFields(row, hashed).length > 0)
      .map(({ id }) => id);
  }

  async #fieldsOf(items: readonly SubmissionItem[]): Promise<PickedField[]> {
    const known = (await this.#reader?.fields()) ?? [];
    const { form, picks } = this.#options;
    this.#unlisted.know(
      form.fields.map(({ id }) => id),
      known.map(({ id }) => id),
    );
    for (const { submission } of items) {
      if (submission !== null) this.#unlisted.meet(submission.data);
    }
    return pickFields(form, picks, known, this.#unlisted.ids);
  }

  /** What is missing, or could not be stored, may have been forgotten. */
  async #withForgotten(results: Map<string, RowResult>): Promise<Map<string, RowResult>> {
    const without = [...results].filter(
      ([, result]) => result === 'missing' || result === 'listed',
    );
    if (without.length === 0) return results;
    const forgotten = await this.#reader?.forgotten(without.map(([key]) => key));
    for (const key of forgotten?.keys() ?? []) results.set(key, 'forgotten');
    return results;
  }

  /** A rejected submission was stored as far as possible, or not at all: that it differs, or has no row, is known. */
  #mayDiffer(id: string, result: RowResult): boolean {
    if (result === 'missing') return this.#unstored.has(id);
    if (!this.isListed(id) || result === 'same') return false;
    return typeof result !== 'object' || !result.columns.includes('_deleted_at');
  }
}

function differenceOf(
  wanted: Row,
  row: StoredRow,
  fields: readonly PickedField[],
): 'same' | StoredDifference {
  const fieldIds = fields.map((field) => field.id);
  const difference = compareRow(wanted, row, fieldIds);
  if (difference === undefined) return 'same';
  return { ...difference, isPlain: plainFields(row, hashedIds(fields)).length > 0 };
}

const hashedIds = (fields: readonly PickedField[]): string[] =>
  fields.filter(({ hashed }) => hashed).map(({ id }) => id);
