import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BREAKS, broken } from './breaks.ts';

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

test('each deliberate break has a name of its own', () => {
  const names = BREAKS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
