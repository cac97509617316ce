import { AnalyzerRefusal, type AnalyzerServer } from './analyzer-server.ts';
import { invalidQuery } from './api-error.ts';
import { objectsAt, textsAt, type Raw } from './json-object.ts';
import { LANGUAGE } from './language.ts';
import { ResolvedNode } from './resolved-node.ts';
import { toProto, type BqType } from './types.ts';

/** A table for the analyzer, as a statement spells it. */
export interface AnalyzedTable {
  /** As written: one entry per part between dots outside of backticks. */
  readonly spelling: readonly string[];
  /** Returned with each use of the table. */
  readonly key: string;
  readonly columns: readonly { readonly name: string; readonly type: BqType }[];
}

/** The types of a job's parameters, by their names in lower case. */
export type ParameterTypes = ReadonlyMap<string, BqType>;

/** The number of cached responses, newest first, and the maximum length of a request whose response is cached. */
const CACHED = 1_000;
const CACHED_CHARACTERS = 200_000;
const SHARED = new WeakMap<AnalyzerServer, Analyzer>();

/** Calls Google's analyzer, and caches its responses: the same text with the same tables has the same meaning. */
export class Analyzer {
  readonly #server: AnalyzerServer;
  readonly #answers = new Map<string, Promise<Raw>>();

  private constructor(server: AnalyzerServer) {
    this.#server = server;
  }

  /** The analyzer behind a server: one for all emulators of the process, so that they share its responses. */
  static over(server: AnalyzerServer): Analyzer {
    const known = SHARED.get(server);
    if (known !== undefined) return known;
    const analyzer = new Analyzer(server);
    SHARED.set(server, analyzer);
    return analyzer;
  }

  /** The parse tree of a script. A script that cannot be parsed is a 400. */
  async parseScript(sql: string): Promise<ResolvedNode> {
    const answer = await this.#ask('parse', sql, () => ({
      sqlStatement: sql,
      allowScript: true,
      options: LANGUAGE,
    }));
    return new ResolvedNode(answer);
  }

  /** The tables that a statement names, spelled as it spells them. */
  async tableNames(sql: string): Promise<readonly (readonly string[])[]> {
    // An ALTER reads nothing, but the analyzer needs its table.
    if (/^\s*ALTER\b/i.test(sql)) return this.#alteredTable(sql);
    const answer = await this.#ask('extractTableNamesFromStatement', sql, () => ({
      sqlStatement: sql,
      options: LANGUAGE,
    }));
    return objectsAt(answer, 'tableName').map((name) => textsAt(name, 'tableNameSegment'));
  }

  async #alteredTable(sql: string): Promise<readonly (readonly string[])[]> {
    const script = await this.parseScript(sql);
    const [statement] = script.child('statementListNode').list('statementList');
    const path = statement?.maybe('path');
    return path === undefined ? [] : [path.list('names').map((name) => name.text('idString'))];
  }

  /** The resolved form of a statement, with all names and types checked; a mistake is a 400. */
  async statement(
    sql: string,
    tables: readonly AnalyzedTable[],
    parameters: ParameterTypes,
  ): Promise<ResolvedNode> {
    const key = JSON.stringify([sql, tables, [...parameters]]);
    const answer = await this.#ask('analyze', key, () => requestOf(sql, tables, parameters));
    return new ResolvedNode(answer);
  }

  /** The response to a request; the key contains everything in which requests differ. */
  #ask(method: Question, text: string, request: () => Raw): Promise<Raw> {
    const key = `${method} ${text}`;
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const [oldest] = this.#answers.keys();
    if (this.#answers.size >= CACHED && oldest !== undefined) this.#answers.delete(oldest);
    const answer = this.#server.call(method, request()).catch((error: unknown) => {
      if (error instanceof AnalyzerRefusal) throw invalidQuery(worded(error.message));
      throw error;
    });
    if (key.length > CACHED_CHARACTERS) return answer;
    this.#answers.set(key, answer);
    answer.catch(() => this.#answers.delete(key));
    return answer;
  }
}

type Question = 'analyze' | 'parse' | 'extractTableNamesFromStatement';

function requestOf(
  sqlStatement: string,
  tables: readonly AnalyzedTable[],
  parameters: ParameterTypes,
): Raw {
  return {
    sqlStatement,
    simpleCatalog: catalogOf(tables),
    options: {
      languageOptions: LANGUAGE,
      defaultTimezone: 'UTC',
      errorMessageMode: 'ERROR_MESSAGE_ONE_LINE',
      pruneUnusedColumns: true,
      parameterMode: 'PARAMETER_NAMED',
      queryParameters: [...parameters].map(([name, type]) => ({ name, type: toProto(type) })),
      statementContext: 'CONTEXT_DEFAULT',
      // The others are unknown names to it.
      systemVariables: [{ namePath: ['row_count'], type: toProto({ kind: 'INT64' }) }],
      allowedHintsAndOptions: { disallowDuplicateOptionNames: true },
    },
  };
}

/** The service formats the position differently than the library. */
const worded = (message: string): string => message.replace(/ \[at (\d+:\d+)\]$/, ' at [$1]');

interface Catalog {
  readonly name: string;
  readonly table: Raw[];
  readonly catalog: Catalog[];
}

/** One catalog for one statement: each table has the name that the statement uses. */
function catalogOf(tables: readonly AnalyzedTable[]): Raw {
  const root: Catalog = { name: 'root', table: [], catalog: [] };
  tables.forEach((table, index) => {
    let place = root;
    for (const part of table.spelling.slice(0, -1)) {
      let next = place.catalog.find(({ name }) => name === part);
      if (next === undefined) {
        next = { name: part, table: [], catalog: [] };
        place.catalog.push(next);
      }
      place = next;
    }
    place.table.push({
      name: table.spelling.at(-1),
      fullName: table.key,
      serializationId: index,
      column: table.columns.map(({ name, type }) => ({ name, type: toProto(type) })),
    });
  });
  return {
    ...root,
    builtinFunctionOptions: { languageOptions: LANGUAGE },
  };
}
