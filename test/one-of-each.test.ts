import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = resolve(import.meta.dirname, '../src');

interface Rule {
  /** A pattern that only one place may contain. */
  readonly pattern: RegExp;
  /** That place, and places with their own reason. */
  readonly allowed: readonly string[];
  /** What to use everywhere else. */
  readonly instead: string;
}

const RULES: Readonly<Record<string, Rule>> = {
  'time limits': {
    pattern: /\bsetTimeout\(/,
    // A request has its own limits; the program ends itself if nothing else does.
    allowed: ['base/clock.ts', 'forms/http.ts', 'cli.ts'],
    instead: 'withinTime of base/clock.ts, or Clock.sleep',
  },
  'judgements of health': {
    pattern: /\.\.\/health\/(?:judge|judge-form|facts)\.ts/,
    allowed: [],
    instead: 'the Report of health/report.ts, which every surface shows',
  },
  'error codes': {
    pattern: /\bErrnoException\b|\bcode\?: unknown\b/,
    allowed: ['base/errors.ts'],
    instead: 'errorCode of base/errors.ts',
  },
  'numbers for people': {
    pattern: /\.toLocaleString\(/,
    allowed: [],
    instead: 'count and plural of base/format.ts',
  },
  'output that names from the source cannot control': {
    pattern: /\bprocess\.std(out|err)\b|\bconsole\.(log|info|warn|error)\(/,
    allowed: ['cli.ts', 'cli/terminal.ts'],
    instead: 'the Terminal, which makes each text printable',
  },
  'questions to a person': {
    pattern: /\.question\((?!printable\()/,
    allowed: [],
    instead: 'printable text',
  },
  'commands to copy': {
    pattern: /--(form|target)[ =]['"]?\$\{|TARGET_\w+=['"]?\$\{/,
    allowed: [],
    instead: 'shellOption and settingLine of base/printable.ts, which quote',
  },
  'the statuses of the API': {
    pattern: /'IN_PROGRESS'/,
    allowed: ['mirror/types.ts'],
    instead: 'STATUSES of mirror/types.ts',
  },
};

const files = readdirSync(SRC, { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(SRC, join(entry.parentPath, entry.name)))
  // The sandbox is another program with its own rules.
  .filter((file) => !file.startsWith('sandbox/'));

const textOf = (file: string): string => readFileSync(join(SRC, file), 'utf8');

describe('there is one of each', () => {
  it.each(Object.entries(RULES))('%s', (_name, { pattern, allowed, instead }) => {
    const others = files.filter((file) => !allowed.includes(file) && pattern.test(textOf(file)));
    expect(others, `use ${instead}`).toEqual([]);
    const gone = allowed.filter((file) => !files.includes(file));
    expect(gone, 'exceptions whose file is gone').toEqual([]);
  });
});
