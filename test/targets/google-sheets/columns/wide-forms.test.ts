import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FormWriter, Target } from '../../../../src/mirror/target.ts';
import type { PickedField } from '../../../../src/mirror/types.ts';
import { AT_ONCE, CHECKPOINT, field, FORM, pass, row } from '../../../contract/target-harness.ts';
import { SleepersClock, type SheetsPlace, sheetsPlace } from '../sheets-place.ts';

const wide = (count: number): PickedField[] =>
  Array.from({ length: count }, (_, position) =>
    field(
      `field_${1_700_000_000_000 + position}_x`,
      `A question of some length, number ${position}`,
      {
        position,
      },
    ),
  );

/** Google keeps 30,000 characters of metadata on a sheet: the readable marks of some 600 columns. */
describe('very wide forms', () => {
  let place: SheetsPlace;
  let target: Target;
  beforeEach(async () => {
    place = await sheetsPlace({ clock: new SleepersClock() });
    target = await place.open();
  });
  afterEach(() => place.dispose());

  async function write<T>(
    work: (writer: FormWriter) => Promise<T>,
    on: Target = target,
  ): Promise<T> {
    await using writer = await on.openWriter(FORM, AT_ONCE);
    return await work(writer);
  }
  const characters = (): number[] => {
    const used = new Map<number, number>();
    for (const { metadataKey, metadataValue, location } of place.sandbox.inspect.metadata(
      place.spreadsheetId,
    )) {
      const tab = location?.sheetId ?? location?.dimensionRange?.sheetId ?? -1;
      const size = (metadataKey?.length ?? 0) + (metadataValue?.length ?? 0);
      used.set(tab, (used.get(tab) ?? 0) + size);
    }
    return [...used.values()];
  };

  it.each([150, 700, 2_000])('of %d fields lose nothing', async (count) => {
    const fields = wide(count);
    const cells = Object.fromEntries(
      fields.map(({ id }, index) => [id, index % 3 === 0 ? index : `answer ${index}`]),
    );
    await write(async (writer) => {
      expect((await writer.prepare(fields)).added).toHaveLength(count);
      await writer.apply([row('a', cells), row('b')], []);
      await writer.finish(pass(), { checkpoint: CHECKPOINT });
    });
    expect(Math.max(...characters())).toBeLessThanOrEqual(30_000);
    const elsewhere = await place.openElsewhere();
    await write(async (writer) => {
      expect(await writer.prepare(fields)).toEqual({ added: [], relabelled: [], removed: [] });
      expect((await writer.apply([row('a', cells)], [])).outcomes).toEqual(['unchanged']);
    }, elsewhere);
    const reader = await elsewhere.reader(FORM.id);
    expect((await reader?.rows(['a']))?.get('a')?.cells).toEqual(new Map(Object.entries(cells)));
    expect((await reader?.fields())?.map((one) => one.label)).toEqual(
      fields.map((one) => one.label),
    );
  });

  it('that grow keep their columns when the marks have to be shortened', async () => {
    const cells = { [wide(1)[0]?.id ?? '']: 'first', [wide(500)[499]?.id ?? '']: 'last' };
    await write(async (writer) => {
      await writer.prepare(wide(500));
      await writer.apply([row('a', cells)], []);
    });
    await write(async (writer) => {
      expect((await writer.prepare(wide(1_200))).added).toHaveLength(700);
      expect((await writer.apply([row('a', cells)], [])).outcomes).toEqual(['unchanged']);
    });
    expect(Math.max(...characters())).toBeLessThanOrEqual(30_000);
    place.sandbox.people.at(place.spreadsheetId, 'Contact form').moveColumns(3, 1, 900);
    await write(async (writer) => {
      await writer.prepare(wide(1_200));
      expect((await writer.apply([row('a', cells)], [])).outcomes).toEqual(['unchanged']);
    });
  });

  it('that are too wide are refused, with a way out', async () => {
    await expect(write((writer) => writer.prepare(wide(3_000)))).rejects.toMatchObject({
      code: 'TARGET_FULL',
      retryable: false,
      message: expect.stringMatching(
        /has 3004 columns; .* can keep track of \d+\. Pick fewer fields with TARGET_FIELDS/,
      ),
    });
    expect(place.sandbox.inspect.tabs(place.spreadsheetId)).toHaveLength(1);
  });
});
