import { MirrorError } from '../../base/errors.ts';
import { safeText } from '../../base/errors.ts';
import type { SqlDialect } from './dialect.ts';
import { type SqlSession, textOf } from './sql-session.ts';

/** Version of the catalogue's own tables; raise it together with a step in {@link ensureCatalogue}. */
const VERSION = 1;

/** The tables of the catalogue. People may read them; only this program writes them. */
export const CATALOGUE_TABLES = [
  'mirror_meta',
  'mirror_forms',
  'mirror_fields',
  'mirror_label_history',
  'mirror_passes',
  'mirror_rejected',
  'mirror_refusals',
  'mirror_checkpoints',
  'mirror_locks',
] as const;

type CatalogueTable = (typeof CATALOGUE_TABLES)[number];

function columns(types: SqlDialect['types']): Record<CatalogueTable, string> {
  const { text, time, integer, boolean, serial } = types;
  return {
    mirror_meta: `key ${text} PRIMARY KEY NOT NULL, value ${text} NOT NULL`,
    mirror_forms: `form_id ${text} PRIMARY KEY NOT NULL, slug ${text} NOT NULL, name ${text} NOT NULL,
      table_name ${text} NOT NULL UNIQUE, view_name ${text} NOT NULL, first_seen_at ${time} NOT NULL, gone_at ${time}`,
    mirror_fields: `form_id ${text} NOT NULL, field_id ${text} NOT NULL, column_name ${text} NOT NULL,
      label ${text} NOT NULL, position ${integer} NOT NULL, type ${text}, first_seen_at ${time} NOT NULL,
      removed_at ${time}, ordinal ${integer} NOT NULL, stored_in ${text} NOT NULL, number_column ${text},
      view_label ${text}, number_view_label ${text},
      PRIMARY KEY (form_id, field_id), UNIQUE (form_id, column_name)`,
    mirror_label_history: `form_id ${text} NOT NULL, field_id ${text} NOT NULL, label ${text} NOT NULL,
      valid_from ${time} NOT NULL, valid_to ${time}`,
    mirror_passes: `id ${serial}, form_id ${text} NOT NULL, kind ${text} NOT NULL, started_at ${time} NOT NULL,
      ended_at ${time} NOT NULL, outcome ${text} NOT NULL, requests ${integer} NOT NULL, total ${integer},
      distinct_seen ${integer} NOT NULL, inserted ${integer} NOT NULL, updated ${integer} NOT NULL,
      unchanged ${integer} NOT NULL, deleted ${integer} NOT NULL, rejected ${integer} NOT NULL,
      withheld ${integer} NOT NULL, error ${text}`,
    mirror_rejected: `form_id ${text} NOT NULL, submission_id ${text} NOT NULL, reason ${text} NOT NULL,
      stored ${boolean} NOT NULL, first_seen_at ${time} NOT NULL, last_seen_at ${time} NOT NULL,
      last_epoch ${integer} NOT NULL, PRIMARY KEY (form_id, submission_id, reason)`,
    mirror_refusals: `form_id ${text} NOT NULL, submission_id ${text} NOT NULL, status ${text} NOT NULL,
      wanted ${text} NOT NULL, reason ${text} NOT NULL, refused_at ${time} NOT NULL,
      PRIMARY KEY (form_id, submission_id, status, wanted)`,
    mirror_checkpoints: `form_id ${text} PRIMARY KEY NOT NULL, watermark ${time}, total ${integer} NOT NULL,
      proven_at ${time} NOT NULL, full_proven_at ${time}`,
    mirror_locks: `form_id ${text} PRIMARY KEY NOT NULL, epoch ${integer} NOT NULL, holder ${text} NOT NULL,
      taken_at ${time} NOT NULL`,
  };
}

const INDEXES: readonly [table: CatalogueTable, columns: string][] = [
  ['mirror_passes', 'form_id, kind, id'],
  ['mirror_label_history', 'form_id, field_id'],
];

/** True when the catalogue is there and ours. Throws when it was written by a newer version of this program. */
export async function hasCatalogue(session: SqlSession, dialect: SqlDialect): Promise<boolean> {
  const found = await dialect.columnsOf(session, 'mirror_meta');
  if (found === undefined) return false;
  if (found.join() !== 'key,value') throw notOurs(dialect, 'mirror_meta');
  const rows = await session.query(
    `SELECT value FROM ${dialect.relation('mirror_meta')} WHERE key = 'catalogue_version'`,
  );
  const [row] = rows;
  if (row === undefined) throw notOurs(dialect, 'mirror_meta');
  const version = textOf(row, 'value');
  if (Number(version) > VERSION) {
    throw new MirrorError(
      'SETTINGS',
      `The catalogue (${dialect.shownRelation('mirror_meta')}) was written by a newer forms-mirror ` +
        `(catalogue version ${safeText(version, 20)}, this one knows ${VERSION}). Update this installation.`,
    );
  }
  return true;
}

/** Makes the catalogue where it is missing. To be called in a transaction. Throws when tables of its names are not ours. */
export async function ensureCatalogue(tx: SqlSession, dialect: SqlDialect): Promise<void> {
  await dialect.lockCatalogue(tx);
  if (await hasCatalogue(tx, dialect)) return;
  const taken = await dialect.relationNames(tx);
  const foreign = CATALOGUE_TABLES.find((table) => taken.has(table));
  if (foreign !== undefined) throw notOurs(dialect, foreign);
  const definitions = columns(dialect.types);
  const statements = CATALOGUE_TABLES.map(
    (table) => `CREATE TABLE ${dialect.relation(table)} (${definitions[table]})`,
  );
  await tx.exec(statements.join(';\n'));
  for (const [table, list] of INDEXES) await tx.exec(dialect.indexOn(table, list));
  await tx.query(
    `INSERT INTO ${dialect.relation('mirror_meta')} (key, value) VALUES ('catalogue_version', $1)`,
    [String(VERSION)],
  );
}

function notOurs(dialect: SqlDialect, table: string): MirrorError {
  const remedy =
    dialect.product === 'PostgreSQL'
      ? 'choose another schema with ?schema=… in the target URL'
      : 'choose another file in the target URL';
  return new MirrorError(
    'SETTINGS',
    `There is a table ${dialect.shownRelation(table)} that forms-mirror did not make, and it was left alone: ${remedy}.`,
  );
}
