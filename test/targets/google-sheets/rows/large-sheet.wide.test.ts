import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FormWriter, Target } from '../../../../src/mirror/target.ts';
import type { PickedField, Row } from '../../../../src/mirror/types.ts';
import { AT_ONCE, field, FORM, row, sorted } from '../../../contract/target-harness.ts';
import { SleepersClock, type SheetsPlace, sheetsPlace } from '../sheets-place.ts';

/** More than the 300,000 cells that one read takes. */
const ROWS = 16_000;
const FIELDS: PickedField[] = Array.from({ length: 20 }, (_, position) =>
  field(`field_${position}`, `Question ${position}`, { position }),
);

function submission(index: number, rest: Partial<Row> = {}): Row {
  const cells = { field_0: `answer ${index}`, field_1: index, field_19: `last ${index % 7}` };
  const createdAt = new Date(Date.UTC(2026, 0, 1) + index * 61_000).toISOString();
  return row(`sub_${String(index).padStart(6, '0')}`, cells, { createdAt, ...rest });
}

describe('a tab too large to be read at once', () => {
  let place: SheetsPlace;
  let target: Target;
  const all = Array.from({ length: ROWS }, (_, index) => submission(index));

  async function pass(
    work: (writer: FormWriter) => Promise<unknown>,
  ): Promise<{ reads: number; writes: number }> {
    place.sandbox.requests.clear();
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare(FIELDS);
    await work(writer);
    return place.sandbox.requests.counts();
  }
  const apply = async (writer: FormWriter, rows: readonly Row[]): Promise<string[]> => {
    const outcomes: string[] = [];
    for (let start = 0; start < rows.length; start += target.batchRows) {
      outcomes.push(
        ...(await writer.apply(rows.slice(start, start + target.batchRows), [])).outcomes,
      );
    }
    return outcomes;
  };
  const person = () => place.sandbox.people.at(place.spreadsheetId, 'Contact form');

  beforeEach(async () => {
    place = await sheetsPlace({ clock: new SleepersClock() });
    target = await place.open();
    await pass((writer) => apply(writer, all));
  });
  afterEach(() => place.dispose());

  it('L1 L4: is compared whole in pieces, once, and by fingerprints from then on', async () => {
    const calls = await pass(async (writer) => {
      expect(new Set(await apply(writer, all))).toEqual(new Set(['unchanged']));
      expect(await sorted(writer.liveIds())).toHaveLength(ROWS);
    });
    expect(calls).toEqual({ reads: 4, writes: 0 });
  });

  it('takes a few new and changed rows with the key column and the rows in question', async () => {
    const some = [
      submission(7),
      submission(9_999, { status: 'DONE' }),
      submission(ROWS),
      submission(ROWS + 1),
    ];
    const calls = await pass(async (writer) => {
      expect(await apply(writer, some)).toEqual(['unchanged', 'updated', 'inserted', 'inserted']);
    });
    expect(calls).toEqual({ reads: 3, writes: 1 });
    const reader = await target.reader(FORM.id);
    const again = await pass(async (writer) => {
      const rows = [submission(ROWS - 3), submission(ROWS), submission(ROWS + 1)];
      expect(new Set(await apply(writer, rows))).toEqual(new Set(['unchanged']));
    });
    // The newest rows come along with the key column.
    expect(again).toEqual({ reads: 2, writes: 0 });
    const stored = await reader?.rows(some.map(({ id }) => id));
    expect(some.map(({ id }) => stored?.get(id)?.status)).toEqual(['NEW', 'DONE', 'NEW', 'NEW']);
    expect(stored?.get(submission(9_999).id)?.cells.get('field_0')).toBe('answer 9999');
  });

  it('finds its rows again when people sort in the middle of a pass', async () => {
    const changed = all.map((_, index) =>
      submission(index, index % 1_000 === 0 ? { status: 'PAID' } : {}),
    );
    await pass(async (writer) => {
      const outcomes: string[] = [];
      for (let start = 0; start < ROWS; start += 4_000) {
        person().sortSheet(start % 3, start % 8_000 === 0 ? 'DESCENDING' : 'ASCENDING');
        outcomes.push(...(await writer.apply(changed.slice(start, start + 4_000), [])).outcomes);
      }
      expect(outcomes.filter((one) => one !== 'unchanged')).toEqual(Array(16).fill('updated'));
    });
    const grid = place.sandbox.inspect.grid(place.spreadsheetId, 'Contact form').slice(1);
    expect(grid).toHaveLength(ROWS);
    const wrong = grid.filter((cells) => {
      const [, status, first] = cells;
      const index = Number(String(cells.at(-1)).slice(4));
      return status !== (index % 1_000 === 0 ? 'PAID' : 'NEW') || first !== `answer ${index}`;
    });
    expect(wrong).toEqual([]);
  });

  it('gives its rows to a reader in batches, even when people sort between them', async () => {
    const reader = await target.reader(FORM.id);
    const ids = [3, 5_000, 12_345, 15_999].map((index) => submission(index).id);
    for (const column of [0, 3, 1]) {
      const stored = await reader?.rows([...ids, 'nobody']);
      expect([...(stored?.keys() ?? [])].sort()).toEqual(ids);
      expect(stored?.get(ids[2] ?? '')?.cells.get('field_1')).toBe(12_345);
      person().sortSheet(column, 'DESCENDING');
    }
  });
});
