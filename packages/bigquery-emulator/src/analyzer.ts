import { AnalyzerRefusal, type AnalyzerServer } from './analyzer-server.ts';
import { invalidQuery } from './api-error.ts';
import { objectsAt, textsAt, type Raw } from './json-object.ts';
import { LANGUAGE } from './language.ts';
import { ResolvedNode } from './resolved-node.ts';
import { toProto, type BqType } from './types.ts';

/** A table as a statement spells it, for the analyzer. */
export interface AnalyzedTable {
  /** As written: one entry a part between dots outside of backticks. */
  readonly spelling: readonly string[];
  /** Comes back with each use of the table. */
  readonly key: string;
  readonly columns: readonly { readonly name: string; readonly type: BqType }[];
}

/** The types of a job's parameters, by their names in small letters. */
export type ParameterTypes = ReadonlyMap<string, BqType>;

/** Answers that are kept, the newest; and how long a request may be for its answer to be kept. */
const CACHED = 1_000;
const CACHED_CHARACTERS = 200_000;
const SHARED = new WeakMap<AnalyzerServer, Analyzer>();

/** Asks Google's analyzer, and keeps its answers: the same text over the same tables means the same. */
export class Analyzer {
  readonly #server: AnalyzerServer;
  readonly #answers = new Map<string, Promise<Raw>>();

  private constructor(server: AnalyzerServer) {
    this.#server = server;
  }

  /** The analyzer over a server: one for all emulators of the process, so that they share its answers. */
  static over(server: AnalyzerServer): Analyzer {
    const known = SHARED.get(server);
    if (known !== undefined) return known;
    const analyzer = new Analyzer(server);
    SHARED.set(server, analyzer);
    return analyzer;
  }

  /** The parse tree of a script. What cannot be parsed is a 400. */
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
    // An ALTER is no reading; the analyzer wants to know its table all the same.
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

  /** The resolved form of a statement, every name and type in it checked; a mistake is a 400. */
  async statement(
    sql: string,
    tables: readonly AnalyzedTable[],
    parameters: ParameterTypes,
  ): Promise<ResolvedNode> {
    const key = JSON.stringify([sql, tables, [...parameters]]);
    const answer = await this.#ask('analyze', key, () => requestOf(sql, tables, parameters));
    return new ResolvedNode(answer);
  }

  /** The answer to a question; the key says everything in which questions differ. */
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

/** The service writes the place in another way than the library. */
const worded = (message: string): string => message.replace(/ \[at (\d+:\d+)\]$/, ' at [$1]');

interface Catalog {
  readonly name: string;
  readonly table: Raw[];
  readonly catalog: Catalog[];
}

/** One catalogue for one statement: each table stands where the statement looks for it. */
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
