import { rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { parseSelection } from '../../src/mirror/selection.ts';
import type { SubmissionItem } from '../../src/mirror/types.ts';
import type { Source } from '../../src/forms/source.ts';
import { Sink } from '../../src/sync/sink.ts';
import type { Target } from '../../src/sync/target.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { clock, formOf, NAME } from '../core/store-fixtures.ts';
import { scratchFolder } from '../support/scratch.ts';

it('L6: lists no defect of a submission that was read again without it before it was stored', async () => {
  const folder = scratchFolder('sink');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await using store = await parseTargetUrl(`sqlite:${folder}/t.db`).open('t', { clock });
  const shown = formOf('contact', [NAME]);
  const joining = { selection: parseSelection(['*']), hashKey: undefined };
  const target = { store, clock } as unknown as Target;
  const form = await store.open(shown);
  const source = {} as Source;
  await using sink = new Sink({ target, source, form, shown, joining, reasons: [] });
  await sink.prepare();
  const [id, createdAt, data] = ['a', '2026-01-01T00:00:00.000Z', { f_name: 'x' }];
  const item = (...defects: string[]): SubmissionItem => ({
    key: id,
    submission: { id, formId: shown.id, status: 'NEW', createdAt, data },
    defects,
  });
  await sink.add([item('createdAt is not a date')]);
  await sink.add([item()]);
  await sink.flush();
  expect(sink.applied).toMatchObject({ inserted: 1, rejected: 0 });
  expect(await form.entries(['rejected'])).toEqual([]);
});
