import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Param, Session, SqlRow } from '../database.ts';

const MOST_STATEMENTS = 200;
const ROWS_A_TURN = 200;

/** A statement, and which parameter each of its `?` is; null: they are in their order. */
interface Prepared {
  readonly statement: StatementSync;
  readonly order: readonly number[] | null;
}

/** Statements on a connection, prepared once. */
export class SqliteSession implements Session {
  readonly #db: DatabaseSync;
  readonly #prepared = new Map<string, Prepared>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  async query(sql: string, params: readonly Param[] = []): Promise<SqlRow[]> {
    const { statement, order } = this.#prepare(sql, params.length);
    return statement.all(...inOrder(params, order));
  }

  async run(sql: string, params: readonly Param[] = []): Promise<number> {
    const { statement, order } = this.#prepare(sql, params.length);
    return Number(statement.run(...inOrder(params, order)).changes);
  }

  /**
   * Runs a statement for each row, whose values are its parameters in their order and hold no list. Returns the rows for which it
   * changed something. In between it lets others have a turn: the source's answers, for example, must not wait for all of it.
   */
  async changedBy<Row extends readonly Param[]>(
    sql: string,
    rows: readonly Row[],
  ): Promise<readonly Row[]> {
    const { statement } = this.#prepare(sql, rows[0]?.length ?? 0);
    const changed: Row[] = [];
    for (const [at, row] of rows.entries()) {
      if (at % ROWS_A_TURN === ROWS_A_TURN - 1) await nextTurn();
      const { changes } = statement.run(...(row as readonly SQLInputValue[]));
      if (Number(changes) > 0) changed.push(row);
    }
    return changed;
  }

  #prepare(sql: string, many: number): Prepared {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const order: number[] = [];
    // `node:sqlite` binds values in their order to `?` only.
    const plain =
      many === 0
        ? sql
        : sql.replaceAll(/\$(\d+)/g, (_text, number: string) => {
            order.push(Number(number) - 1);
            return '?';
          });
    const statement = this.#db.prepare(plain);
    // Whole numbers keep all their digits.
    statement.setReadBigInts(true);
    if (this.#prepared.size >= MOST_STATEMENTS) this.#prepared.clear();
    const isInOrder = order.length === many && order.every((param, at) => param === at);
    const prepared = { statement, order: isInOrder ? null : order };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/** A list is bound as JSON. */
const bound = (param: Param | undefined): SQLInputValue =>
  typeof param === 'object' && param !== null ? JSON.stringify(param) : (param ?? null);

const inOrder = (params: readonly Param[], order: Prepared['order']): SQLInputValue[] =>
  order === null ? params.map(bound) : order.map((at) => bound(params[at]));
