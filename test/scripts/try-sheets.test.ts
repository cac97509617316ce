import { describe, expect, it } from 'vitest';
import { openAccount } from '../../src/targets/google/credentials.ts';
import { systemClock } from '../../src/base/clock.ts';
import { SheetsApi } from '../../src/targets/google-sheets/api/sheets-api.ts';
import { type Finding, lookAt, summary } from '../../scripts/try/points.ts';
import { makeTab, removeTab, sheetsPoints } from '../../scripts/try/sheets-points.ts';
import type { TriedSheets } from '../../scripts/try/tab-calls.ts';
import { type CliSheet, openSheet } from '../support/cli-sheet.ts';
import { seededRandom } from '../support/seeded-random.ts';

interface Tried {
  readonly findings: readonly Finding[];
  readonly lines: readonly string[];
  readonly sheet: CliSheet;
}

/** Tries all points against the stand-in, by calls that `distort` changes. */
async function tried(distort: (api: SheetsApi) => TriedSheets = (api) => api): Promise<Tried> {
  const sheet = await openSheet();
  const emulatorUrl = sheet.env.SHEETS_EMULATOR_URL;
  const account = await openAccount({ emulatorUrl }, 'scope');
  const api = new SheetsApi({
    spreadsheetId: sheet.id,
    account,
    clock: systemClock,
    quota: undefined,
    rootUrl: `${emulatorUrl}/`,
  });
  const lines: string[] = [];
  const tab = await makeTab(distort(api), seededRandom(7));
  const findings = await lookAt(sheetsPoints(tab), (line) => lines.push(line));
  await removeTab(tab);
  return { findings, lines, sheet };
}

describe('try:sheets', () => {
  it('sees each point hold against the stand-in, and leaves nothing behind', async () => {
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

  it('reports a point that does not hold, and goes on', async () => {
    // A service that takes a number of metadata twice: the second piece is simply left out.
    const seen = new Set<number>();
    const { findings, lines } = await tried((api) => ({
      spreadsheetId: api.spreadsheetId,
      structure: () => api.structure(),
      values: (filters, dimension) => api.values(filters, dimension),
      update: (requests, ranges) =>
        api.update(
          requests.filter(({ createDeveloperMetadata, deleteDeveloperMetadata }) => {
            const lookup = deleteDeveloperMetadata?.dataFilter?.developerMetadataLookup;
            seen.delete(lookup?.metadataId ?? 0);
            const id = createDeveloperMetadata?.developerMetadata?.metadataId ?? undefined;
            if (id === undefined) return true;
            const isNew = !seen.has(id);
            seen.add(id);
            return isNew;
          }),
          ranges,
        ),
    }));
    const refuted = findings.filter(({ result }) => result === 'refuted');
    expect(refuted.map(({ note }) => note)).toEqual([
      'A second piece of the same number is taken.',
    ]);
    expect(lines).toContain('    A second piece of the same number is taken.');
    expect(summary(findings).code).toBe(1);
    expect(findings.at(-1)?.result).toBe('holds');
  });

  /** The calls with others in place of some. */
  const withCalls =
    (other: (api: SheetsApi) => Partial<TriedSheets>) =>
    (api: SheetsApi): TriedSheets => ({
      spreadsheetId: api.spreadsheetId,
      structure: () => api.structure(),
      values: (filters, dimension) => api.values(filters, dimension),
      update: (requests, ranges) => api.update(requests, ranges),
      ...other(api),
    });

  /** The findings about points that do not hold. */
  const refutedOf = ({ findings }: Tried): (string | undefined)[] =>
    findings.filter(({ result }) => result === 'refuted').map(({ note }) => note);

  it('takes nothing for seen that did not happen', async () => {
    // A service that takes moves, sorts and merges, and does nothing.
    const found = await tried(
      withCalls((api) => ({
        async update(requests, ranges) {
          const done = requests.filter(
            (one) => !one.moveDimension && !one.sortRange && !one.mergeCells,
          );
          return done.length === 0 ? {} : api.update(done, ranges);
        },
      })),
    );
    expect(refutedOf(found)).toEqual(['The column was not moved.', 'They are not merged.']);
  });

  it('refutes what Google refuses as such', async () => {
    const found = await tried(
      withCalls((api) => ({
        update: (requests, ranges) =>
          requests.some(({ setBasicFilter }) => setBasicFilter)
            ? api.update([{}], ranges)
            : api.update(requests, ranges),
      })),
    );
    expect(refutedOf(found)).toEqual([expect.stringMatching(/^Google refused a write/)]);
  });
});
