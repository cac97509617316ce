import anyAscii from 'any-ascii';
import { createHash } from 'node:crypto';
import type { FormField, FormIdentity } from './types.ts';

/** Longest identifier of PostgreSQL, in bytes; it silently cuts longer ones (NAMEDATALEN - 1). */
export const MAX_NAME_BYTES = 63;

/** What the names of a form's views add to the name of its table; none is longer than the first. */
export const VIEW_SUFFIXES = ['_labelled', '_live', '_history'] as const;

/**
 * A field's column name: its label in ASCII snake_case, at most 63 bytes, not in `taken` (lower case), usable in SQL without
 * quotes. A name that cannot be used unchanged (reserved, a system column, a leading digit) gets the prefix `f_`. A long one is cut
 * and ends with a hash. A label without a letter or digit is replaced by the field's ID.
 */
export function fieldColumnName(field: FormField, taken: ReadonlySet<string>): string {
  const name = snakeCase(field.label) || snakeCase(field.id) || 'field';
  const base = /^\d/.test(name) || RESERVED.has(name) ? `f_${name}` : name;
  return uniqueName(shortened(base, `${field.label}\0${field.id}`, MAX_NAME_BYTES), taken);
}

/**
 * The name of a form's table, by the rules of {@link fieldColumnName} with the prefix `form_`, and short enough for the names of its
 * views. None of these names is in `taken`.
 */
export function formTableName(
  form: Pick<FormIdentity, 'id' | 'slug'>,
  taken: ReadonlySet<string>,
): string {
  const name = snakeCase(form.slug) || snakeCase(form.id) || 'form';
  const unfit = /^\d/.test(name) || RESERVED.has(name) || name.startsWith('sqlite_');
  const base = unfit ? `form_${name}` : name;
  const maxBytes = MAX_NAME_BYTES - VIEW_SUFFIXES[0].length;
  return firstFree(shortened(base, form.id, maxBytes), maxBytes, (candidate) => {
    return ['', ...VIEW_SUFFIXES].some((suffix) => taken.has(candidate + suffix));
  });
}

/** `base`, or `base_2`, `base_3`, …: the first that is not in `taken`, at most 63 bytes long. `base` is ASCII. */
export function uniqueName(base: string, taken: ReadonlySet<string>): string {
  const start = base.slice(0, MAX_NAME_BYTES);
  return firstFree(start, MAX_NAME_BYTES, (candidate) => taken.has(candidate));
}

/**
 * The labels as column names of a view, in the same order: unique without regard to case, not in `reserved` (lower case), at most
 * `maxBytes` long and cut between characters. A repeated label gets ` (2)`, ` (3)`, …
 */
export function viewLabels(
  fields: readonly FormField[],
  reserved: Iterable<string>,
  maxBytes = MAX_NAME_BYTES,
): string[] {
  const taken = new Set([...reserved].map(sameNameKey));
  const counts = new Map<string, number>();
  return fields.map((field) => {
    const base = cutToBytes(shownLabel(field), maxBytes);
    let label = base;
    let count = counts.get(sameNameKey(base)) ?? 1;
    while (taken.has(sameNameKey(label))) {
      count += 1;
      const suffix = ` (${count})`;
      label = cutToBytes(base, maxBytes - suffix.length) + suffix;
    }
    counts.set(sameNameKey(base), count);
    taken.add(sameNameKey(label));
    return label;
  });
}

/** The longest beginning of `text` that fits into `maxBytes` of UTF-8 and ends with a whole character. */
function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = new Uint8Array(maxBytes);
  const { read } = new TextEncoder().encodeInto(text, bytes);
  return text.slice(0, read).trimEnd();
}

/**
 * A name on one line, without control characters and characters that reorder a line, and never empty: PostgreSQL rejects U+0000 and
 * empty names.
 */
function shownLabel(field: FormField): string {
  return visible(field.label) || visible(field.id) || 'field';
}

const visible = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/[\u202A-\u202E\u2066-\u2069]/g, '\uFFFD')
    .trim();

/**
 * Equal for names that a database or a reader could confuse. MySQL and MariaDB compare the names of columns without case and accents
 * (utf8mb3_general_ci), and ß as s.
 */
