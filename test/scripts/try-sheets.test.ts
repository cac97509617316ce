import { describe, expect, it } from 'vitest';
import { openAccount } from '../../src/targets/google/credentials.ts';
import { systemClock } from '../../src/base/clock.ts';
import { SheetsApi } from '../../src/targets/google-sheets/api/sheets-api.ts';
import { type Finding, lookAt, summary } from '../../scripts/try/points.ts';
import { makeTab, removeTab, sheetsPoints } from '../../scripts/try/sheets-points.ts';
import type { TriedSheets } from '../../scripts/try/tab-calls.ts';
import { openSheet, type Spreadsheet } from '../support/spreadsheet.ts';
import { Random } from '../simulation/random.ts';

interface Tried {
  readonly findings: readonly Finding[];
  readonly lines: readonly string[];
  readonly sheet: Spreadsheet;
}

/** Checks all points against the emulator, with calls that `distort` changes. */
async function tried(distort: (api: SheetsApi) => TriedSheets = (api) => api): Promise<Tried> {
  const sheet = await openSheet();
  const emulatorUrl = sheet.env.SHEETS_EMULATOR_URL;
  const account = await openAccount({ emulatorUrl }, 'scope');
  const api = new SheetsApi({
    spreadsheetId: sheet.id,
    account,
    clock: systemClock,
    rootUrl: `${emulatorUrl}/`,
  });
  const lines: string[] = [];
  const random = new Random(7);
  const tab = await makeTab(distort(api), () => random.next());
  const findings = await lookAt(sheetsPoints(tab), (line) => lines.push(line));
  await removeTab(tab);
  return { findings, lines, sheet };
}

describe('try:sheets', () => {
  it('finds that each point holds on the emulator, and leaves nothing behind', async () => {
    const { findings, lines, sheet } = await tried();
    expect(findings.filter(({ result }) => result !== 'holds')).toEqual([]);
    expect(summary(findings)).toEqual({
      line: `${findings.length} of ${findings.length} points hold; 0 do not, and 0 could not be looked at.`,
      code: 0,
    });
    expect(lines[0]).toMatch(/^✓ A column that developer metadata marks/);
    const { emulator, id } = sheet;
    expect(emulator.inspect.tabs(id)).toHaveLength(1);
    expect(emulator.inspect.metadata(id)).toEqual([]);
  });

  it('does not count as seen what did not happen, and continues', async () => {
    // A service that accepts moves, sorts and merges, and does nothing.
    const { findings } = await tried((api) => ({
      spreadsheetId: api.spreadsheetId,
      structure: () => api.structure(),
      values: (filters, dimension) => api.values(filters, dimension),
      async update(requests) {
        const done = requests.filter(
          (one) => !one.moveDimension && !one.sortRange && !one.mergeCells,
        );
        if (done.length > 0) await api.update(done);
      },
    }));
    const refuted = findings.filter(({ result }) => result === 'refuted');
    expect(refuted.map(({ note }) => note)).toEqual([
      'The column was not moved.',
      'They are not merged.',
    ]);
    expect(summary(findings).code).toBe(1);
    expect(findings.at(-1)?.result).toBe('holds');
  });
});
