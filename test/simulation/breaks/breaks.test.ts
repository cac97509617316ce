import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BREAKS, broken, caughtIn, tableOf } from './breaks.ts';

const ROOT = join(import.meta.dirname, '../../..');

test.each(BREAKS.map((fault) => [fault.name, fault] as const))(
  'the deliberate break "%s" can be made',
  (_, fault) => {
    for (const patch of [fault, ...(fault.and === undefined ? [] : [fault.and])]) {
      const text = readFileSync(join(ROOT, patch.file), 'utf8');
      expect(broken(text, patch)).not.toBe(text);
    }
  },
);

test('each deliberate break has its own name', () => {
  const names = BREAKS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('the table shows each deliberate break, and nine in ten of them as caught', () => {
  const text = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
  const caught = caughtIn(text);
  expect(text).toContain(tableOf(caught));
  expect(BREAKS.filter(({ name }) => caught.has(name)).length).toBeGreaterThan(0.9 * BREAKS.length);
});