const sameNameKey = (name: string): string =>
  name.normalize('NFD').replace(/\p{M}/gu, '').replace(/[ßẞ]/g, 's').toUpperCase();

/** Lower-case ASCII letters and digits with single underscores between them; '' when `text` has neither. */
function snakeCase(text: string): string {
  return anyAscii(text.toWellFormed())
    .toLowerCase()
    .replace(/['`]/g, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
}

/** `base` when it fits; else its beginning and a hash of `identity`, so that long names stay distinct and stable. */
function shortened(base: string, identity: string, maxBytes: number): string {
  if (base.length <= maxBytes) return base;
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, 8);
  return `${base.slice(0, maxBytes - 9).replace(/_$/, '')}_${hash}`;
}

function firstFree(base: string, maxBytes: number, isTaken: (name: string) => boolean): string {
  let name = base;
  for (let count = 2; isTaken(name); count++) {
    const suffix = `_${count}`;
    name = base.slice(0, maxBytes - suffix.length) + suffix;
  }
  return name;
}

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

/** Reserved in SQLite as well: https://www.sqlite.org/lang_keywords.html, without those that it accepts as names. */
const SQLITE =
  'add alter autoincrement between commit constraint delete drop escape exists if index insert nothing set transaction ' +
  'update values';

/**
 * Reserved in MySQL 8.0 to 9.0 or MariaDB 10.6 to 11 as well: https://dev.mysql.com/doc/refman/9.0/en/keywords.html,
 * https://mariadb.com/kb/en/reserved-words.
 */
const MYSQL =
  'accessible asensitive before bigint blob by call cascade change char character condition continue convert cube ' +
  'cume_dist cursor database databases day_hour day_microsecond day_minute day_second dec decimal declare delayed ' +
  'delete_domain_id dense_rank describe deterministic distinctrow div do_domain_ids double dual each elseif empty ' +
  'enclosed escaped exit explain first_value float float4 float8 force fulltext function generated get groups ' +
  'high_priority hour_microsecond hour_minute hour_second ignore ignore_domain_ids infile inout insensitive int ' +
  'int1 int2 int3 int4 int8 integer io_after_gtids io_before_gtids iterate json_table key keys kill lag ' +
  'last_value lead leave linear lines load lock long longblob longtext loop low_priority manual master_bind ' +
  'master_demote_to_replica master_demote_to_slave master_ssl_verify_server_cert match maxvalue mediumblob ' +
  'mediumint mediumtext middleint minute_microsecond minute_second mod modifies no_write_to_binlog nth_value ' +
  'ntile numeric of optimize optimizer_costs option optionally out outfile over page_checksum parallel ' +
  'parse_vcol_expr partition percent_rank portion precision procedure purge qualify range rank read read_write ' +
  'reads real recursive ref_system_id regexp release rename repeat replace require resignal restrict return ' +
  'revoke rlike row_number rows schema schemas second_microsecond sensitive separator show signal smallint ' +
  'spatial specific sql sql_big_result sql_calc_found_rows sql_small_result sqlexception sqlstate sqlwarning ssl ' +
  'starting stats_auto_recalc stats_persistent stats_sample_pages stored straight_join system terminated tinyblob ' +
  'tinyint tinytext trigger undo unlock unsigned usage use utc_date utc_time utc_timestamp varbinary varchar ' +
  'varcharacter varying virtual while write xor year_month zerofill';

/** Type and function names of PostgreSQL (category C) that mean something else where a column name is expected. */
const CONFUSING =
  'coalesce extract greatest grouping interval least nullif overlay position row setof substring trim treat xmlexists';

/** Hidden columns of every table (PostgreSQL ctid, SQLite rowid). */
const HIDDEN = 'tableoid xmin cmin xmax cmax ctid oid rowid';

/** Lower-case names that SQL or the mirror reserves. */
const RESERVED = new Set<string>([
  ...SYSTEM_COLUMNS,
  ...[POSTGRES, SQLITE, MYSQL, CONFUSING, HIDDEN].flatMap((words) => words.split(' ')),
]);
