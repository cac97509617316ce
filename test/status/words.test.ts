import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ago, duration, exact, plural, shellWord, soon, span } from '../../src/status/words.ts';
import { propertyRuns } from '../support/property.ts';
import { NOW, before } from './fake-source.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

describe('words for people', () => {
  it.each([
    [-5, '0 s'],
    [59_999, '59 s'],
    [3 * MINUTE + 59_000, '3 min'],
    [2 * HOUR, '2 h'],
    [2 * HOUR + 5 * MINUTE, '2 h 5 min'],
    [3 * DAY + 4 * HOUR, '3 d 4 h'],
    [1_234 * DAY, '1,234 d'],
  ])('%d ms are %s', (ms, words) => expect(span(ms)).toBe(words));

  it.each([
    [0, '0.0 s'],
    [432, '0.4 s'],
    [12_400, '12 s'],
    [200_000, '3 min 20 s'],
    [2 * HOUR, '2 h'],
  ])('%d ms took %s', (ms, words) => expect(duration(ms)).toBe(words));

  it('say how long ago and how soon', () => {
    expect(ago(before(2 * SECOND), NOW)).toBe('just now');
    expect(ago(before(42 * SECOND), NOW)).toBe('42 s ago');
    expect(soon(before(-40 * SECOND), NOW)).toBe('in 40 s');
    expect(soon(before(10 * SECOND), NOW)).toBe('now');
    expect(soon(before(5 * MINUTE), NOW)).toBe('5 min late');
    expect(exact('2026-11-20T14:03:12.345Z')).toBe('2026-11-20 14:03:12 UTC');
    expect(exact('broken')).toBe('broken');
    expect(plural(1_250, 'form')).toBe('1,250 forms');
    expect(plural(1, 'pass', 'passes')).toBe('1 pass');
  });

  it('a command to copy reaches the program as it was meant, whatever a form is called', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 0xffff })), (units) => {
        const id = String.fromCharCode(...units).toWellFormed();
        const shown = execFileSync('sh', ['-c', `printf %s ${shellWord(id)}`], {
          encoding: 'utf8',
        });
        expect(shown).toBe(id);
      }),
      propertyRuns(40),
    );
  });
});
