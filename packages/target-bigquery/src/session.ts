import { randomBytes } from 'node:crypto';
import type { Connection } from '../../../src/targets/sql/database.ts';
import type {
  Dialect,
  Pages,
  Param,
  RowChanges,
  SqlRow,
} from '../../../src/targets/sql/dialect.ts';
import { type Loading, STAGE } from '../../../src/targets/sql/write-rows.ts';
import type { BigQueryApi, NamedParam } from './api.ts';
import { BigQueryError, RowExists, RowTooLarge } from './errors.ts';
import type { Leases } from './lease.ts';
import {
  COLUMNS_OF,
  jsonOf,
  MONTHS,
  nameOf,
  qualified,
  RELATIONS,
  rowsOf,
  scriptOf,
  type StageColumn,
  type Statement,
  translated,
} from './statements.ts';

/** Bytes of staged rows in one request, which may have 10 MB including all escapes. */
const MOST_STAGED_BYTES = 4_000_000;
/** No transaction takes this long. */
const STAGE_LIMIT_S = 3_600;
const ALONE_TRIES = 30;
const ALONE_REST_MS = 1_000;
/** Columns that `changeRows` may write or find by, and that are no texts. */
const TIMES = new Set(['until', '_changed_at']);

/** A change that waits for the end of its transaction. */
interface Pending extends Statement {
  /** The error if it does not change one row. */
  readonly unlessOne?: Error | undefined;
  readonly asserts?: boolean;
}

/** Staged rows. */
interface Stage {
  /** The rows as a query or a table, and the parameter of the query. */
  readonly sql: string;
  readonly param?: NamedParam;
  readonly ids: readonly string[];
  /** The months in which the rows with these IDs are stored, as a condition on `t`, by table. */
  readonly months: Map<string, string>;
}

/**
 * BigQuery has no connection. A transaction is one script, sent at its end: changes wait until then, and a query after some of them
 * sends a script that makes them, reads, and undoes them. So a killed process leaves no transaction open. A statement that creates
 * a table, column or view commits everything before it, as in MySQL.
 */
export class BigQuerySession implements Connection {
  readonly dialect: Dialect;
  readonly isLost = false;
  readonly #api: BigQueryApi;
  readonly #leases: Leases;
  #transaction: Pending[] | null = null;
  readonly #savepoints = new Map<string, number>();
  #stage: Stage | undefined;
  /** Tables of staged rows. */
  readonly #stages: string[] = [];
  #names = 0;
  #snapshot: string | undefined;
  #giveAlone: (() => Promise<void>) | undefined;

