import { MirrorError } from '../../base/errors.ts';
import {
  type Batch,
  type BatchColumn,
  type ByStatus,
  change,
  type Dialect,
  isTrue,
  onConflict,
  type Packed,
  type Param,
  quoted,
  type Session,
  textOf,
  type Writing,
  type Written,
} from './dialect.ts';

/** The columns that begin each row, before those of answers. */
const SYSTEM = ['id', 'status', 'created_at'];

/*
 * How a batch of rows gets into the form's table. Into a table that this run has made, rows are loaded straight; its primary key
 * refuses those that are not new. A trigger that a person adds during that run is not noticed: rows that it removed are missing when
 * the form is next opened, and answers that it changed differ at the next row comparison. All others go into a temporary table; the
 * database joins it with the form's table to find what is new or differs.
 */

/** The temporary table for the rows of a batch. In statements it is `s`, and the form's table is `t`. */
export const STAGE = '_mirror_stage';

/** How a database loads rows, and how it stores the rows of {@link STAGE}. */
export interface Staging {
  /** {@link STAGE}, and no other table. */
  readonly stage: string;
  /** Creates it with these columns. An earlier one may exist. */
  make(tx: Session, columns: string): Promise<void>;
  /** The values of a row in the form that {@link load} takes. A text keeps the values unchanged if they contain U+0000. */
  readonly pack: (values: readonly Param[]) => Packed;
  /** Writes rows into a table, which refuses an ID that it has. */
  load(tx: Session, loading: Loading): Promise<void>;
  /** Every staged row, joined with the row of its ID or NULLs. */
  readonly joined: (to: string) => string;
  /** Staged rows whose ID exists, joined with that row. */
  matched(to: string): string;
  /** Whether one of these columns differs. */
  differs(names: readonly string[]): string;
  /** Inserts the staged rows that are new, and updates those that differ; absent if `ON CONFLICT` does that. */
  readonly store?: (tx: Session, rows: StagedRows) => Promise<void>;
  /** Whether a table can store something else than it is given, for example because of a person's trigger. */
  readonly mayAlter: boolean;
  /** The answers of `t` in these columns, as JSON. */
  answers(names: readonly string[]): string;
}

/** What {@link Staging.load} writes. */
export interface Loading {
  /** The table, and its columns, quoted. */
  readonly into: string;
  readonly names: readonly string[];
  /** The types of the columns, without those with the same value in each row. */
  readonly types: readonly string[];
  /** A value for each of these columns. */
  readonly rows: readonly Packed[];
  /** The values of the last columns, which are times. */
  readonly same: readonly string[];
  /** A table, quoted: rows that are equal to its live rows may be left out. */
  readonly comparedWith?: string;
}

/** What {@link Staging.store} stores. */
interface StagedRows {
  /** The form's table, quoted. */
  readonly to: string;
  /** Columns other than the ID, quoted. */
  readonly names: readonly string[];
  /** In the database's format for times. */
  readonly at: string;
  /** A condition on a staged row and the existing one: they differ, or the existing one is not live. */
  readonly isOther: string;
}

/** The types of {@link SYSTEM} and of columns of answers. */
const typesOf = ({ types }: Dialect, columns: readonly BatchColumn[]): string[] => [
  types.id,
  types.id,
  types.time,
  ...columns.map(({ type }) => types[type]),
];

/** Loads rows that are expected to be new straight into the form's table. */
export async function loadNew(
  tx: Session,
  { columns, rows }: Batch,
  { table, at }: Writing,
): Promise<Written> {
  const { staging } = tx.dialect;
  const names = [...SYSTEM, ...columns.map(({ name }) => quoted(name))];
  await staging.load(tx, {
    into: quoted(table),
    names: [...names, '_first_seen_at', '_changed_at'],
    types: typesOf(tx.dialect, columns),
    rows: rows.map(({ packed }) => packed),
    same: [at, at],
  });
  const more = new Map<string, number>();
  for (const { status } of rows) addTo(more, status, 1);
  return { inserted: rows.length, updated: 0, more };
}

/**
 * One query finds the staged rows that are new or differ, and only these are written. Then counts staged rows that still differ:
 * something that people added, such as a trigger, keeps them out.
 */
