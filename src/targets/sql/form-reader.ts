import type { RowsAsStored } from '../../mirror/as-stored.ts';
import type { Loss } from '../../mirror/losses.ts';
import type { TargetNotice } from '../../mirror/notices.ts';
import type { Traces } from '../../mirror/erasure.ts';
import type { MarkingRecord } from '../../mirror/marking-record.ts';
import type {
  FormReader,
  ListedRejection,
  RecentRefusals,
  Refusal,
  StoredField,
  StoredRow,
} from '../../mirror/target.ts';
import { NO_COUNTS, type StatusCounts } from '../../mirror/status-counts.ts';
import type { TimeCount, TimeGrain, TimeSpan } from '../../mirror/time-counts.ts';
import type { Checkpoint, PassRecord, Row } from '../../mirror/types.ts';
import type { WindowRecord } from '../../mirror/window.ts';
import { answerReader } from './answer-parts.ts';
import { heldVersions, tablesOfVersions } from './row-history.ts';
import { rowsAsStored } from './as-stored.ts';
import { besideNotices } from './beside-notice.ts';
import { listForms, loadForm } from './catalogue.ts';
import {
  type CountedTable,
  countDates,
  countStatuses,
  type DatedId,
  isDated,
  readDatedIds,
} from './date-counts.ts';
import type { SqlDialect } from './dialect.ts';
import type { FormTable } from './field-column.ts';
import { hasSecondName, leftViewNotices } from './left-view.ts';
import { countFilled } from './emptied-fields.ts';
import { countDeleted, countTraces } from './erasure.ts';
import { readForgotten } from './forgotten.ts';
import { readWindows } from './form-windows.ts';
import { findLosses } from './losses.ts';
import { readCheckpoints, readPasses } from './pass-records.ts';
import { IS_REFUSAL, readMarkings, readRefusals, readTriedBefore } from './refused-marks.ts';
import { readRejections } from './rejected-rows.ts';
import { translateError } from './sql-errors.ts';
import { numberOf, quoted, type SqlSession, type SqlValue, textOf } from './sql-session.ts';
import { cleanText, isStorableId } from './row-batch.ts';
import { standingOf } from './table-standing.ts';
import { viewFailureNotices } from './view-failures.ts';

/** IDs in one chunk of `liveIds` and `markCandidates`. */
const IDS_A_CHUNK = 5_000;

/** One form in one database. */
export interface FormContext {
  readonly formId: string;
  readonly dialect: SqlDialect;
  /** Sees committed state only. */
  readonly session: () => Promise<SqlSession>;
  /** The target, for messages. */
  readonly place: string;
}

