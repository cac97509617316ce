import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../support/property.ts';
import { sqlOf } from './sql-by-hand.ts';
import type { SqlStage } from './sql-target.ts';
import { CHECKPOINT, field, pass, row } from './target-harness.ts';

/** Lengths around what products take of a fraction: microseconds, PostgreSQL's buffer of 128, and what a double counts. */
const FRACTIONS = [0, 1, 3, 6, 7, 30, 40, 44, 45, 80, 128, 200, 400].flatMap((length) => [
  `.${'9'.repeat(length)}`,
  `.${'1'.repeat(length)}`,
]);

const OFFSETS = ['', '', 'Z', 'z', '+00:00', '-00:00', '+14:00', '-14:00', '+14:59', '-14:59'];
const NO_OFFSETS = [
  '+15:00',
  '-15:59',
  '+16:00',
  '+05:60',
  '+0200',
  '+02',
  ' Z',
  '+02:00:00',
  'Z+02:00',
  ' BC',
  ' AM',
  ' CET',
  ' Europe/Prague',
  '\n',
  '\u0000',
];

const day = fc
  .tuple(
    fc.constantFrom(
      '0001',
      '0999',
      '1582',
      '1900',
      '2000',
      '2023',
      '2024',
      '9999',
      '0000',
      '10000',
    ),
    fc.constantFrom('01', '02', '04', '12', '00', '13', '1'),
    fc.constantFrom('01', '28', '29', '30', '31', '00', '32', '5'),
  )
  .map((parts) => parts.join('-'));
const time = fc
  .tuple(
    fc.constantFrom('T', ' ', 'T', 't', '  ', ''),
    fc.constantFrom('00:00', '09:05', '23:59', '24:00', '12:60', '12', '1:00', '+1:00'),
    fc.constantFrom('', ':00', ':59', ':60', ':5', ':'),
    fc.constantFrom('', '', ',5', ...FRACTIONS),
    fc.constantFrom(...OFFSETS, ...NO_OFFSETS),
  )
  .map((parts) => parts.join(''));
const likeTimes = fc.oneof(
  { weight: 1, arbitrary: day },
  { weight: 6, arbitrary: fc.tuple(day, time).map((parts) => parts.join('')) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.constantFrom('2024-02-29', '9999-12-31', '0001-01-01', '0001-01-02', '9999-12-30'),
        fc.constantFrom('T00:00:00', ' 23:59:59', 'T10:20:30'),
        fc.constantFrom('', ...FRACTIONS),
        fc.constantFrom(...OFFSETS),
      )
      .map((parts) => parts.join('')),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'infinity',
      '-infinity',
      'epoch',
      'today',
      'allballs',
      '2024-02-29J',
    ),
  },
);

const SHAPE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?:(Z)|([+-])(\d\d):(\d\d))?)?$/i;

/** The second of a text that is a date or time, in UTC where it names an offset, as the documentation has it. */
function secondOf(text: string): string | null {
  const [all, ...parts] = SHAPE.exec(text) ?? [];
  if (all === undefined || text.length > 64 || /\n$|t/.test(text)) return null;
  const [year = 0, month = 0, date = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(0, 6)
    .map((part) => Number(part ?? 0));
  const [zulu, sign, hours = 0, minutes = 0] = parts.slice(6);
  if (hour > 23 || minute > 59 || second > 59 || Number(hours) > 14 || Number(minutes) > 59)
    return null;
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, date);
  if (year === 0 || at.toISOString().slice(0, 10) !== text.slice(0, 10)) return null;
  const hasOffset = zulu !== undefined || sign !== undefined;
  if (hasOffset && /^(?:0001-01-01|9999-12-31)/.test(text)) return null;
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
  at.setUTCHours(hour, minute - offset, second);
  return at.toISOString().slice(0, 19).replace('T', ' ');
}

/** Which texts `answers` takes for dates and times. */
export function describeSqlViewDates(stage: SqlStage): void {
  const sql = sqlOf(stage);

  describe('dates and times among the answers', () => {
    it('no text of any shape fails a query, and each product takes the same ones', async () => {
      const texts = new Set(fc.sample(likeTimes, propertyRuns(1_500)));
      const rows = [...texts].map((text, nth) => row(`r${nth}`, { d: text }));
      await stage.write(async (writer) => {
        await writer.prepare([field('d', 'Day')]);
        await writer.apply(rows, []);
        await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
      });
      const found = await sql(
        'SELECT value_text AS t, CAST(value_date AS text) AS d FROM {answers}',
      );
      expect(found).toHaveLength(rows.length);
      const dates = found.map(({ t, d }) => [t, typeof d === 'string' ? d.slice(0, 19) : d]);
      expect(dates).toEqual(found.map(({ t }) => [t, secondOf(String(t))]));
      expect(dates.filter(([, date]) => date !== null).length).toBeGreaterThan(50);
    });
  });
}
