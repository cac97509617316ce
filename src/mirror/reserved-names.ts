/** Columns that every mirrored table has, in addition to those of its fields, in order. */
export const SYSTEM_COLUMNS = [
  'id',
  'status',
  'created_at',
  '_first_seen_at',
  '_changed_at',
  '_deleted_at',
] as const;

/** Reserved in PostgreSQL 15 to 18: pg_get_keywords(), categories R and T. */
const POSTGRES =
  'all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation ' +
  'column concurrently constraint create cross current_catalog current_date current_role current_schema current_time ' +
  'current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze ' +
  'from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit ' +
  'localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references ' +
  'returning right select session_user similar some symmetric system_user table tablesample then to trailing true ' +
  'union unique user using variadic verbose when where window with';

/** Reserved in SQLite in addition: https://www.sqlite.org/lang_keywords.html, less those that it accepts as names. */
const SQLITE =
  'add alter autoincrement between commit constraint delete drop escape exists if index insert nothing set transaction ' +
  'update values';

/** Type and function names of PostgreSQL (category C) that read as something else where a column name may stand. */
const CONFUSING =
  'coalesce extract greatest grouping interval least nullif overlay position row setof substring trim treat xmlexists';

/** Hidden columns of every table (PostgreSQL ctid, SQLite rowid). */
const HIDDEN = 'tableoid xmin cmin xmax cmax ctid oid rowid';

const RESERVED = new Set<string>([
  ...SYSTEM_COLUMNS,
  ...[POSTGRES, SQLITE, CONFUSING, HIDDEN].flatMap((words) => words.split(' ')),
]);

/** True for a lower-case name that SQL or the mirror reserves. */
export function isReservedName(name: string): boolean {
  return RESERVED.has(name);
}