/** A form's table and the columns that are in it. */
interface HeldTable {
  readonly form: FormTable;
  readonly present: ReadonlySet<string>;
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
      const checkpoints = await readCheckpoints({ session, dialect }, formId);
      return checkpoints.get(formId);
    });
  }

  async windows(): Promise<readonly WindowRecord[]> {
    const { dialect, formId } = this.context;
    return this.guarded((session) => readWindows({ session, dialect }, formId));
  }

  async losses(): Promise<readonly Loss[]> {
    const { dialect, formId } = this.context;
    const found = await this.guarded((session) => findLosses({ session, dialect }, formId));
    return found.losses;
  }

  async notices(): Promise<readonly TargetNotice[]> {
    return this.allNotices((session) => viewFailureNotices(session, this.context.dialect));
  }

  /** `failed`: tells of views that could not be made. */
  protected async allNotices(
    failed: (session: SqlSession) => Promise<(formId: string) => TargetNotice[]>,
  ): Promise<readonly TargetNotice[]> {
    const { dialect, formId } = this.context;
    return this.guarded(async (session) => {
      const own = await loadForm(session, dialect, formId);
      if (own === undefined) return [];
      const beside = besideNotices(dialect, own, own.fields);
      const behind = (await failed(session))(formId);
      if (!hasSecondName(own.view)) return [...behind, ...beside];
      const views = (await listForms(session, dialect)).map(({ view }) => view);
      const left = (await leftViewNotices(session, dialect, views)).get(own.view) ?? [];
      return [...left, ...behind, ...beside];
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
      const held = await this.#table(session);
      return held === undefined ? new Map() : this.#readRows(session, held, ids);
    });
  }

  async asStored(rows: readonly Row[], fieldIds: readonly string[]): Promise<RowsAsStored> {
    const { dialect, formId } = this.context;
    const form = await this.guarded((session) => loadForm(session, dialect, formId));
    return rowsAsStored(dialect, form?.fields ?? [], rows, fieldIds);
  }

  async confirm(ids: readonly string[]): Promise<Set<string>> {
    const { dialect, formId } = this.context;
    return this.guarded(async (session) => {
      const held = await this.#table(session);
      // Without its column nothing says which rows are deleted.
      if (!held?.present.has('_deleted_at')) return new Set();
      const rows = await session.query(
        `SELECT id FROM ${dialect.relation(held.form.table)} AS t
         WHERE ${dialect.isIn('id', '$1')} AND _deleted_at IS NULL AND NOT ${this.#isRejected('$2')}`,
        [dialect.list(ids.filter((id) => isStorableId(id, dialect))), formId],
      );
      return new Set(rows.map((row) => textOf(row, 'id')));
    });
  }

  liveIds(): AsyncIterable<string[]> {
    return this.#idChunks(
      (present) => (present.has('_deleted_at') ? '_deleted_at IS NULL' : '1 = 1'),
      [],
    );
  }

  deletedIds(): AsyncIterable<string[]> {
    return this.#idChunks(
      (present) => (present.has('_deleted_at') ? '_deleted_at IS NOT NULL' : '1 = 0'),
      [],
    );
  }

  async *liveIdsWithin(span: TimeSpan, status?: string): AsyncIterable<string[]> {
    const { dialect } = this.context;
    let after: DatedId | undefined;
    do {
      const query = { span, status: status && cleanText(status), after, limit: IDS_A_CHUNK };
      const rows = await this.#counted(
        (session, table) => readDatedIds(session, dialect, table, query),
        [],
      );
      if (rows.length > 0) yield rows.filter(isDated).map(({ id }) => id);
      after = rows.length < IDS_A_CHUNK ? undefined : rows.at(-1);
    } while (after !== undefined);
  }

  async statusCounts(): Promise<StatusCounts> {
    const { dialect } = this.context;
    return this.#counted((session, table) => countStatuses(session, dialect, table), NO_COUNTS);
  }

  async timeCounts(span: TimeSpan, grain: TimeGrain): Promise<readonly TimeCount[]> {
    const { dialect } = this.context;
    return this.#counted(
      (session, table) => countDates(session, dialect, table, { span, grain }),
      [],
    );
  }

  async *markCandidates(
    statuses: readonly string[],
    { wanted, since }: RecentRefusals,
  ): AsyncIterable<string[]> {
    const { dialect, formId } = this.context;
    const refusals = dialect.relation('mirror_refusals');
    // One status at a time: then the index on status and ID gives the rows in order.
    for (const status of new Set(statuses)) {
      const condition = `_deleted_at IS NULL AND status = $1 AND NOT ${this.#isRejected('$2')} AND NOT EXISTS (
           SELECT 1 FROM ${refusals} AS f WHERE f.form_id = $2 AND f.submission_id = t.id AND f.status = t.status
             AND f.wanted = $3 AND f.refused_at >= $4 AND f.${IS_REFUSAL})`;
      yield* this.#idChunks(
        (present) => (present.has('status') && present.has('_deleted_at') ? condition : '1 = 0'),
        [status, formId, cleanText(wanted), dialect.timeValue(since)],
      );
    }
  }

  async countRefused({ wanted, since }: RecentRefusals): Promise<number> {
    const { dialect, formId } = this.context;
    return this.guarded(async (session) => {
      const held = await this.#table(session);
      if (!held?.present.has('status') || !held.present.has('_deleted_at')) return 0;
      const [row] = await session.query(
        `SELECT count(*) AS refused FROM ${dialect.relation('mirror_refusals')} AS f
         JOIN ${dialect.relation(held.form.table)} AS t ON t.id = f.submission_id AND t.status = f.status
         WHERE f.form_id = $1 AND f.wanted = $2 AND f.refused_at >= $3 AND f.${IS_REFUSAL}
           AND t._deleted_at IS NULL`,
        [formId, cleanText(wanted), dialect.timeValue(since)],
      );
      return row === undefined ? 0 : numberOf(row, 'refused');
    });
  }

  async triedBefore(ids: readonly string[], wanted: string): Promise<Set<string>> {
    const { dialect, formId } = this.context;
    const storable = ids.filter((id) => isStorableId(id, dialect));
    return this.guarded((session) =>
      readTriedBefore(session, dialect, { formId, ids: storable, wanted }),
    );
  }

  async marking(): Promise<MarkingRecord | null> {
    const { dialect, formId } = this.context;
    return this.guarded(async (session) => {
      const markings = await readMarkings({ session, dialect });
      return markings.get(formId) ?? null;
    });
  }

  async rejections(limit: number): Promise<{ total: number; items: ListedRejection[] }> {
    const { dialect, formId } = this.context;
    return this.guarded((session) => readRejections(session, dialect, formId, limit));
  }

  async refusals(submissionId: string): Promise<Refusal[]> {
    const { dialect, formId } = this.context;
    if (!isStorableId(submissionId, dialect)) return [];
    return this.guarded((session) => readRefusals(session, dialect, formId, submissionId));
  }

  async forgotten(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { dialect, formId } = this.context;
    return this.guarded((session) => readForgotten({ session, dialect }, formId, ids));
  }

  async traces(ids: readonly string[]): Promise<Traces> {
    const { dialect, formId } = this.context;
    return this.guarded(async (session) => {
      const table = (await this.#table(session))?.form.table;
      const form = await loadForm(session, dialect, formId);
      const { tables: versions } = await tablesOfVersions(session, dialect, form);
      const place = { formId, table, versions };
      return countTraces({ session, dialect }, place, ids);
    });
  }

  async countDeleted(before: string): Promise<number> {
    return this.guarded(async (session) => {
      const held = await this.#table(session);
      if (!held?.present.has('_deleted_at')) return 0;
      const { dialect } = this.context;
      const { history, table } = held.form;
      const versions = history ? (await heldVersions(session, dialect, history))?.table : undefined;
      return countDeleted(session, dialect, { table, versions }, before);
    });
  }

  async countFilled(fieldIds: readonly string[]): Promise<number> {
    return this.guarded(async (session) => {
      const held = await this.#table(session);
      if (held === undefined) return 0;
      const { form, present } = held;
      const fields = form.fields.filter(({ id }) => fieldIds.includes(id));
      const filled = await countFilled(session, this.context.dialect, form, fields, present);
      return filled.rows + filled.versions;
    });
  }

  async passes(limit: number): Promise<PassRecord[]> {
    const { dialect, formId } = this.context;
    return this.guarded((session) => readPasses({ session, dialect }, formId, limit));
  }

  /** Runs `read`; rejects with MirrorErrors only. */
  protected async guarded<T>(read: (session: SqlSession) => Promise<T>): Promise<T> {
    const { dialect, place, session } = this.context;
    try {
      return await read(await session());
    } catch (error) {
      throw translateError(error, dialect.describeError, place);
    }
  }

  /** The form's table as it is; undefined when there is none, because nothing was written yet or it was dropped. */
  async #table(session: SqlSession): Promise<HeldTable | undefined> {
    const { dialect, formId } = this.context;
    const form = await loadForm(session, dialect, formId);
    if (form === undefined) return undefined;
    const present = await dialect.columnsOf(session, form.table);
    if (present === undefined || standingOf(present) !== 'ours') return undefined;
    return { form, present: new Set(present) };
  }

  /** Counts in the form's table; `none` where there is none. */
  async #counted<T>(
    count: (session: SqlSession, table: CountedTable) => Promise<T>,
    none: T,
  ): Promise<T> {
    return this.guarded(async (session) => {
      const held = await this.#table(session);
      if (held === undefined) return none;
      return count(session, { table: held.form.table, present: held.present });
    });
  }

  #isRejected(formParameter: string): string {
    const rejected = this.context.dialect.relation('mirror_rejected');
    return `EXISTS (SELECT 1 FROM ${rejected} AS r WHERE r.form_id = ${formParameter} AND r.submission_id = t.id)`;
  }

  /** A cell whose column was dropped is empty, as it will be when the column is created again. */
  async #readRows(
    session: SqlSession,
    { form, present }: HeldTable,
    ids: readonly string[],
  ): Promise<Map<string, StoredRow>> {
    const { dialect } = this.context;
    const answers = answerReader(form.fields, present, dialect);
    const orNull = (column: string, expression = column): string =>
      present.has(column) ? expression : 'NULL';
    const columns = [
      'id',
      orNull('status'),
      orNull('created_at', dialect.timeText('created_at')),
      orNull('_deleted_at', dialect.timeText('_deleted_at')),
      ...answers.columns,
    ];
    const rows = await session.queryArrays(
      `SELECT ${columns.join(', ')} FROM ${dialect.relation(form.table)} WHERE ${dialect.isIn('id', '$1')}`,
      [dialect.list(ids.filter((id) => isStorableId(id, dialect)))],
    );
    return new Map(
      rows.map(([id, status, createdAt, deletedAt, ...values]) => {
        const cells = answers.decode(values);
        const row: StoredRow = {
          id: String(id),
          status: typeof status === 'string' ? status : '',
          createdAt: dialect.time(createdAt),
          deletedAt: dialect.time(deletedAt),
          cells: new Map(form.fields.map((field, index) => [field.id, cells[index] ?? null])),
        };
        return [row.id, row];
      }),
    );
  }

  /** IDs of the rows that satisfy `condition`, paged by key: memory and time per chunk are bounded (L14). */
  async *#idChunks(
    conditionFor: (present: ReadonlySet<string>) => string,
    params: readonly SqlValue[],
  ): AsyncIterable<string[]> {
    const { dialect } = this.context;
    const held = await this.guarded((session) => this.#table(session));
    if (held === undefined) return;
    const { form, present } = held;
    const condition = conditionFor(present);
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
