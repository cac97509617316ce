import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormWriter } from '../../src/mirror/target.ts';
import { type Cell, ExactNumber, JsonText, type Row } from '../../src/mirror/types.ts';
import { dryRunWriter } from '../../src/sync/dry-run-writer.ts';
import type { ForeseenChange } from '../../src/sync/foreseen.ts';
import { propertyRuns } from '../support/property.ts';
import { fieldList, field, row, type TargetStage } from './target-harness.ts';

const FIELDS = fieldList(field('f1', 'Name'), field('f2', 'Age'), field('f3', 'Choices'));
const AT = '2026-03-05T00:00:00.000Z';

/** Answers that some target holds otherwise than they come. */
const ODD: Cell[] = [
  null,
  '',
  '  ',
  'x',
  'x ',
  'X',
  '5',
  5,
  -0.5,
  1e21,
  new ExactNumber('900719925474099312345'),
  new ExactNumber('0.1000000000000000055'),
  '0005',
  'a\0b',
  "'=1",
  'é',
  'e\u0301',
  '["a","b"]',
  '{"b":1,"a":[1.50,"x"]}',
  new JsonText('["a","b"]'),
  new JsonText('{"b":1,"a":[1.5,"x"]}'),
  new JsonText('{"a":[1.5,"x"],"b":1}'),
  new JsonText('["\\u0000"]'),
  'true',
  '2026-03-01T12:00:00.000Z',
  `${'long '.repeat(10_001)}end`,
];
const cell = fc.constantFrom(...ODD);
const someRow: fc.Arbitrary<Row> = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c', 'A'),
    status: fc.constantFrom('NEW', 'DONE', 'a\0b'),
    createdAt: fc.constantFrom(
      null,
      '2026-03-01T12:00:00.000Z',
      '2026-03-01T12:00:00.000001Z',
      '1850-01-01T00:00:00.000Z',
    ),
    f1: cell,
    f2: cell,
    f3: cell,
  })
  .map(({ id, status, createdAt, ...cells }) => row(id, cells, { status, createdAt }));

interface Step {
  readonly rows: readonly Row[];
  readonly deleted: readonly string[];
}
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    rows: fc.uniqueArray(someRow, { selector: ({ id }) => id, maxLength: 4 }),
    deleted: fc.subarray(['a', 'b', 'c', 'A'], { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 4 },
);

/** That a dry run says what a real one does. */
export function describeDryRun(stage: TargetStage): void {
  const take = async (writer: FormWriter, { rows, deleted }: Step) => {
    await writer.prepare(FIELDS);
    const { outcomes } = await writer.apply(rows, []);
    // A pass marks only what it did not meet.
    const absent = deleted.filter((id) => rows.every((one) => one.id !== id));
    return { outcomes, deleted: await writer.markDeleted(absent, AT) };
  };

  describe('a dry run', () => {
    it('says of each row what a real one does with it, and changes nothing (L4)', async () => {
      let forms = 0;
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          forms++;
          const form = { id: `frm_${forms}`, slug: `form-${forms}`, name: `Form ${forms}` };
          for (const step of all) {
            const foreseen: ForeseenChange[] = [];
            const reader = await stage.target.reader(form.id);
            const dry = await take(
              dryRunWriter(reader, (change) => foreseen.push(change)),
              step,
            );
            const real = await stage.write((writer) => take(writer, step), form);
            expect(dry).toEqual(real);
            const named = foreseen.filter(({ kind }) => kind !== 'deleted');
            const outcomes = real.outcomes.filter(
              (one) => one !== 'unchanged' && one !== 'rejected',
            );
            expect(named.map(({ kind }) => kind)).toEqual(outcomes);
            for (const { kind, cells } of foreseen)
              expect(cells.length > 0).toBe(kind === 'updated' || kind === 'restored');
          }
        }),
        propertyRuns(25),
      );
    });
  });
}
