/** A text whose backticked tables name their dataset by a number: what is said of it holds for any dataset. */
export interface Aliased {
  readonly text: string;
  /** `project.dataset` of each number, from 1. */
  readonly prefixes: readonly string[];
  /** A piece of the text with the datasets' own names. */
  readonly restore: (piece: string) => string;
}

/** What may hold a backtick and is no name, and names of three parts. */
const TOKENS =
  /'''[^]*?'''|"""[^]*?"""|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|--[^\n]*|#[^\n]*|\/\*[^]*?\*\/|`([^`\\\n.]+\.[^`\\\n.]+)\.([^`\\\n]+)`|`[^`]*`/g;
const ALIAS = /^~(\d+)$/;

/** Takes the names of projects and datasets out, so that the analyzer's answers serve more than one dataset. */
export function aliased(sql: string): Aliased {
  if (sql.includes('`~')) return { text: sql, prefixes: [], restore: (piece) => piece };
  const prefixes: string[] = [];
  const text = sql.replaceAll(TOKENS, (token, prefix?: string, table?: string) => {
    if (prefix === undefined || table === undefined) return token;
    if (!prefixes.includes(prefix)) prefixes.push(prefix);
    return `\`~${prefixes.indexOf(prefix) + 1}.${table}\``;
  });
  const restore = (piece: string): string =>
    piece.replaceAll(/`~(\d+)\./g, (_, number: string) => `\`${prefixes[Number(number) - 1]}.`);
  return { text, prefixes, restore };
}

/** The parts of a path that a statement spells: dots inside of backticks divide it, a number stands for its dataset. */
export function pathParts(spelling: readonly string[], prefixes: readonly string[]): string[] {
  const [first = '', ...rest] = spelling.flatMap((part) => part.split('.'));
  const [, number] = ALIAS.exec(first) ?? [];
  const prefix = number === undefined ? undefined : prefixes[Number(number) - 1];
  return [...(prefix?.split('.') ?? [first]), ...rest];
}
