import type { Loss } from '../../mirror/losses.ts';
import { lookOf } from '../../mirror/looked.ts';
import type { FormOverview } from '../../mirror/target.ts';
import {
  type Catalogue,
  type CataloguedForm,
  listForms,
  storageOf,
  textColumnOf,
} from './catalogue.ts';
import type { SqlDialect } from './dialect.ts';
import { besideNotices } from './beside-notice.ts';
import { MORE_COLUMN } from './field-column.ts';
import { leftViewNotices } from './left-view.ts';
import { readEmptied } from './emptied-fields.ts';
import { countForgotten } from './forgotten.ts';
import { readLook } from './looks.ts';
import { COUNT_COLUMNS, type ExpectedColumn, lossesOf, rowCounts, tableLosses } from './losses.ts';
import { readCheckpoints, readNotablePasses } from './pass-records.ts';
import { readMarkings } from './refused-marks.ts';
import { isHistory } from './row-history.ts';
import { scrubNotice } from './scrubbing.ts';
import { numberOf, piecesOf, type SqlSession, textOf, textOrNull } from './sql-session.ts';
import { viewFailureNotices } from './view-failures.ts';

/** Tables counted by one statement; SQLite takes at most 500 parts of a UNION. */
const TABLES_A_STATEMENT = 100;

/** Every form that was ever mirrored here, with its state. `keepsVersions`: whether passes keep every version of its rows. */
export async function readOverview(
  catalogue: Catalogue,
  keepsVersions: boolean,
): Promise<FormOverview[]> {
  const { session, dialect } = catalogue;
  const forms = await listForms(session, dialect);
  const fields = await readFieldColumns(session, dialect);
  const tables = await readTables(catalogue, forms, fields);
  const rejected = await countRejected(session, dialect);
  const checkpoints = await readCheckpoints(catalogue);
  const passes = await readNotablePasses(catalogue);
  const markings = await readMarkings(catalogue);
  const views = forms.map(({ view }) => view);
  const notices = await leftViewNotices(session, dialect, views);
  const behind = await viewFailureNotices(session, dialect);
  const scrubs = await scrubNotice(session, dialect);
  const emptied = await readEmptied(catalogue);
  const forgotten = await countForgotten(catalogue);
  const look = await readLook(session, dialect);
  const versions = await columnsOfVersions(catalogue, forms);
  return forms.map((form) => ({
    formId: form.id,
    slug: form.slug,
    name: form.name,
    location: `table ${dialect.shownRelation(form.table)}, view ${dialect.shownRelation(form.view)}`,
    place: { table: dialect.shownRelation(form.table) },
    rows: tables.get(form.id)?.rows ?? 0,
    deletedRows: tables.get(form.id)?.deletedRows ?? 0,
    rejected: rejected.get(form.id) ?? 0,
    goneAt: form.goneAt,
    checkpoint: checkpoints.get(form.id) ?? null,
    look: lookOf(look, form.id),
    marking: markings.get(form.id) ?? null,
    losses: tables.get(form.id)?.losses ?? [],
    lastPass: passes.get(form.id)?.lastPass ?? null,
    lastOk: passes.get(form.id)?.lastOk ?? null,
    lastFull: passes.get(form.id)?.lastFull ?? null,
    droppedColumns: [],
    notices: [
      ...(notices.get(form.view) ?? []),
      ...behind(form.id),
      ...besideNotices(dialect, form, fields.get(form.id) ?? []),
      ...scrubs(form.id, form.table),
    ],
    filledFields: (fields.get(form.id) ?? []).filter(
      (field) =>
        (field.type !== null || isIn(field, versions.get(form.id) ?? [])) &&
        emptied.get(form.id)?.has(field.id) !== true,
    ),
    isHistoryDue: keepsVersions !== isKeeping(form, versions.get(form.id) ?? []),
    forgotten: forgotten.get(form.id) ?? 0,
  }));
}

/** A field with its column; without a type nothing was ever stored in it. */
interface FieldOfTable extends ExpectedColumn {
  readonly id: string;
  readonly type: string | null;
}

