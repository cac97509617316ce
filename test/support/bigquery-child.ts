import { openBigQueryTarget } from '../../src/targets/sql/bigquery/bigquery-target.ts';
import { CHECKPOINT, field, fieldList, FORM, pass, row } from '../contract/target-harness.ts';
import { standInJobs } from './bigquery-place.ts';

// A process of its own that has one pass write to a form, and is killed somewhere: node test/support/bigquery-child.ts <url> <dataset>
// It says `done` when it got to its end.

const [url = '', dataset = ''] = process.argv.slice(2);
const target = openBigQueryTarget('child', await standInJobs(url, dataset), {
  address: dataset,
  check: async () => [],
});
const fields = fieldList(field('f0', 'Text'), field('f1', 'Number'));
await using writer = await target.openWriter(FORM, { waitMs: 60_000 });
await writer.prepare(fields);
await writer.losses();
await writer.apply([row('a', { f0: 'x', f1: 1 }), row('b', { f0: 'y', f1: 2 })], []);
await writer.apply(
  [row('a', { f0: 'x', f1: 'many' }), row('c', { f0: 'z' }, { status: 'PAID' })],
  [{ submissionId: 'odd', reason: 'is odd', stored: false }],
);
await writer.markDeleted(['b'], CHECKPOINT.provenAt);
await writer.setStatuses(new Map([['a', 'DONE']]));
await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
await writer[Symbol.asyncDispose]();
process.stdout.write('done\n');
