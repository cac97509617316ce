import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/*
 * The copy as an analyst reads it: by the relations and columns that the documentation promises, over a connection of the analyst's own.
 */

export interface CopiedRow {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string;
  readonly changedAt: string | null;
  readonly isDeleted: boolean;
  readonly deletedAt: string | null;
  /** By column name, system columns left out. */
  readonly cells: Readonly<Record<string, unknown>>;
}

export interface CopiedField {
  readonly fieldId: string;
  readonly column: string | null;
  readonly textColumn: string | null;
  readonly label: string;
}

/** What is listed as rejected: of a submission that is stored, something about it only. */
export interface Rejected {
  readonly reason: string;
  readonly isStored: boolean;
  /** Cells of its row could not be written, because of changes by people to the target. */
  readonly isBlocked?: boolean;
}

export interface CopiedForm {
  readonly formId: string;
  readonly table: string;
  readonly rows: ReadonlyMap<string, CopiedRow>;
  /** IDs that more than one row has. */
  readonly twice: readonly string[];
  /** IDs in a cell where none belongs, of a target where that can be. */
  readonly astray: readonly string[];
  readonly fields: readonly CopiedField[];
  /** By submission, its history of statuses, the oldest first; null where the target keeps none. */
  readonly statuses: ReadonlyMap<string, readonly string[]> | null;
  /** Submissions that are listed as rejected, and why; those without an ID are not in it. */
  readonly rejected: ReadonlyMap<string, Rejected>;
  /** What people have added to a sheet; absent in a database. */
  readonly people?: AddedByPeople;
}

/** What people have added to the tab of a form, or left of it. */
export interface AddedByPeople {
  /** Rows beside the one that counts of their submission, and rows whose ID they cleared. */
  readonly others: readonly CopiedRow[];
  /** Notes and texts of theirs that are not beside the submission that they were put beside, in words. */
  readonly misplaced: readonly string[];
  /** Filters and tables that do not cover the rows, in words. */
  readonly outside: readonly string[];
}

export type Copy = ReadonlyMap<string, CopiedForm>;

/** A connection to a place that a person has: rows of a query, with whole numbers as bigint. */
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

/** Reads everything; `quote` is how the database quotes a name. */
export async function readCopy(query: Query, quote = '"'): Promise<Copy> {
  const copy = new Map<string, CopiedForm>();
  const all = async (name: string): Promise<Row[]> =>
    query(`SELECT * FROM ${quote}${name}${quote}`).catch(() => []);
  const forms = await all('mirror_forms');
  const fields = await all('mirror_fields');
  const rejections = await all('mirror_rejected');
  // Null where a person has dropped the view.
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
      statuses:
        statuses &&
        new Map(
          [...Map.groupBy(ofForm(statuses), (entry) => text(entry['submission_id']))].map(
            ([id, entries]) => [id, entries.map((entry) => text(entry['status']))],
          ),
        ),
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

/** The analyst at a SQLite file; nothing where there is none. */
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
