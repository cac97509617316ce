import { type Batch, quoted, textOf } from '../dialect.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { STAGE, type Staging } from '../staged-upsert.ts';

const TYPES = { number: 'numeric', text: 'text', json: 'jsonb' } as const;
const PART_CHARACTERS = 65_536;
const SPECIAL = /[\\\n\r\t]/;
const EACH_SPECIAL = /[\\\n\r\t]/g;
/** What the text format of COPY gives a meaning to. */
const ESCAPED: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** The row of an ID. Each is looked up by its key (`OFFSET 0`): of a table that was just filled the planner knows nothing. */
const held = (to: string): string =>
  `LATERAL (SELECT * FROM ${to} AS i WHERE i.id = s.id OFFSET 0) AS t`;

/** COPY into a temporary table, then one upsert. Rows that are the same are not even locked. */
export const postgresStaging: Staging = {
  async stage(tx, { columns, rows }) {
    const staged = [
      'id text',
      'status text',
      'created_at timestamptz',
      ...columns.map(({ name, type }) => `${quoted(name)} ${TYPES[type]}`),
    ];
    await tx.run(`DROP TABLE IF EXISTS ${STAGE}`);
    await tx.run(`CREATE TEMP TABLE ${STAGE} (${staged.join(', ')}) ON COMMIT DROP`);
    await (tx as PostgresConnection).copy(`COPY ${STAGE} FROM STDIN`, copyText(rows));
  },
  joined: (to) => `${STAGE} AS s LEFT JOIN ${held(to)} ON true`,
  matched: (to) => `${STAGE} AS s, ${held(to)}`,
  differs: (names) =>
    `(${names.map((name) => `t.${name}`).join(', ')}) IS DISTINCT FROM (${names.map((name) => `s.${name}`).join(', ')})`,
  async store(tx, { to, names, at, isOther, areNew }) {
    const from =
      areNew === 'all'
        ? `${STAGE} AS s`
        : `${postgresStaging.joined(to)} WHERE t.id IS NULL OR ${isOther}`;
    await tx.run(
      `INSERT INTO ${to} (id, ${names.join(', ')}, _first_seen_at, _changed_at)
       SELECT s.id, ${names.map((name) => `s.${name}`).join(', ')}, $1::timestamptz, $1::timestamptz FROM ${from}
       ON CONFLICT (id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')},
         _changed_at = excluded._changed_at, _deleted_at = NULL`,
      [at],
    );
  },
  async mayAlter(tx, table) {
    const triggers = await tx.query(
      'SELECT 1 FROM pg_trigger WHERE tgrelid = to_regclass($1) AND NOT tgisinternal LIMIT 1',
      [quoted(table)],
    );
    return triggers.length > 0;
  },
  answers: () =>
    `(to_jsonb(t) - ARRAY['id', 'status', 'created_at', '_first_seen_at', '_changed_at', '_deleted_at'])::text`,
  unlessThere: 'ON CONFLICT DO NOTHING',
  timeOf: (param) => `${param}::timestamptz`,
};

/** The rows in the text format of COPY, in parts. */
function* copyText(rows: Batch['rows']): Generator<string> {
  let part = '';
  for (const row of rows) {
    for (let at = 0; at < row.length; at++) {
      if (at > 0) part += '\t';
      const value = row[at];
      if (value === null || value === undefined) part += '\\N';
      else {
        const text = textOf(value);
        part += SPECIAL.test(text)
          ? text.replace(EACH_SPECIAL, (each) => ESCAPED[each] ?? each)
          : text;
      }
    }
    part += '\n';
    if (part.length < PART_CHARACTERS) continue;
    yield part;
    part = '';
  }
  if (part !== '') yield part;
}
