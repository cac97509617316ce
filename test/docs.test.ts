import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../src/base/errors.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { loadConfig } from '../src/config.ts';
import { STATUSES } from '../src/mirror/types.ts';
import { SETTING_NAMES, settingOf } from '../src/settings/settings-table.ts';
import {
  UPDATING,
  projectText,
  readmePart,
  replaceReadmePart,
  writeProjectText,
} from './support/readme.ts';
import { settingsDotEnv, settingsMarkdown } from './support/settings-docs.ts';

/** A call of the program, at the start of a line or in backticks. */
const CALL = /(?:^ *|`)(?:[A-Z_]+=\S+ )*(?:npx forms-mirror|(?:\.\/)?forms-mirror) ([a-z]+)/gm;

/** A setting, or a code of an error or a problem: in backticks, in capitals with an underscore. */
const NAME = /`([A-Z]+_[A-Z_]+)(?:=[^`]*)?`/g;
/** Where a link leads, unless it is to another site. */
const LINK = /\]\((?!https?:|#)([^)#]+)/g;

const PROJECT = resolve(import.meta.dirname, '..');
/** What people read. */
const PAGES = [
  'README.md',
  'SECURITY.md',
  ...readdirSync(join(PROJECT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const KNOWN: ReadonlySet<string> = new Set([
  ...SETTING_NAMES,
  ...SETTING_NAMES.map((name) => `${name}_FILE`),
  ...Object.keys(ERROR_CODES),
  ...['src/health/problem.ts', 'src/mirror/notices.ts'].flatMap((path) =>
    [...projectText(path).matchAll(/\| '([A-Z_]+)'/g)].map((match) => match[1] ?? ''),
  ),
  ...STATUSES,
  'NODE_EXTRA_CA_CERTS',
]);

/** A page, and what was found in it. */
type PageMatch = readonly [page: string, found: string];

const inPages = (pattern: RegExp): PageMatch[] =>
  PAGES.flatMap((page) =>
    [...projectText(page).matchAll(pattern)].map(([, found = '']): PageMatch => [page, found]),
  );

/** Of a target with a name, a setting is known by what it is without. */
const isKnown = (word: string): boolean =>
  KNOWN.has(word) || KNOWN.has(word.replace(/^TARGET_WAREHOUSE_/, 'TARGET_'));

/** A part of README; brought up to date first when that was asked for. */
function partOf(name: string, text: string): string {
  if (UPDATING) replaceReadmePart(name, text);
  return readmePart(name);
}

function usageOf(name: string): string {
  const spec = COMMANDS.find((candidate) => candidate.name === name);
  const command = new Command(name);
  spec?.configure?.(command);
  const args = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  const options = command.options.map(({ flags }) => `[${flags.replace(/^-\w, /, '')}]`);
  return [name, ...args, ...options].join(' ');
}

describe('README and .env.example (npm run docs brings them up to date)', () => {
  it('show every setting, and no other', () => {
    const text = settingsMarkdown();
    expect(partOf('settings', text)).toBe(text);
    if (UPDATING) writeProjectText('.env.example', settingsDotEnv());
    expect(projectText('.env.example')).toBe(settingsDotEnv());
  });

  it('.env.example, copied as it is, sets nothing; with the # taken away it is read without a mistake', () => {
    const example = projectText('.env.example');
    expect(parseEnv(example)).toEqual({});
    const noFile = (): string => {
      throw Object.assign(new Error('none'), { code: 'ENOENT' });
    };
    const set = parseEnv(
      example
        .replaceAll(/^#(?=[A-Z_]+=)/gm, '')
        .replaceAll('…', 'xxx')
        .replaceAll(':password@', ':kZ4vQ1mW@'),
    );
    expect(Object.keys(set).toSorted()).toEqual([...SETTING_NAMES].toSorted());
    // No example is a key or a password, and one of the two schedules counts.
    const { SYNC_EVERY: _, HASH_KEY: __, ...rest } = set;
    const own = {
      HASH_KEY: randomBytes(32).toString('base64'),
      TARGET_WAREHOUSE_URL: 'sqlite:warehouse.sqlite',
      ADMIN_PASSWORD: 'open sesame, please',
    };
    const env = { ...rest, ...own };
    expect(() => loadConfig(env, noFile, { source: true, statusPage: true })).not.toThrow();
    // A password that everybody can read here guards nothing.
    const asItIs = { ...env, ADMIN_PASSWORD: rest['ADMIN_PASSWORD'] };
    expect(() => loadConfig(asItIs, noFile, { source: true, statusPage: true })).toThrow(
      'is the one of the example',
    );
  });

  it('show every command with its options, and no other', () => {
    const rows = COMMANDS.map(({ name, summary }) => `| \`${usageOf(name)}\` | ${summary} |`);
    const text = ['| command | does |', '|---|---|', ...rows].join('\n');
    expect(partOf('commands', text)).toBe(text);
  });

  it('show every error code, and no other', () => {
    const rows = Object.entries(ERROR_CODES).map(
      ([code, { retryable, meaning }]) =>
        `| \`${code}\` | ${meaning} | ${retryable ? 'by itself' : 'after a person acted'} |`,
    );
    const text = ['| code | meaning | goes on |', '|---|---|---|', ...rows].join('\n');
    expect(partOf('error-codes', text)).toBe(text);
  });

  it('name only commands and settings that exist', () => {
    const commands = new Set(COMMANDS.map(({ name }) => name));
    const named = inPages(CALL).filter(([, name]) => !commands.has(name));
    expect([...named, ...inPages(NAME).filter(([, word]) => !isKnown(word))]).toEqual([]);
  });

  it('lead to files that exist', () => {
    const isMissing = ([page, link]: PageMatch): boolean =>
      !existsSync(resolve(PROJECT, dirname(page), link));
    expect(inPages(LINK).filter(isMissing)).toEqual([]);
  });
});

describe('the settings table', () => {
  it('names only commands that exist', () => {
    const commands = new Set(COMMANDS.map(({ name }) => name));
    const unknown = SETTING_NAMES.flatMap((name) =>
      settingOf(name).usedBy.filter((command) => !commands.has(command)),
    );
    expect([...new Set(unknown)]).toEqual([]);
  });
});

describe('the environment', () => {
  it('is read by config.ts alone', () => {
    const src = resolve(import.meta.dirname, '../src');
    const readers = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .filter((path) => /process\.env\b/.test(readFileSync(join(src, path), 'utf8')));
    expect(readers.filter((path) => !mentionsOnly(join(src, path)))).toEqual(['config.ts']);
  });
});

/** True when `process.env` stands in comments only. */
function mentionsOnly(path: string): boolean {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => /process\.env\b/.test(line))
    .every((line) => /^\s*(\/?\*|\/\/)/.test(line));
}
