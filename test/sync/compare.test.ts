import { rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { parseSelection } from '../../src/mirror/selection.ts';
import { Comparison } from '../../src/sync/compare.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { clock, formOf, NAME, row } from '../core/store-fixtures.ts';
import { scratchFolder } from '../support/scratch.ts';

it('L17: compares answers to a field that neither the form nor the target has', async () => {
  const folder = scratchFolder('verify');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await using store = await parseTargetUrl(`sqlite:${folder}/t.db`).open('t', { clock });
  const form = formOf('contact', [NAME]);
  await using copy = await store.open(form);
  await copy.prepare(form, [NAME]);
  const stored = row('a', { f_name: 'x' });
  await copy.commit({ rows: [stored] });
  const joining = { selection: parseSelection(['*']), hashKey: undefined };
  const comparison = new Comparison({ form, copy, joining, clock });
  const { id, status, createdAt } = stored;
  const data = { f_name: 'x', f_old: 'y' };
  const submission = { id, formId: form.id, status, createdAt, data };
  await comparison.compare([{ key: id, submission, defects: [] }]);
  expect([...comparison.found.values()]).toMatchObject([{ kind: 'changed', id: 'a' }]);
});
