import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { printable } from '../../src/base/printable.ts';
import { canBeListed, settingLine, shellOption, shellWord } from '../../src/base/shell.ts';
import { propertyRuns } from '../support/property.ts';

const shell = (script: string): string => execFileSync('sh', ['-c', script], { encoding: 'utf8' });

const anyName = fc
  .array(fc.integer({ min: 1, max: 0xffff }))
  .map((units) => String.fromCharCode(...units).toWellFormed());
/** What shells know, more densely than by chance. */
const nasty = fc.string({
  unit: fc.constantFrom(...Array.from(`-'"$\`\\;&|<>()*?!~#= \n\t\u001Bax,:`)),
});

it('a word of a command reaches the program as it was shown, and nothing of it runs', () => {
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

it('a line with a setting sets just that', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(anyName, nasty)), (names) => {
      const value = names.filter(canBeListed).join(',');
      const line = settingLine('TARGET_FIELDS', value);
      expect(line).not.toContain('\n');
      expect(shell(`${line}; printf %s "$TARGET_FIELDS"`)).toBe(value);
    }),
    propertyRuns(60),
  );
});
