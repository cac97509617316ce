import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const WING = resolve(import.meta.dirname, '../../../src/targets/google-sheets');

/** From the ground up. A file imports from its own folder or from a lower one; files of no folder are the door. */
const ROOMS = ['api', 'columns', 'rows', 'state', 'summary', 'write', ''];

const heightOf = (file: string): number =>
  ROOMS.indexOf(dirname(relative(WING, file)).replace('.', ''));

it('every file of the Google Sheets target imports from its own folder or a lower one', () => {
  const files = readdirSync(WING, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.filter((file) => heightOf(file) < 0)).toEqual([]);
  const wrong = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g)]
      .map((match) => resolve(dirname(file), match[1] ?? ''))
      .filter((imported) => imported.startsWith(`${WING}/`) && heightOf(imported) > heightOf(file))
      .map((imported) => `${relative(WING, file)} imports ${relative(WING, imported)}`),
  );
  expect(wrong).toEqual([]);
});
