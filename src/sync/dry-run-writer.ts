import { compareRow } from '../mirror/changes.ts';
import { IdSet } from '../mirror/id-set.ts';
import type { FormReader, FormWriter, RowOutcome } from '../mirror/target.ts';
import type { PickedField, Row } from '../mirror/types.ts';

/** A writer that compares and counts as a real one would, and writes nothing. `reader`: undefined for a form never mirrored. */
export function dryRunWriter(reader: FormReader | undefined): FormWriter {
  return new DryRunWriter(reader);
}

class DryRunWriter implements FormWriter {
  readonly #reader: FormReader | undefined;
  /** What a real writer would have stored by now: a row met again on another page is not new a second time. */
  readonly #met = new IdSet();
  #fieldIds: string[] = [];

  constructor(reader: FormReader | undefined) {
    this.#reader = reader;
  }

  checkpoint: FormReader['checkpoint'] = async () => this.#reader?.checkpoint();
  fields: FormReader['fields'] = async () => (await this.#reader?.fields()) ?? [];
  rows: FormReader['rows'] = async (ids) => (await this.#reader?.rows(ids)) ?? new Map();
  confirm: FormReader['confirm'] = async (ids) => (await this.#reader?.confirm(ids)) ?? new Set();
  refusals: FormReader['refusals'] = async (id) => (await this.#reader?.refusals(id)) ?? [];
  passes: FormReader['passes'] = async (limit) => (await this.#reader?.passes(limit)) ?? [];
  rejections: FormReader['rejections'] = async (limit) =>
    (await this.#reader?.rejections(limit)) ?? { total: 0, items: [] };

  async *liveIds(): AsyncIterable<string[]> {
    if (this.#reader) yield* this.#reader.liveIds();
  }

  async *markCandidates(statuses: readonly string[]): AsyncIterable<string[]> {
    if (this.#reader) yield* this.#reader.markCandidates(statuses);
  }

  prepare: FormWriter['prepare'] = async (fields: readonly PickedField[]) => {
    this.#fieldIds = fields.map((field) => field.id);
    const stored = new Map((await this.fields()).map((field) => [field.id, field]));
    const added = fields.filter((field) => !stored.has(field.id)).map((field) => field.label);
    const relabelled = fields.flatMap((field) => {
      const from = stored.get(field.id)?.label ?? field.label;
      return from === field.label ? [] : [{ from, to: field.label }];
    });
    return { added, relabelled, removed: [] };
  };

  apply: FormWriter['apply'] = async (rows) => {
    const stored = await this.rows(rows.map((row) => row.id));
    const outcomeOf = (row: Row): RowOutcome => {
      if (!this.#met.add(row.id)) return 'unchanged';
      const old = stored.get(row.id);
      if (old === undefined) return 'inserted';
      if (old.deletedAt !== null) return 'restored';
      return compareRow(row, old, this.#fieldIds) === undefined ? 'unchanged' : 'updated';
    };
    return { outcomes: rows.map(outcomeOf), rejections: [], newRejections: 0 };
  };

  markDeleted: FormWriter['markDeleted'] = async (ids) => ids.length;
  setStatuses: FormWriter['setStatuses'] = async () => {};
  recordRefusals: FormWriter['recordRefusals'] = async () => {};
  finish: FormWriter['finish'] = async () => {};
  async [Symbol.asyncDispose](): Promise<void> {}
}