  constructor(api: BigQueryApi, leases: Leases, dialect: Dialect) {
    [this.#api, this.#leases, this.dialect] = [api, leases, dialect];
  }

  async query(sql: string, params: readonly Param[] = []): Promise<SqlRow[]> {
    if (sql === COLUMNS_OF) {
      const each = (params[0] as readonly string[]).map((table) => this.#columnsOf(table));
      return (await Promise.all(each)).flat();
    }
    if (sql === RELATIONS) return this.#relations();
    const rows: SqlRow[] = [];
    for await (const page of this.#read(sql, params)) rows.push(...page);
    return rows;
  }

  async pages(sql: string, params: readonly Param[], size: number): Promise<Pages> {
    return this.#read(sql, params, size);
  }

  async run(sql: string, params: readonly Param[] = []): Promise<number> {
    const isInTransaction = this.#transaction !== null;
    if (await this.#isOwnWork(sql)) return 0;
    if (!isInTransaction) return this.#changed(await this.#translated(sql, params));
    await this.defer(sql, params);
    const [row] = await this.query('SELECT @@row_count AS n');
    return Number(row?.['n']);
  }

  /** See `Session.defer`. */
  async defer(sql: string, params: readonly Param[] = [], unlessOne?: Error): Promise<void> {
    if (await this.#isOwnWork(sql)) return;
    const statement = await this.#translated(sql, params);
    if (this.#transaction === null) throw new TypeError('no transaction is open');
    this.#transaction.push({ ...statement, unlessOne, asserts: unlessOne !== undefined });
  }

  async begin(): Promise<void> {
    this.#transaction = [];
    this.#names = 0;
  }

  async end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    try {
      if (how === 'COMMIT') await this.#flush();
    } finally {
      this.#transaction = null;
      this.#stage = undefined;
      this.#savepoints.clear();
      for (const table of this.#stages.splice(0)) await this.#dropStage(table).catch(() => {});
      await this.#giveAlone?.().catch(() => {});
      this.#giveAlone = undefined;
    }
  }

  /** A transaction of a session of the service, which reads everything as of one moment. */
  async freeze(): Promise<void> {
    for await (const { sessionId } of this.#api.pages('BEGIN TRANSACTION', [], {
      opensSession: true,
    }))
      this.#snapshot = sessionId;
  }

  lock(name: string): Promise<(() => Promise<void>) | null> {
    return this.#leases.take(`form ${name}`);
  }

  /** See `Dialect.alone`. */
  async alone(): Promise<void> {
    for (let left = ALONE_TRIES; this.#giveAlone === undefined; left--) {
      this.#giveAlone = (await this.#leases.take('alone')) ?? undefined;
      if (this.#giveAlone !== undefined) return;
      if (left === 0)
        throw new BigQueryError({
          status: 0,
          reason: 'another process changes the tables',
          text: '',
        });
      await this.#api.options.clock.sleep(ALONE_REST_MS);
    }
  }

  /** Creates or replaces a view. */
  async putView(name: string, select: string): Promise<void> {
    const { project, dataset } = this.#api.options;
    const { sql } = await this.#translated(select, []);
    await this.run(
      `CREATE OR REPLACE VIEW \`${nameOf(name)}\` AS ${qualified(sql, `${project}.${dataset}`)}`,
    );
  }

  /** See `Staging.load`. BigQuery enforces no key, so a query finds out whether one of the IDs exists. */
  async load({ into, names, types, rows, same }: Loading): Promise<void> {
    const values = rows as readonly (readonly Param[])[];
    const ids = values.map(([id]) => String(id));
    if (into !== STAGE && (await this.#knows(into, ids))) throw new RowExists();
    await this.#stageRows(
      types.map((type, at) => ({ name: unquoted(names[at] ?? ''), type })),
      values,
      ids,
    );
    if (into === STAGE) return;
    const selected = names.map((name, at) =>
      at < types.length ? `s.${name}` : `CAST($${at - types.length + 1} AS TIMESTAMP)`,
    );
    await this.defer(
      `INSERT INTO ${into} (${names.join(', ')}) SELECT ${selected.join(', ')} FROM ${STAGE} AS s`,
      same,
    );
  }

  /** Rows that do not fit into one request go into a table of their own first, which exists as long as the transaction. */
  async #stageRows(
    columns: readonly StageColumn[],
    rows: readonly (readonly Param[])[],
    ids: readonly string[],
  ): Promise<void> {
    const months = new Map<string, string>();
    const chunks = chunksOf(rows);
    const [only = '[]'] = chunks;
    if (chunks.length > 1) {
      this.#stage = { sql: await this.#stageTable(columns, chunks), ids, months };
      return;
    }
    const name = `s${++this.#names}`;
    this.#stage = { sql: `(${rowsOf(columns, name)})`, param: [name, only], ids, months };
  }

  async #knows(table: string, ids: readonly string[]): Promise<boolean> {
    const { sql, params } = translated(
      `SELECT 1 AS n FROM ${table} WHERE id IN UNNEST($1) LIMIT 1`,
      [ids],
      { nextName: () => 'ids' },
    );
    for await (const { rows } of this.#api.pages(sql, params)) if (rows.length > 0) return true;
    return false;
  }

  /** See `Session.changeRows`. A request with all rows would be too large, so they go into a table first. */
  async changeRows({ table, keys, names, emptied, rows }: RowChanges): Promise<void> {
    const columns = [...keys, ...names].map((name) => {
      return { name: unquoted(name), type: TIMES.has(name) ? 'TIMESTAMP' : 'STRING' };
    });
    const staged = await this.#stageTable(columns, chunksOf(rows));
    const on = keys.map((key) => `t.${key} = s.${key}`).join(' AND ');
    const set = names.map((name) => `${name} = s.${name}`);
    set.push(...emptied.map((name) => `${name} = NULL`));
    await this.defer(
      `MERGE ${table} AS t USING ${staged} AS s ON ${on} WHEN MATCHED THEN UPDATE SET ${set.join(', ')}`,
    );
  }

  /** Puts rows, as JSON, into a table that exists as long as the transaction. Returns its quoted name. */
  async #stageTable(columns: readonly StageColumn[], chunks: readonly string[]): Promise<string> {
    const table = await this.#makeStage(columns.map(({ name, type }) => `\`${name}\` ${type}`));
    const into = `INSERT INTO \`${table}\` (${columns.map(({ name }) => `\`${name}\``).join(', ')})`;
    for (const chunk of chunks)
      await this.#changed({ sql: `${into} ${rowsOf(columns, 'rows')}`, params: [['rows', chunk]] });
    return `\`${table}\``;
  }

  /** Creates a table for staged rows, and drops those that killed processes left. */
  async #makeStage(columns: readonly string[]): Promise<string> {
    const nowS = Math.floor(this.#api.options.clock.now() / 1_000);
    for (const { name } of await this.#relations()) {
      const madeS = Number(/^_mirror_stage_(\d+)_/.exec(String(name))?.[1] ?? nowS);
      if (nowS - madeS > STAGE_LIMIT_S) await this.#dropStage(String(name));
    }
    const table = `_mirror_stage_${nowS}_${randomBytes(4).toString('hex')}`;
    await this.#changed({ sql: `CREATE TABLE \`${table}\` (${columns.join(', ')})`, params: [] });
    this.#stages.push(table);
    return table;
  }

  async #dropStage(table: string): Promise<void> {
    await this.#changed({ sql: `DROP TABLE IF EXISTS \`${table}\``, params: [] });
  }