export async function stagedUpsert(
  tx: Session,
  { columns, rows }: Batch,
  writing: Writing,
): Promise<Written> {
  const { staging } = tx.dialect;
  const { table, at, answers } = writing;
  const to = quoted(table);
  const names = ['status', 'created_at', ...columns.map(({ name }) => quoted(name))];
  const own = typesOf(tx.dialect, columns);
  const definitions = ['id', ...names].map((name, at) => `${name} ${own[at]}`);
  await staging.make(tx, definitions.join(', '));
  await staging.load(tx, {
    into: staging.stage,
    names: ['id', ...names],
    types: own,
    rows: rows.map(({ packed }) => packed),
    same: [],
    comparedWith: to,
  });
  const joined = staging.joined(to);
  const isOther = `(t._deleted_at IS NOT NULL OR ${staging.differs(names)})`;
  const written = writtenOf(
    await tx.query(
      `SELECT s.status AS status, t.status AS was, t.id IS NULL AS is_new, t._deleted_at IS NULL AS is_live, count(*) AS n
       FROM ${joined} WHERE t.id IS NULL OR ${isOther} GROUP BY s.status, t.status, t.id IS NULL, t._deleted_at IS NULL`,
    ),
  );
  const { inserted, updated } = written;
  if (inserted + updated === 0) return written;
  const ends = answers === null ? 't.status <> s.status' : isOther;
  if (updated > 0) await keepVersions(tx, writing, `${staging.matched(to)} WHERE ${ends}`);
  const store = staging.store ?? storeByConflict;
  await store(tx, { to, names, at, isOther });
  if (!staging.mayAlter) return written;
  const [left] = await tx.query(
    `SELECT count(*) AS n FROM ${joined} WHERE t.id IS NULL OR ${isOther}`,
  );
  if (Number(left?.['n']) > 0)
    throw new MirrorError(
      'TARGET_FAILED',
      `The table ${table} does not store rows as they are written: a trigger or rule discards or changes them, or a column was given another type. Nothing of this batch was stored. Undo that change.`,
    );
  return written;
}

const storeByConflict: NonNullable<Staging['store']> = async (tx, { to, names, at, isOther }) => {
  const { staging, types } = tx.dialect;
  const time = `CAST($1 AS ${types.time})`;
  await tx.run(
    `INSERT INTO ${to} (id, ${names.join(', ')}, _first_seen_at, _changed_at)
     SELECT s.id, ${names.map((name) => `s.${name}`).join(', ')}, ${time}, ${time}
     FROM ${staging.joined(to)} WHERE t.id IS NULL OR ${isOther}
     ON CONFLICT (id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')},
       _changed_at = excluded._changed_at, _deleted_at = NULL`,
    [at],
  );
};

/** Marks rows deleted, and keeps the versions that end. Returns how many rows were live, by status. */
export async function markDeleted(
  tx: Session,
  ids: readonly string[],
  writing: Writing,
): Promise<ByStatus> {
  if (ids.length === 0) return new Map();
  const { among } = tx.dialect;
  const to = quoted(writing.table);
  const live = await tx.query(
    `SELECT status, count(*) AS n FROM ${to} WHERE _deleted_at IS NULL AND ${among('id', '$1')} GROUP BY status`,
    [ids],
  );
  if (writing.answers !== null) {
    const ended = `${to} AS t WHERE t._deleted_at IS NULL AND ${among('t.id', '$4')}`;
    await keepVersions(tx, writing, ended, [ids]);
  }
  await change(
    tx,
    `UPDATE ${to} SET _deleted_at = $1, _changed_at = $1 WHERE _deleted_at IS NULL AND ${among('id', '$2')}`,
    [writing.at, ids],
  );
  return new Map(live.map((row) => [textOf(row['status']), Number(row['n'])] as const));
}

/** Keeps the versions that end: those of the rows of `t` in `from`. `more`: its parameters, from `$4` on. */
export async function keepVersions(
  tx: Session,
  { formId, at, notBefore, answers }: Writing,
  from: string,
  more: readonly Param[] = [],
): Promise<void> {
  const { staging, types } = tx.dialect;
  const kept = answers === null ? 'NULL' : staging.answers(answers);
  await change(
    tx,
    `INSERT INTO _mirror_versions (form_id, submission_id, since, until, not_before, status, created_at, deleted_at, answers)
     SELECT $1, t.id, t._changed_at, CAST($2 AS ${types.time}), CAST($3 AS ${types.time}), t.status, t.created_at, t._deleted_at, ${kept} FROM ${from}
     ${onConflict(tx.dialect, ['form_id', 'submission_id', 'until'])}`,
    [formId, at, notBefore, ...more],
  );
}

function writtenOf(rows: readonly Readonly<Record<string, unknown>>[]): Written {
  const more = new Map<string, number>();
  let [inserted, updated] = [0, 0];
  for (const row of rows) {
    const n = Number(row['n']);
    const isNew = isTrue(row['is_new']);
    if (isNew) inserted += n;
    else updated += n;
    addTo(more, textOf(row['status']), n);
    if (!isNew && isTrue(row['is_live'])) addTo(more, textOf(row['was']), -n);
  }
  return { inserted, updated, more };
}

export const addTo = (counts: Map<string, number>, status: string, n: number): void =>
  void counts.set(status, (counts.get(status) ?? 0) + n);
