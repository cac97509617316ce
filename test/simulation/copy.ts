import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** The copy as an analyst reads it: with the documented relations and columns, on the analyst's own connection. */

export interface CopiedRow {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string;
  readonly changedAt: string | null;
  readonly isDeleted: boolean;
  readonly deletedAt: string | null;
  /** By column name, without system columns. */
  readonly cells: Readonly<Record<string, unknown>>;
}

export interface CopiedField {
  readonly fieldId: string;
  readonly column: string | null;
  readonly textColumn: string | null;
  readonly label: string;
}

/** The entries of rejected submissions; if a submission is stored, only entries about a part of it. */
export interface Rejected {
  readonly reason: string;
  readonly isStored: boolean;
  /** Cells of its row could not be written, because people changed the target. */
  readonly isBlocked?: boolean;
}

export interface CopiedForm {
  readonly formId: string;
  readonly table: string;
  readonly rows: ReadonlyMap<string, CopiedRow>;
  /** IDs that more than one row has. */
  readonly twice: readonly string[];
  /** IDs in a cell that should contain none, in targets where this is possible. */
  readonly astray: readonly string[];
  readonly fields: readonly CopiedField[];
  /** The history of statuses by submission, oldest first; null if the target has none, or no views of the form yet. */
  readonly statuses: ReadonlyMap<string, readonly string[]> | null;
  /** Rejected submissions with their reasons, without those that have no ID. */
  readonly rejected: ReadonlyMap<string, Rejected>;
  /** People's additions to a sheet; absent in a database. */
  readonly people?: AddedByPeople;
}

/** People's additions to the tab of a form, or their remains. */
export interface AddedByPeople {
  /** Additional rows beside the one that counts for their submission, and rows whose ID people cleared. */
  readonly others: readonly CopiedRow[];
  /** People's notes and texts that are not beside the submission that they were put beside, in words. */
  readonly misplaced: readonly string[];
  /** Filters and tables that do not cover the rows, in words. */
  readonly outside: readonly string[];
}

export type Copy = ReadonlyMap<string, CopiedForm>;

/** A person's connection to a place: rows of a query, with whole numbers as bigint. */
export type Query = (sql: string) => Promise<Record<string, unknown>[]>;

export type Row = Record<string, unknown>;

const SYSTEM = new Set([
  'id',
  'status',
  'created_at',
  '_first_seen_at',
  '_changed_at',
  '_deleted_at',
]);

const text = (value: unknown): string =>
  value instanceof Date ? value.toISOString() : String(value);
const textOrNull = (value: unknown): string | null =>
  value === null || value === undefined ? null : text(value);

/** Milliseconds since 1970. */
const timeOf = (value: unknown): number => Date.parse(text(value));

/** Reads everything; `quote` quotes a name as the database does. */
export async function readCopy(query: Query, quote = '"'): Promise<Copy> {
  const copy = new Map<string, CopiedForm>();
  const all = async (name: string): Promise<Row[]> =>
    query(`SELECT * FROM ${quote}${name}${quote}`).catch(() => []);
  const forms = await all('mirror_forms');
  const fields = await all('mirror_fields');
  const rejections = await all('mirror_rejected');
  // Null if a person has dropped the view.
  const statuses = await query(`SELECT * FROM ${quote}mirror_status_history${quote}`).then(
    (seen) => seen.toSorted((a, b) => timeOf(a['seen_at']) - timeOf(b['seen_at'])),
    () => null,
  );
  for (const form of forms) {
    const [formId, table] = [text(form['form_id']), text(form['table_name'])];
    const rows = new Map<string, CopiedRow>();
    const twice: string[] = [];
    for (const row of await all(table)) {
      const id = text(row['id']);
      if (rows.has(id)) twice.push(id);
      rows.set(id, {
        id,
        status: text(row['status']),
        createdAt: text(row['created_at']),
        changedAt: textOrNull(row['_changed_at']),
        isDeleted: row['_deleted_at'] !== null,
        deletedAt: textOrNull(row['_deleted_at']),
        cells: Object.fromEntries(Object.entries(row).filter(([name]) => !SYSTEM.has(name))),
      });
    }
    const ofForm = (relation: readonly Row[]): Row[] =>
      relation.filter((each) => each['form_id'] === formId);
    const listed = ofForm(rejections);
    // They are made at the end of a run.
    const isShown = await query(`SELECT 1 FROM ${quote}${table}_live${quote} WHERE 1 = 0`).then(
      () => true,
      () => false,
    );
    copy.set(formId, {
      formId,
      table,
      rows,
      twice,
      astray: [],
      fields: ofForm(fields).map((field) => ({
        fieldId: text(field['field_id']),
        column: textOrNull(field['column_name']),
        textColumn: textOrNull(field['text_column']),
        label: text(field['label']),
      })),
      statuses: isShown
        ? statuses &&
          new Map(
            [...Map.groupBy(ofForm(statuses), (entry) => text(entry['submission_id']))].map(
              ([id, entries]) => [id, entries.map((entry) => text(entry['status']))],
            ),
          )
        : null,
      rejected: new Map(
        listed.map((each) => {
          const id = text(each['submission_id']);
          const isStored = rows.get(id)?.isDeleted === false;
          return [id, { reason: text(each['reason']), isStored }] as const;
        }),
      ),
    });
  }
  return copy;
}

/** The analyst with a SQLite file; nothing if there is none. */
export async function readSqlite(path: string): Promise<Copy> {
  if (!existsSync(path)) return new Map();
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return await readCopy(async (sql) => {
      const statement = database.prepare(sql);
      statement.setReadBigInts(true);
      return statement.all();
    });
  } finally {
    database.close();
  }
}
