import type {
  FormReader,
  ListedRejection,
  Refusal,
  StoredField,
  StoredRow,
} from '../../mirror/target.ts';
import type { Checkpoint, PassRecord } from '../../mirror/types.ts';
import { loadForm } from './catalogue.ts';
import type { SqlDialect } from './dialect.ts';
import type { FormTable } from './field-column.ts';
import { readCheckpoints, readPasses } from './pass-history.ts';
import { readRefusals } from './refused-marks.ts';
import { readRejections } from './rejected-rows.ts';
import { translateError } from './sql-errors.ts';
import { quoted, type SqlSession, type SqlValue, textOf } from './sql-session.ts';
import { isStorableId } from './storable-rows.ts';

/** IDs in one chunk of `liveIds` and `markCandidates`. */
const IDS_A_CHUNK = 5_000;

/** What reading one form takes. */
export interface FormContext {
  readonly formId: string;
  readonly dialect: SqlDialect;
  /** Sees committed state only. */
  readonly session: () => Promise<SqlSession>;
  /** The target, for messages. */
  readonly place: string;
}

/** {@link FormReader} over SQL. */
export class SqlFormReader implements FormReader {
  readonly context: FormContext;

  constructor(context: FormContext) {
    this.context = context;
  }

  async checkpoint(): Promise<Checkpoint | undefined> {
    const { dialect, formId } = this.context;
    return this.guarded(async (session) => {
      const checkpoints = await readCheckpoints(session, dialect, formId);
      return checkpoints.get(formId);
    });
  }

  async fields(): Promise<StoredField[]> {
    const { dialect, formId } = this.context;
    const form = await this.guarded((session) => loadForm(session, dialect, formId));
    return (form?.fields ?? []).map(({ id, label, position, column, removedAt }) => {
      return { id, label, position, column, removedAt };
    });
  }

  async rows(ids: readonly string[]): Promise<Map<string, StoredRow>> {
    return this.guarded(async (session) => {
      const form = await this.#table(session);
      return form === undefined ? new Map() : this.#readRows(session, form, ids);
    });
  }

  async confirm(ids: readonly string[]): Promise<Set<string>> {
    const { dialect, formId } = this.context;
    return this.guarded(async (session) => {
      const form = await this.#table(session);
      if (form === undefined) return new Set();
      const rows = await session.query(
        `SELECT id FROM ${dialect.relation(form.table)} AS t
         WHERE ${dialect.isIn('id', '$1')} AND _deleted_at IS NULL AND NOT ${this.#isRejected('$2')}`,
        [dialect.list(ids.filter(isStorableId)), formId],
      );
      return new Set(rows.map((row) => textOf(row, 'id')));
    });
  }

  liveIds(): AsyncIterable<string[]> {
    return this.#idChunks('_deleted_at IS NULL', []);
  }

  async *markCandidates(statuses: readonly string[]): AsyncIterable<string[]> {
    const { dialect, formId } = this.context;
    const refusals = dialect.relation('mirror_refusals');
    // One status at a time: then the index on status and ID gives the rows in order.
    for (const status of new Set(statuses)) {
      yield* this.#idChunks(
        `status = $1 AND _deleted_at IS NULL AND NOT ${this.#isRejected('$2')} AND NOT EXISTS (
           SELECT 1 FROM ${refusals} AS f WHERE f.form_id = $2 AND f.submission_id = t.id AND f.status = t.status)`,
        [status, formId],
      );
    }
  }

  async rejections(limit: number): Promise<{ total: number; items: ListedRejection[] }> {
    const { dialect, formId } = this.context;
    return this.guarded((session) => readRejections(session, dialect, formId, limit));
  }

  async refusals(submissionId: string): Promise<Refusal[]> {
    const { dialect, formId } = this.context;
    if (!isStorableId(submissionId)) return [];
    return this.guarded((session) => readRefusals(session, dialect, formId, submissionId));
  }

  async passes(limit: number): Promise<PassRecord[]> {
    const { dialect, formId } = this.context;
    return this.guarded((session) => readPasses(session, dialect, formId, limit));
  }

  /** Runs `read` with the driver's errors translated. */
  protected async guarded<T>(read: (session: SqlSession) => Promise<T>): Promise<T> {
    const { dialect, place, session } = this.context;
    try {
      return await read(await session());
    } catch (error) {
      throw translateError(error, dialect.explain, place);
    }
  }

  /** The form's table as it is; undefined when there is none, because nothing was written yet or somebody dropped it. */
  async #table(session: SqlSession): Promise<FormTable | undefined> {
    const { dialect, formId } = this.context;
    const form = await loadForm(session, dialect, formId);
    if (form === undefined) return undefined;
    return (await dialect.columnsOf(session, form.table)) === undefined ? undefined : form;
  }

  #isRejected(formParameter: string): string {
    const rejected = this.context.dialect.relation('mirror_rejected');
    return `EXISTS (SELECT 1 FROM ${rejected} AS r WHERE r.form_id = ${formParameter} AND r.submission_id = t.id)`;
  }

  async #readRows(
    session: SqlSession,
    form: FormTable,
    ids: readonly string[],
  ): Promise<Map<string, StoredRow>> {
    const { dialect } = this.context;
    const cells = dialect.cellColumns(form.fields);
    const columns = [
      'id',
      'status',
      dialect.timeText('created_at'),
      dialect.timeText('_deleted_at'),
      ...cells,
    ];
    const rows = await session.queryArrays(
      `SELECT ${columns.join(', ')} FROM ${dialect.relation(form.table)} WHERE ${dialect.isIn('id', '$1')}`,
      [dialect.list(ids.filter(isStorableId))],
    );
    return new Map(
      rows.map(([id, status, createdAt, deletedAt, ...values]) => {
        const decoded = dialect.decodeCells(form.fields, values);
        const row: StoredRow = {
          id: String(id),
          status: String(status),
          createdAt: dialect.time(createdAt),
          deletedAt: dialect.time(deletedAt),
          cells: new Map(form.fields.map((field, index) => [field.id, decoded[index] ?? null])),
        };
        return [row.id, row];
      }),
    );
  }

  /** IDs of the rows that fulfil `condition`, by key, so that memory and time per chunk are bounded (L14). */
  async *#idChunks(condition: string, params: readonly SqlValue[]): AsyncIterable<string[]> {
    const { dialect } = this.context;
    const form = await this.guarded((session) => this.#table(session));
    if (form === undefined) return;
    let after: string | undefined;
    for (;;) {
      const from = after;
      const rows = await this.guarded((session) =>
        session.query(
          `SELECT id FROM ${dialect.relation(form.table)} AS t WHERE ${condition}
             ${from === undefined ? '' : `AND ${quoted('id')} > $${params.length + 1}`}
           ORDER BY id LIMIT ${IDS_A_CHUNK}`,
          from === undefined ? params : [...params, from],
        ),
      );
      const ids = rows.map((row) => textOf(row, 'id'));
      if (ids.length > 0) yield ids;
      after = ids.at(-1);
      if (ids.length < IDS_A_CHUNK || after === undefined) return;
    }
  }
}
