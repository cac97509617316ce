import type { Analyzer, Scope } from './analyzer.ts';
import { ApiError, notDone } from './api-error.ts';
import type { Catalog, Table } from './catalog.ts';
import { checkCorrelated } from './correlation.ts';
import { aliased, type Aliased } from './dataset-alias.ts';
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
import { scanSql, type WithEntries } from './sql-scan.ts';
import { duckType, type BqType } from './types.ts';

/** A statement that the analyzer took, with what is needed to write it for DuckDB. */
export interface Prepared {
  readonly node: ResolvedNode;
  readonly names: Names;
  readonly writer: Writer;
  /** What its text was read with: names in the resolved form mean what they mean there. */
  readonly defaults: Defaults;
  /** A piece of the text as it was written. */
  readonly restore: (piece: string) => string;
}

/** What a statement stands in. */
export interface Surroundings {
  readonly analyzer: Analyzer;
  readonly catalog: Catalog;
  readonly defaults: Defaults;
  readonly scope: Scope;
}

const MAX_VIEW_DEPTH = 16;

/** Has a statement checked over the tables that it names. */
export async function prepareStatement(sql: string, around: Surroundings): Promise<Prepared> {
  return prepare(sql, 'statement', around, 0);
}

/** Has an expression of a script checked. */
export async function prepareExpression(sql: string, around: Surroundings): Promise<Prepared> {
  return prepare(sql, 'expression', around, 0);
}

async function prepare(
  sql: string,
  kind: 'statement' | 'expression',
  around: Surroundings,
  depth: number,
): Promise<Prepared> {
  if (depth > MAX_VIEW_DEPTH) throw notDone(`views over views deeper than ${MAX_VIEW_DEPTH}`);
  const short = aliased(sql);
  if (short.text === sql) return read(short, kind, around, depth);
  try {
    return await read(short, kind, around, depth);
  } catch (error) {
    // Its mistakes are told in its own words and places.
    if (!(error instanceof ApiError) || error.reason !== 'invalidQuery') throw error;
    return read({ text: sql, prefixes: [], restore: (piece) => piece }, kind, around, depth);
  }
}

async function read(
  { text, prefixes, restore }: Aliased,
  kind: 'statement' | 'expression',
  around: Surroundings,
  depth: number,
): Promise<Prepared> {
  const { analyzer, catalog, scope } = around;
  const defaults = { ...around.defaults, prefixes };
  const spelled = await analyzer.tableNames(kind === 'statement' ? text : `SELECT ${text}`);
  const names = await resolveNames(spelled, catalog, defaults, async (query, view) => {
    const inner = await prepare(query, 'statement', inView(around, view), depth + 1);
    return { sql: viewSql(inner, view), node: inner.node, names: inner.names };
  });
  const node = await analyzer[kind](text, names.tables, scope);
  checkCorrelated(node);
  return { node, names, writer: new Writer(names.relations), defaults, restore };
}

const NO_SCOPE: Scope = { named: new Map(), positional: [], variables: new Map() };

/** A view's query knows neither parameters nor variables nor a default dataset. */
const inView = (around: Surroundings, view: Table): Surroundings => ({
  ...around,
  defaults: { ...around.defaults, project: view.project, dataset: undefined },
  scope: NO_SCOPE,
});

function viewSql({ node, writer }: Prepared, view: Table): string {
  const outputs = node.list('outputColumnList');
  const columns = view.columns.map(({ name }, index) => {
    const output = outputs[index];
    if (output === undefined) throw new Error(`The view ${view.name} lacks a column.`);
    return `${columnName(output.column().id)} AS ${quoted(name)}`;
  });
  const sql = `SELECT ${columns.join(', ')} FROM (${writer.scan(node.child('query'))})`;
  if (writer.placeholders.some(({ source }) => source.from !== 'now')) {
    throw new Error(`The view ${view.name} has a parameter.`);
  }
  return sql;
}

/** Writes DuckDB's SQL for one statement and collects the values that it will need. */
export class Writer implements Emit {
  readonly #relations: ReadonlyMap<string, Relation>;
  readonly #placeholders = new Map<string, Placeholder>();
  readonly #entries: WithEntries = new Map();

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
    return scanSql(this, this.#entries, node);
  }

  placeholder(source: PlaceholderSource, type: BqType): string {
    const key = keyOf(source);
    this.#placeholders.set(key, { key, source, type });
    if (type.kind === 'ARRAY' || type.kind === 'STRUCT') {
      return `CAST(from_json($${key}, '${structureOf(type)}') AS ${duckType(type)})`;
    }
    if (type.kind === 'BYTES') return `from_base64(CAST($${key} AS VARCHAR))`;
    return `CAST($${key} AS ${duckType(type)})`;
  }

  relation(name: string): Relation {
    const relation = this.#relations.get(name);
    if (relation === undefined) throw new Error(`Nobody resolved the table ${name}.`);
    // A view over INFORMATION_SCHEMA or over the time of the query carries its own placeholder.
    if (relation.sql.includes(`$${keyOf({ from: 'now' })}`)) {
      this.placeholder({ from: 'now' }, { kind: 'TIMESTAMP' });
    }
    return relation;
  }
}

function keyOf(source: PlaceholderSource): string {
  switch (source.from) {
    case 'named':
      return `p_${Buffer.from(source.name).toString('hex')}`;
    case 'positional':
      return `p${source.position}`;
    case 'variable':
      return `v_${Buffer.from(source.name).toString('hex')}`;
    case 'system':
      return `s_${source.name.replaceAll('.', '_')}`;
    case 'now':
      return 'now';
  }
}

/** A nested value arrives as JSON whose leaves are texts. */
function structureOf(type: BqType): string {
  if (type.kind === 'ARRAY') return `[${structureOf(type.element)}]`;
  if (type.kind !== 'STRUCT') return '"VARCHAR"';
  const fields = type.fields.map(({ type }, index) => `"f${index + 1}":${structureOf(type)}`);
  return `{${fields.join(',')}}`;
}