/** The columns of each form's history of rows, by form ID; it may hold what a table that was dropped does not any more. */
async function columnsOfVersions(
  { session, dialect }: Catalogue,
  forms: readonly CataloguedForm[],
): Promise<Map<string, readonly string[]>> {
  const kept = forms.flatMap(({ id, history }) => (history ? [{ id, table: history.table }] : []));
  if (kept.length === 0) return new Map();
  const present = await dialect.columnsOfEach(session, new Set(kept.map(({ table }) => table)));
  return new Map(
    kept.map(({ id, table }) => {
      const columns = present.get(table) ?? [];
      return [id, isHistory(columns) ? columns : []];
    }),
  );
}

/** Whether a history goes on that still has these columns: one that people dropped begins anew. */
const isKeeping = ({ history }: CataloguedForm, present: readonly string[]): boolean =>
  history?.isOpen === true && present.length > 0;

const isIn = ({ storage, column }: FieldOfTable, present: readonly string[]): boolean =>
  present.includes(storage === 'more' ? MORE_COLUMN : column);

/** What a form's table holds, and what of it was lost. */
interface TableState {
  readonly rows: number;
  readonly deletedRows: number;
  readonly losses: readonly Loss[];
}

/**
 * The state of each form's table, by form ID. What is there and what was stored are read by one statement: a pass that
 * commits in between would look like a loss.
 */
async function readTables(
  { session, dialect }: Catalogue,
  forms: readonly CataloguedForm[],
  fields: ReadonlyMap<string, readonly FieldOfTable[]>,
): Promise<Map<string, TableState>> {
  const states = new Map<string, TableState>();
  const tables = new Set(forms.map(({ table }) => table));
  const present = await dialect.columnsOfEach(session, tables);
  const lostOf = ({ id, table }: CataloguedForm): Loss[] =>
    tableLosses(dialect, table, fields.get(id) ?? [], present.get(table));
  for (const piece of piecesOf(forms, TABLES_A_STATEMENT)) {
    const parts = piece.map(({ table }, index) => {
      const { rows, live } = rowCounts(dialect, table, present.get(table));
      const counts = `(SELECT ${rows} AS total, ${live} AS live)`;
      return `SELECT form_id, ${COUNT_COLUMNS}, total, live,
        (SELECT count(*) FROM ${dialect.relation('mirror_rejected')} AS r WHERE r.form_id = f.form_id) AS rejected
        FROM ${dialect.relation('mirror_forms')} AS f CROSS JOIN ${counts} AS c WHERE form_id = $${index + 1}`;
    });
    const ids = piece.map(({ id }) => id);
    const byId = new Map(piece.map((form) => [form.id, form]));
    for (const row of await session.query(parts.join(' UNION ALL '), ids)) {
      const form = byId.get(textOf(row, 'form_id'));
      if (form === undefined) continue;
      const live = numberOf(row, 'live');
      const held = { rows: numberOf(row, 'total'), live, rejections: numberOf(row, 'rejected') };
      const losses = lossesOf(row, held, lostOf(form));
      states.set(form.id, { rows: live, deletedRows: held.rows - live, losses });
    }
  }
  return states;
}

/** Of every form the columns of its fields. */
async function readFieldColumns(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<Map<string, FieldOfTable[]>> {
  const rows = await session.query(
    `SELECT * FROM ${dialect.relation('mirror_fields')} ORDER BY form_id, ordinal`,
  );
  const columns = new Map<string, FieldOfTable[]>();
  for (const row of rows) {
    const formId = textOf(row, 'form_id');
    const storage = storageOf(row);
    const column = {
      id: textOf(row, 'field_id'),
      label: textOf(row, 'label'),
      column: textOf(row, 'column_name'),
      storage,
      ...textColumnOf(row),
      type: textOrNull(row, 'type'),
    };
    columns.set(formId, [...(columns.get(formId) ?? []), column]);
  }
  return columns;
}

async function countRejected(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<Map<string, number>> {
  const rows = await session.query(
    `SELECT form_id, count(*) AS total FROM ${dialect.relation('mirror_rejected')} GROUP BY form_id`,
  );
  return new Map(rows.map((row) => [textOf(row, 'form_id'), numberOf(row, 'total')]));
}
