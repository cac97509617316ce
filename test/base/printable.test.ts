import * as fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/logger.ts';
import {
  printable,
  printableJson,
  printableLines,
  settingLine,
  shellOption,
  shellWord,
} from '../../src/base/printable.ts';
import { propertyRuns } from '../support/property.ts';

/** Characters of a name that no terminal may get: controls, and characters that reorder a line. */
const DANGEROUS = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

describe('text for a person', () => {
  it.each([
    ['a\r\nb\tc', 'a b c'],
    ['\u001B[31mred\u0007', '\uFFFD[31mred\uFFFD'],
    ['\u009B31m\u0085x', '\uFFFD31m x'],
    ['pdf.\u202Eexe\u2066', 'pdf.\uFFFDexe\uFFFD'],
    ['\u007F\0', '\uFFFD\uFFFD'],
    ['lone \uD83D', 'lone \uFFFD'],
  ])('%j is shown as %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it.each([
    '👩‍👩‍👧',
    '🏴\u{E0067}\u{E0062}\u{E007F}',
    'Příliš žluťoučký',
    'می\u200Cخواهم',
    'שלום\u200F!',
  ])('keeps the characters that scripts and emojis need: %s', (text) => {
    expect(printable(text)).toBe(text);
  });

  it('contains no control character, for any input, and does not change when it is escaped again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = printable(text);
        expect(shown).not.toMatch(DANGEROUS);
        expect(printable(shown)).toBe(shown);
        expect(printableLines(`${text}\n${text}`).replaceAll('\n', '')).not.toMatch(DANGEROUS);
      }),
      propertyRuns(300),
    );
  });

  it('keeps its value as JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.string({ unit: 'binary' }), (json, text) => {
        for (const each of [json, JSON.stringify({ [text]: text })]) {
          const shown = printableJson(each);
          expect(shown.replaceAll('\n', '')).not.toMatch(DANGEROUS);
          expect(JSON.parse(shown)).toEqual(JSON.parse(each));
        }
      }),
      propertyRuns(100),
    );
  });

  it('contains no control character in an error or in the log', () => {
    const evil = 'x\u009B31m\u001B]0;t\u0007\u202E\r\n✓ all is well';
    const { message } = new MirrorError('USAGE', `There is no form ${evil}`);
    expect(message).toBe(`There is no form ${printable(evil)}`);
    let logged = '';
    const logger = createLogger('info', { write: (line) => void (logged += line) });
    logger.info({ form: evil }, evil);
    expect(logged.replace(/\n$/, '')).not.toMatch(DANGEROUS);
    expect(JSON.parse(logged)).toMatchObject({ form: evil, msg: evil });
  });
});

const shell = (script: string): string => execFileSync('sh', ['-c', script], { encoding: 'utf8' });

const anyName = fc
  .array(fc.integer({ min: 1, max: 0xffff }))
  .map((units) => String.fromCharCode(...units).toWellFormed());
/** Characters with a meaning in shells, more often than by chance. */
const nasty = fc.string({
  unit: fc.constantFrom(...Array.from(`-'"$\`\\;&|<>()*?!~#= \n\t\u001Bax,:`)),
});

it('a word of a command reaches the program as shown, and the shell runs no part of it', () => {
  fc.assert(
    fc.property(fc.oneof(anyName, nasty), (id) => {
      expect(shell(`printf %s ${shellWord(id)}`)).toBe(printable(id));
      const option = shellOption('--form', id);
      const words = shell(`for word in ${option}; do printf '%s\\n' "$word"; done`).split('\n');
      const expected = id.startsWith('-') ? [`--form=${printable(id)}`] : ['--form', printable(id)];
      expect(words).toEqual([...expected, '']);
    }),
    propertyRuns(60),
  );
});

it('a line with a setting sets exactly that setting', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z0-9_-]+$/)), (names) => {
      const value = names.join(',');
      const line = settingLine('TARGET_FIELDS', value);
      expect(line).not.toContain('\n');
      expect(shell(`${line}; printf %s "$TARGET_FIELDS"`)).toBe(value);
    }),
    propertyRuns(60),
  );
});