  async close(): Promise<void> {
    if (this.#snapshot === undefined) return;
    const sessionId = this.#snapshot;
    this.#snapshot = undefined;
    for await (const _ of this.#api.pages('ROLLBACK TRANSACTION', [], { sessionId }));
  }

  async *#read(sql: string, params: readonly Param[], pageRows?: number): AsyncGenerator<SqlRow[]> {
    const statement = await this.#translated(sql, params);
    const isAfterChanges = (this.#transaction?.length ?? 0) > 0;
    const sent = isAfterChanges ? scriptOf(this.#transaction ?? [], statement) : statement;
    const options = { sessionId: this.#snapshot, ...(pageRows !== undefined && { pageRows }) };
    for await (const { rows } of this.#api.pages(sent.sql, sent.params, options))
      if (rows.length > 0) yield [...rows];
  }

  /** Runs a statement or script. Returns how many rows it changed. */
  async #changed(statement: Statement): Promise<number> {
    let many = 0;
    for await (const { changed } of this.#api.pages(statement.sql, statement.params))
      many = changed;
    return many;
  }

  /** Sends the changes of the transaction. */
  async #flush(): Promise<void> {
    const pending = this.#transaction ?? [];
    if (pending.length === 0) return;
    this.#transaction = [];
    try {
      await this.#changed(scriptOf(pending, 'COMMIT'));
    } catch (error) {
      const at = error instanceof BigQueryError ? error.found(/\bstatement (\d+)\b/) : undefined;
      throw (at === undefined ? undefined : pending[Number(at)]?.unlessOne) ?? error;
    }
  }

  /** Handles statements that the session runs itself or at once; false for a change of rows. */
  async #isOwnWork(sql: string): Promise<boolean> {
    const [, word = '', rest = ''] = /^\s*(\w+)\s*(.*)/s.exec(sql) ?? [];
    switch (word.toUpperCase()) {
      case 'SAVEPOINT':
        this.#savepoints.set(rest, this.#transaction?.length ?? 0);
        return true;
      case 'RELEASE':
        return true;
      case 'ROLLBACK':
        this.#transaction?.splice(this.#savepoints.get(rest.replace('TO SAVEPOINT ', '')) ?? 0);
        return true;
      case 'CREATE':
      case 'ALTER':
      case 'DROP':
        await this.#flush();
        await this.#changed(await this.#translated(sql, []));
        return true;
      default:
        return false;
    }
  }

  async #translated(sql: string, params: readonly Param[]): Promise<Statement> {
    const months = sql.includes(MONTHS) ? await this.#months(sql) : undefined;
    const nextName = (): string => `p${++this.#names}`;
    const { sql: stage, param } = this.#stage ?? {};
    const statement = translated(sql, params, { nextName, stage, months });
    return param !== undefined && /\b_mirror_stage\b/.test(sql)
      ? { ...statement, params: [...statement.params, param] }
      : statement;
  }

  /** The months that contain rows with the staged IDs, as a condition with literals, so that only these partitions are read. */
  async #months(sql: string): Promise<string> {
    const stage = this.#stage;
    const table = /(\S+) AS t (?:ON|USING)/.exec(sql)?.[1] ?? '';
    const known = stage?.months.get(table);
    if (known !== undefined) return known;
    const found: (string | null)[] = [];
    const statement = translated(
      `SELECT DISTINCT FORMAT_TIMESTAMP('%Y-%m', created_at) AS month FROM ${table} WHERE id IN UNNEST($1)`,
      [stage?.ids ?? []],
      { nextName: () => 'ids' },
    );
    for await (const { rows } of this.#api.pages(statement.sql, statement.params))
      found.push(...rows.map(({ month }) => month as string | null));
    const ranges = found.map((month) => (month === null ? 't.created_at IS NULL' : within(month)));
    const condition = ranges.length === 0 ? 'FALSE' : `(${ranges.join(' OR ')})`;
    stage?.months.set(table, condition);
    return condition;
  }

  async #columnsOf(table: string): Promise<SqlRow[]> {
    type Columns = { readonly schema?: { readonly fields?: readonly { readonly name: string }[] } };
    try {
      const path = this.#api.datasetPath(`/tables/${encodeURIComponent(nameOf(table))}`);
      const { schema } = await this.#api.call<Columns>('GET', path);
      return (schema?.fields ?? []).map(({ name }) => ({ relation: table, name }));
    } catch (error) {
      if (error instanceof BigQueryError && error.isAbsent) return [];
      throw error;
    }
  }

  async #relations(): Promise<SqlRow[]> {
    type List = {
      readonly tables?: readonly {
        readonly tableReference: { readonly tableId: string };
        readonly type: string;
      }[];
      readonly nextPageToken?: string;
    };
    const found: SqlRow[] = [];
    let pageToken: string | undefined;
    do {
      const query = { maxResults: 1_000, ...(pageToken !== undefined && { pageToken }) };
      const list: List = await this.#api.call('GET', this.#api.datasetPath('/tables'), { query });
      for (const { tableReference, type } of list.tables ?? [])
        found.push({ name: tableReference.tableId, kind: type === 'VIEW' ? 'view' : 'table' });
      pageToken = list.nextPageToken;
    } while (pageToken !== undefined && pageToken !== '');
    return found;
  }
}

/** Rows as JSON, in pieces that fit into a request. */
function chunksOf(rows: readonly (readonly Param[])[]): string[] {
  const chunks: string[] = [];
  let [texts, bytes]: [string[], number] = [[], 0];
  const end = (): void => {
    if (texts.length > 0) chunks.push(`[${texts.join(',')}]`);
    [texts, bytes] = [[], 0];
  };
  for (const row of rows) {
    const text = jsonOf(row);
    const size = Buffer.byteLength(text) + 1;
    if (size > MOST_STAGED_BYTES) throw new RowTooLarge();
    if (bytes + size > MOST_STAGED_BYTES) end();
    texts.push(text);
    bytes += size;
  }
  end();
  return chunks;
}

const unquoted = (name: string): string => nameOf(name.replaceAll('"', ''));

function within(month: string): string {
  const next = new Date(`${month}-01T00:00:00Z`);
  next.setUTCMonth(next.getUTCMonth() + 1);
  const from = `t.created_at >= TIMESTAMP '${month}-01'`;
  return next.getUTCFullYear() > 9_999
    ? `(${from})`
    : `(${from} AND t.created_at < TIMESTAMP '${next.toISOString().slice(0, 10)}')`;
}
