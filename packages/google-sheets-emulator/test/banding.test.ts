import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, refusal } from './support/client.ts';
import { COLOURS, range, rows } from './support/ranges.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.start();
});
afterEach(() => bench.emulator.stop());

const sheet = async (): Promise<sheets_v4.Schema$Sheet> => {
  const { data } = await bench.api.spreadsheets.get({ spreadsheetId: bench.id });
  return data.sheets?.[0] ?? {};
};

describe('alternating colours', () => {
  it('are added, changed, moved with their rows and deleted', async () => {
    const bandedRange = {
      range: range(0, 3, 0, 2),
      rowProperties: { ...COLOURS, headerColorStyle: { rgbColor: { blue: 1 } } },
    };
    const [reply] = await bench.batch({ addBanding: { bandedRange } });
    const id = reply?.addBanding?.bandedRange?.bandedRangeId;
    expect(id).toEqual(expect.any(Number));
    await bench.batch({ insertDimension: { range: rows(1, 2), inheritFromBefore: true } });
    expect((await sheet()).bandedRanges).toEqual([
      {
        bandedRangeId: id,
        range: range(0, 4, 0, 2),
        rowProperties: {
          headerColor: { blue: 1 },
          headerColorStyle: { rgbColor: { blue: 1 } },
          firstBandColor: { red: 1, green: 1, blue: 1 },
          firstBandColorStyle: { rgbColor: { red: 1, green: 1, blue: 1 } },
          secondBandColor: { red: 0.49803922 },
          secondBandColorStyle: { rgbColor: { red: 0.49803922 } },
        },
      },
    ]);
    expect((await refusal(bench.batch({ addBanding: { bandedRange } }))).message).toBe(
      'Invalid requests[0].addBanding: You cannot add alternating background colors to a range that already has alternating background colors.',
    );
    await bench.batch({
      updateBanding: {
        bandedRange: { bandedRangeId: id ?? 0, range: range(2, 4, 0, 1) },
        fields: 'range',
      },
    });
    expect((await sheet()).bandedRanges?.[0]?.range).toEqual(range(2, 4, 0, 1));
    await bench.batch({ deleteBanding: { bandedRangeId: id ?? 0 } });
    expect((await sheet()).bandedRanges).toBeUndefined();
    expect((await refusal(bench.batch({ deleteBanding: { bandedRangeId: 3 } }))).code).toBe(400);
  });

  it('need two colours, for rows or columns', async () => {
    for (const bandedRange of [
      { range: range(0, 3, 0, 2) },
      { range: range(0, 3, 0, 2), rowProperties: { firstBandColor: { red: 1 } } },
    ]) {
      expect((await refusal(bench.batch({ addBanding: { bandedRange } }))).code).toBe(400);
    }
  });
});
