import type { Analyzer, ParameterTypes } from './analyzer.ts';
import { notDone } from './api-error.ts';
import type { Catalog, Table } from './catalog.ts';
import { checkCorrelated } from './correlation.ts';
import {
  columnName,
  quoted,
  type Emit,
  type Placeholder,
  type PlaceholderSource,
  type Relation,
} from './emit.ts';
import { resolveNames, type Defaults, type Names } from './name-resolution.ts';
import type { ResolvedNode } from './resolved-node.ts';
import { expressionSql } from './sql-expression.ts';
import { scanSql } from './sql-scan.ts';
import { duckType, type BqType } from './types.ts';

/** A statement that the analyzer accepted, with the information that is needed to write it for DuckDB. */
export interface Prepared {
  readonly node: ResolvedNode;
  readonly names: Names;
  readonly writer: Writer;
  /** The context of its text: names in the resolved form have their meaning there. */
  readonly defaults: Defaults;
}

/** The context of a statement. */
export interface Surroundings {
  readonly analyzer: Analyzer;
  readonly catalog: Catalog;
  readonly defaults: Defaults;
  readonly parameters: ParameterTypes;
}

const MAX_VIEW_DEPTH = 16;

/** Checks a statement with the tables that it names. `depth`: the number of views around it. */
export async function prepareStatement(
  sql: string,
  around: Surroundings,
  depth = 0,
): Promise<Prepared> {
  if (depth > MAX_VIEW_DEPTH) throw notDone(`views over views deeper than ${MAX_VIEW_DEPTH}`);
  const { analyzer, catalog, parameters, defaults } = around;
  const spelled = await analyzer.tableNames(sql);
  const names = await resolveNames(spelled, catalog, defaults, async (query, view) => {
    const inner = await prepareStatement(query, inView(around, view), depth + 1);
    return { sql: viewSql(inner, view), names: inner.names };
  });
  const node = await analyzer.statement(sql, names.tables, parameters);
  checkCorrelated(node);
  return { node, names, writer: new Writer(names.relations), defaults };
}

/** A view's query has neither parameters nor a default dataset. */
const inView = (around: Surroundings, view: Table): Surroundings => ({
  ...around,
  defaults: { ...around.defaults, project: view.project, dataset: undefined },
  parameters: new Map(),
});

function viewSql({ node, writer }: Prepared, view: Table): string {
  const outputs = node.list('outputColumnList');
  const columns = view.columns.map(({ name }, index) => {
    const output = outputs[index];
    if (output === undefined) throw new Error(`The view ${view.name} lacks a column.`);
    return `${columnName(output.column().id)} AS ${quoted(name)}`;
  });
  return `SELECT ${columns.join(', ')} FROM (${writer.scan(node.child('query'))})`;
}

/** Writes DuckDB's SQL for one statement and collects the values that it will need. */
export class Writer implements Emit {
  readonly #relations: ReadonlyMap<string, Relation>;
  readonly #placeholders = new Map<string, Placeholder>();

  constructor(relations: ReadonlyMap<string, Relation>) {
    this.#relations = relations;
  }

  get placeholders(): Placeholder[] {
    return [...this.#placeholders.values()];
  }

  expression(node: ResolvedNode): string {
    return expressionSql(this, node);
  }

  scan(node: ResolvedNode): string {
    return scanSql(this, node);
  }

  placeholder(source: PlaceholderSource, type: BqType): string {
    const key = keyOf(source);
    this.#placeholders.set(key, { key, source, type });
    if (type.kind === 'ARRAY')
      return `CAST(from_json($${key}, '["VARCHAR"]') AS ${duckType(type)})`;
    return `CAST($${key} AS ${duckType(type)})`;
  }

  relation(name: string): Relation {
    const relation = this.#relations.get(name);
    if (relation === undefined) throw new Error(`Nobody resolved the table ${name}.`);
    return relation;
  }
}

const keyOf = (source: PlaceholderSource): string =>
  source.from === 'named' ? `p_${Buffer.from(source.name).toString('hex')}` : 'row_count';
