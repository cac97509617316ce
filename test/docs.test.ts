import { PROBLEMS } from '../src/base/catalogue.ts';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addCommand, COMMANDS } from '../src/cli/commands.ts';
import { STATUSES } from '../src/mirror/types.ts';
import { SETTING_NAMES } from '../src/settings/settings-table.ts';
import { UPDATING, projectText, writeProjectText } from './support/readme.ts';
import { load } from './support/settings.ts';
import { referencePages } from './support/reference.ts';
import { settingsDotEnv } from './support/settings-docs.ts';

/** A call of the program, at the start of a line or in backticks. */
const CALL = /(?:^ *|`)(?:[A-Z_]+=\S+ )*(?:npx forms-mirror|(?:\.\/)?forms-mirror) ([a-z]+)/gm;

/** A setting, or a code of an error or a problem: in backticks, in capitals with an underscore. */
const NAME = /`([A-Z]+_[A-Z_]+)(?:=[^`]*)?`/g;
/** The target of a link, unless it is on another site. */
const LINK = /\]\((?!https?:)([^)]+)/g;
/** A command line of the program in a block of commands. */
const COMMAND_LINE = /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npx |\.\/)?forms-mirror +([^#\n]*?) *(?:#.*)?$/;
/** A block of code, with its language. */
const BLOCK = /^ *```([a-z]+)[^\n]*\n([\s\S]*?)^ *```$/gm;

const PROJECT = resolve(import.meta.dirname, '..');
/** The pages for users. */
const PAGES = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(PROJECT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const KNOWN: ReadonlySet<string> = new Set([
  ...SETTING_NAMES,
  ...SETTING_NAMES.map((name) => `${name}_FILE`),
  ...Object.keys(PROBLEMS),
  ...['src/mirror/port.ts'].flatMap((path) =>
    [...projectText(path).matchAll(/\| '([A-Z_]+)'/g)].map((match) => match[1] ?? ''),
  ),
  ...STATUSES,
  'NODE_EXTRA_CA_CERTS',
  // The code of a message that is not about a problem.
  'NEW_ANSWERS',
]);

/** Every file of the program, by its path in src. */
const SOURCES = new Map(
  readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [path, projectText(`src/${path}`)] as const),
);

/** A page, and the findings in it. */
type PageMatch = readonly [page: string, found: string];

const inPages = (pattern: RegExp): PageMatch[] =>
  PAGES.flatMap((page) =>
    [...projectText(page).matchAll(pattern)].map(([, found = '']): PageMatch => [page, found]),
  );

/** A setting of a named target is documented under its unnamed form. */
const isKnown = (word: string): boolean =>
  KNOWN.has(word) || KNOWN.has(word.replace(/^TARGET_WAREHOUSE_/, 'TARGET_'));

describe('the documentation (npm run docs updates the generated pages)', () => {
  it('.env.example shows every setting and nothing else', () => {
    if (UPDATING) writeProjectText('.env.example', settingsDotEnv());
    expect(projectText('.env.example')).toBe(settingsDotEnv());
  });

  it.each(Object.entries(referencePages()))('docs/reference/%s equals the code', (name, text) => {
    const path = `docs/reference/${name}`;
    if (UPDATING) writeProjectText(path, text);
    expect(projectText(path)).toBe(text);
  });

  it('.env.example sets nothing if copied unchanged; with the # removed it is read without a mistake', () => {
    const example = projectText('.env.example');
    expect(parseEnv(example)).toEqual({});
    const set = parseEnv(
      example
        .replaceAll(/^#(?=[A-Z_]+=)/gm, '')
        .replaceAll('…', 'xxx')
        .replaceAll(':password@', ':kZ4vQ1mW@'),
    );
    expect(Object.keys(set).toSorted()).toEqual([...SETTING_NAMES].toSorted());
    // No example is a key or a password, and only one of the two schedules counts.
    const { SYNC_EVERY: _, HASH_KEY: __, ...rest } = set;
    const own = {
      HASH_KEY: randomBytes(32).toString('base64'),
      TARGET_WAREHOUSE_URL: 'sqlite:warehouse.sqlite',
      ADMIN_PASSWORD: 'open sesame, please',
    };
    const env = { ...rest, ...own };
    expect(() => load(env)).not.toThrow();
    // A password that everyone can read here protects nothing.
    const asItIs = { ...env, ADMIN_PASSWORD: rest['ADMIN_PASSWORD'] };
    expect(() => load(asItIs)).toThrow('is short');
  });

  it('names only existing commands and settings', () => {
    const commands = new Set(COMMANDS.map(({ name }) => name));
    const named = inPages(CALL).filter(([, name]) => !commands.has(name));
    expect([...named, ...inPages(NAME).filter(([, word]) => !isKnown(word))]).toEqual([]);
  });

  it('names only existing npm scripts and test files', () => {
    const { scripts } = JSON.parse(projectText('package.json')) as { scripts: object };
    const unknown = inPages(/npm run (?:--silent |-s )?([a-z:]+)/g).filter(
      ([, name]) => !Object.hasOwn(scripts, name),
    );
    const tests = readdirSync(join(PROJECT, 'test'), { recursive: true, encoding: 'utf8' });
    const missing = inPages(/`test\/([a-z/.-]+)`/g).filter(
      ([, name]) => !tests.some((file) => file === name || file.startsWith(`${name}.`)),
    );
    expect([...unknown, ...missing]).toEqual([]);
  });

  it('links only to existing files and headings', () => {
    expect(inPages(LINK).filter(([page, link]) => !leads(page, link))).toEqual([]);
  });

  it('quotes only messages of the program', () => {
    const symptoms = [...projectText('docs/troubleshooting.md').matchAll(/^\| ([^|]*) \|/gm)];
    const quoted = symptoms.flatMap(([, symptom = '']) =>
      [...symptom.matchAll(/"([^"]+)"/g)].map(([, message = '']) => message),
    );
    const code = [...SOURCES.values()].join('\n');
    expect(quoted.length).toBeGreaterThan(5);
    expect(quoted.filter((message) => !code.includes(message))).toEqual([]);
  });

  it('has an entry in the runbook for each problem', () => {
    const runbook = projectText('docs/troubleshooting.md').split('## By problem code')[1] ?? '';
    const entries = [...runbook.matchAll(/^### (\S+)$/gm)].map(([, code]) => code);
    expect(entries).toEqual(Object.keys(PROBLEMS));
  });

  it('has no problem that the program never reports', () => {
    const others = [...SOURCES].filter(([path]) => path !== 'base/catalogue.ts');
    const isReported = (code: string): boolean =>
      others.some(([, text]) => text.includes(`'${code}'`));
    expect(Object.keys(PROBLEMS).filter((code) => !isReported(code))).toEqual([]);
  });

  it('uses commands only with options that they have', () => {
    const lines = PAGES.flatMap((page) => commandLines(page).map((line) => `${page}: ${line}`));
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => !parses(line.split(': ').slice(1).join(': ')))).toEqual([]);
  });
});

/** Whether a link of a page leads to a file, and to a heading in it if the link names one. */
function leads(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(resolve(PROJECT, target))) return false;
  return heading === undefined || headings(target).has(heading);
}

/** The anchors of a page's headings, by GitHub's rules. */
function headings(page: string): ReadonlySet<string> {
  const titles = [...projectText(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** The command lines in code blocks of a page, without the program's name. */
function commandLines(page: string): string[] {
  const blocks = [...projectText(page).matchAll(BLOCK)].filter(([, language = '']) =>
    ['sh', 'console'].includes(language),
  );
  return blocks
    .flatMap(([, , block = '']) => block.split('\n'))
    .map((line) => COMMAND_LINE.exec(line.trim())?.[1] ?? '')
    .filter((line) => line !== '');
}

/** Whether a command takes these arguments and options. */
function parses(line: string): boolean {
  const [name = '', ...words] = line.replace(/ *[>|].*$/, '').match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  if (name.startsWith('-')) return true;
  const spec = COMMANDS.find((candidate) => candidate.name === name);
  if (spec === undefined) return false;
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  const command = addCommand(program, spec);
  command.action(() => undefined);
  try {
    command.parse(words, { from: 'user' });
    return true;
  } catch {
    return false;
  }
}

describe('the environment', () => {
  it('is only read by config.ts', () => {
    const readers = [...SOURCES].filter(([, text]) =>
      text
        .split('\n')
        .some((line) => /process\.env\b/.test(line) && !/^\s*(\/?\*|\/\/)/.test(line)),
    );
    expect(readers.map(([path]) => path)).toEqual(['settings/config.ts']);
  });
});
