import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { field, fieldList, row } from '../contract/target-harness.ts';

// A process of its own that writes to a form until it is told to end or killed:
// node test/support/target-child.ts <url> <form ID> <batches> [rows a batch]
// It says `locked` when it has the form, and `stored <n>` after each batch.

const [url = '', formId = '', batches = '1', rowsABatch = '20'] = process.argv.slice(2);

const say = (text: string): Promise<void> =>
  new Promise((done) => process.stdout.write(`${text}\n`, () => done()));

await using target = await parseTargetUrl(url).open('child');
await using writer = await target.openWriter(
  { id: formId, slug: formId, name: formId },
  { waitMs: 60_000 },
);
await say('locked');
await writer.prepare(fieldList(field('f0', 'Text'), field('f1', 'Number')));
for (let batch = 0; batch < Number(batches); batch++) {
  const rows = Array.from({ length: Number(rowsABatch) }, (_, index) =>
    row(`${formId}_${batch}_${index}`, { f0: `answer ${batch}`, f1: batch }),
  );
  await writer.apply(rows, []);
  await say(`stored ${batch}`);
}
