import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { Events } from '../../../../src/base/events.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { FormsClient } from '../../../../src/forms/client.ts';
import { parsePicks } from '../../../../src/mirror/picks.ts';
import type { Target } from '../../../../src/mirror/target.ts';
import { type Sandbox, startSandbox } from '../../../../src/sandbox/forms-api/sandbox.ts';
import { FormsStore } from '../../../../src/sandbox/forms-api/store.ts';
import type { SyncContext } from '../../../../src/sync/context.ts';
import type { PassReport } from '../../../../src/sync/events.ts';
import { LabelCache } from '../../../../src/sync/label-cache.ts';
import { runPass } from '../../../../src/sync/run-pass.ts';
import { verifyForm } from '../../../../src/sync/verify.ts';
import { EMULATOR_TOKEN } from '../../../../src/targets/google/credentials.ts';
import { METADATA_KEYS } from '../../../../src/targets/google-sheets/api/metadata.ts';
import { STATE_VERSION } from '../../../../src/targets/google-sheets/state/form-state.ts';
import { AT_ONCE } from '../../../contract/target-harness.ts';
import {
  changeSource,
  FORMS,
  makeSource,
  STORE_OPTIONS,
} from '../../../fixtures/last-release/source.ts';
import { type SheetsPlace, sheetsPlace, SleepersClock } from '../sheets-place.ts';

const FOLDER = join(import.meta.dirname, '../../../fixtures/last-release');
const fixtureOf = (version: number): string => join(FOLDER, `spreadsheet-${version}.json`);
const versions = readdirSync(FOLDER)
  .map((file) => /^spreadsheet-(\d+)\.json$/.exec(file)?.[1])
  .filter((version) => version !== undefined)
  .map(Number);

const PICKS = { picks: parsePicks(['*']), hashKey: undefined };

/** A spreadsheet as a release left it: its writes, once more. */
async function restore(version: number): Promise<SheetsPlace> {
  // Weeks later: no lease is open any more.
  const place = await sheetsPlace({ clock: new SleepersClock('2027-01-11T08:00:00.000Z') });
  const text = readFileSync(fixtureOf(version), 'utf8');
  const { spreadsheetId } = JSON.parse(text) as { spreadsheetId: string };
  // What binds a tab to its form names the spreadsheet.
  const here = text.replaceAll(spreadsheetId, place.spreadsheetId);
  const fixture = JSON.parse(here) as { updates: sheets_v4.Schema$Request[][] };
  for (const requests of fixture.updates) await update(place, requests);
  return place;
}

async function update(place: SheetsPlace, requests: sheets_v4.Schema$Request[]): Promise<void> {
  const url = `${place.sandbox.url}/v4/spreadsheets/${place.spreadsheetId}:batchUpdate`;
  const answer = await fetch(url.replace(/([^:])\/\//, '$1/'), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${EMULATOR_TOKEN}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ requests }),
  });
  expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([200, '']);
}

it('every version but the present one is kept as a fixture', () => {
  const earlier = Array.from({ length: STATE_VERSION - 1 }, (_, index) => index + 1);
  expect(earlier.filter((version) => !existsSync(fixtureOf(version)))).toEqual([]);
});

describe.each(versions)('a spreadsheet with version %d of the states', (version) => {
  let place: SheetsPlace;
  let target: Target;
  let sandbox: Sandbox;
  let client: FormsClient;
  beforeEach(async () => {
    place = await restore(version);
    target = await place.open();
    const store = new FormsStore(STORE_OPTIONS);
    makeSource(store);
    changeSource(store);
    sandbox = await startSandbox({ store });
    const { url: baseUrl, apiKey } = sandbox;
    client = new FormsClient({
      baseUrl,
      apiKey,
      auth: 'bearer',
      concurrency: 4,
      clock: systemClock,
    });
  });
  afterEach(async () => {
    await client[Symbol.asyncDispose]();
    await sandbox.stop();
    await place.dispose();
  });

  const context = (): SyncContext => ({
    client,
    labels: new LabelCache(client, systemClock),
    clock: place.clock,
    logger: silentLogger,
    events: new Events(),
    maxDeleteFraction: 0.2,
    readAhead: 4,
  });
  const { signal } = new AbortController();
  const fullPass = (formId: string): Promise<PassReport> =>
    runPass(context(), target, { formId, kind: 'full', ...PICKS, waitMs: 0 }, signal);

  const states = (): { id: number; value: string }[] =>
    place.sandbox.inspect
      .metadata(place.spreadsheetId)
      .filter(({ metadataKey }) => metadataKey === METADATA_KEYS.state)
      .map(({ metadataId, metadataValue }) => ({
        id: metadataId ?? 0,
        value: metadataValue ?? '',
      }));
  const storedVersions = (): unknown[] =>
    states().map(({ value }) => (JSON.parse(value) as { v: unknown }).v);
  const revision = (): number => place.sandbox.inspect.revision(place.spreadsheetId);
  const cellsOf = (sheetId: number, title: string): unknown[][] => {
    const grid = place.sandbox.inspect.grid(place.spreadsheetId, sheetId);
    if (title !== 'Mirror state') return grid;
    // Each pass notes when it last met what cannot be stored; items without an ID had another name.
    return grid.map((cells) =>
      JSON.stringify(cells).includes('no-id:') ? ['an item without an ID'] : cells.slice(0, 6),
    );
  };
  /** What people see of the forms and may have built on, and what binds it to the mirror. */
  const snapshot = (): unknown => ({
    tabs: place.sandbox.inspect
      .tabs(place.spreadsheetId)
      .filter(({ title }) => title !== 'Mirror')
      .map((tab) => [tab, cellsOf(tab.sheetId, tab.title)]),
    metadata: place.sandbox.inspect
      .metadata(place.spreadsheetId)
      .filter(
        ({ metadataKey }) =>
          metadataKey !== METADATA_KEYS.state &&
          metadataKey !== METADATA_KEYS.commit &&
          metadataKey !== METADATA_KEYS.knownForm &&
          metadataKey !== METADATA_KEYS.tables,
      ),
  });

  it('L1, L4: the first pass migrates it, finds all that is there and rewrites nothing', async () => {
    const before = snapshot();
    const oldPasses = await (await target.reader(FORMS.contact))?.passes(100);
    for (const formId of [FORMS.contact, FORMS.survey]) {
      for (let pass = 0; pass < 2; pass++) {
        const report = await fullPass(formId);
        expect(report).toMatchObject({ outcome: 'ok', inserted: 0, updated: 0, deleted: 0 });
        expect(report.unchanged).toBeGreaterThan(20);
        expect(storedVersions()).toEqual([STATE_VERSION, STATE_VERSION, STATE_VERSION]);
      }
      const request = { formId, ...PICKS };
      expect((await verifyForm(context(), target, request, signal)).outcome).toBe('same');
    }
    expect(await fullPass(FORMS.gone)).toMatchObject({ outcome: 'gone', code: 'FORM_GONE' });
    expect(snapshot()).toEqual(before);
    const elsewhere = await place.openElsewhere();
    const passes = await (await elsewhere.reader(FORMS.contact))?.passes(100);
    expect(passes?.slice(1)).toEqual(oldPasses);
    const [ended] = (await (await elsewhere.reader(FORMS.gone))?.passes(1)) ?? [];
    expect(ended).toMatchObject({ outcome: 'gone', code: 'FORM_GONE' });
    const shown = place.sandbox.inspect.shown(place.spreadsheetId, 'Mirror');
    expect([shown[5]?.[2], shown[6]?.slice(0, 2)]).toEqual([
      'Details',
      ['Contact us', 'All submissions at last success'],
    ]);
    expect(shown[1]?.slice(0, 2)).toEqual(['Stale after minutes without a success', '45']);
  });

  it('its Mirror tab reads from top to bottom then, and keeps the limit that people chose', async () => {
    const { inspect, people } = place.sandbox;
    people.at(place.spreadsheetId, 'Mirror').type(1, 1, '90');
    expect((await fullPass(FORMS.contact)).outcome).toBe('ok');
    const shown = inspect.shown(place.spreadsheetId, 'Mirror');
    const titles = shown.flatMap(([text], row) =>
      ['Forms', 'Problems', 'Fields'].includes(text ?? '') ? [[text, row]] : [],
    );
    expect(titles.map(([text]) => text)).toEqual(['Forms', 'Problems', 'Fields']);
    expect(titles[0]?.[1]).toBe(4);
    expect(shown[1]?.[1]).toBe('90');
    expect(shown[6]?.slice(0, 2)).toEqual(['Contact us', 'All submissions at last success']);
    // Nothing is left of the tables that stood on the right.
    expect(shown.slice(0, 5).map((cells) => cells.length)).toEqual([2, 2, 2, 1, 1]);
    const columns = inspect
      .tabs(place.spreadsheetId)
      .find(({ title }) => title === 'Mirror')?.columns;
    expect(columns).toBe(9);
    expect(inspect.layout(place.spreadsheetId, 'Mirror').frozenRowCount).toBe(1);
    const fields = shown.slice(Number(titles[2]?.[1]) + 2).map((cells) => cells[0]);
    expect(fields).toContain('Contact us');
    expect(fields).toContain('Survey');
  });

  it('is migrated in one write, whatever the number of forms, and only once', async () => {
    const before = revision();
    const form = { id: FORMS.survey, slug: 'survey', name: 'Survey' };
    await (await target.openWriter(form, AT_ONCE))[Symbol.asyncDispose]();
    expect(storedVersions()).toEqual([STATE_VERSION, STATE_VERSION, STATE_VERSION]);
    expect(revision()).toBe(before + 1);
    await (
      await (await place.openElsewhere()).openWriter(form, { waitMs: 60_000 })
    )[Symbol.asyncDispose]();
    expect(revision()).toBe(before + 1);
  });

  it('is migrated by one of several writers that begin together', async () => {
    const before = revision();
    const forms = [FORMS.contact, FORMS.survey, FORMS.gone];
    const one = await place.openElsewhere();
    await Promise.all(
      forms.map(async (id, index) => {
        await using _writer = await (index === 0 ? one : target).openWriter(
          { id, slug: id, name: id },
          { waitMs: 120_000 },
        );
      }),
    );
    expect(storedVersions()).toEqual([STATE_VERSION, STATE_VERSION, STATE_VERSION]);
    expect(revision()).toBe(before + 1);
  });

  it('is read as it is: a look changes nothing', async () => {
    const before = revision();
    const overview = await target.overview();
    expect(overview.map(({ formId, rows, deletedRows }) => [formId, rows, deletedRows])).toEqual(
      expect.arrayContaining([
        [FORMS.contact, 40, 1],
        [FORMS.survey, 22, 0],
        [FORMS.gone, 3, 0],
      ]),
    );
    expect(await (await target.reader(FORMS.contact))?.passes(1)).toMatchObject([
      { outcome: 'failed', code: null, error: expect.stringContaining('the key was refused') },
    ]);
    expect((await target.check()).every(({ ok }) => ok)).toBe(true);
    // `check` makes a piece of metadata and removes it.
    expect(revision()).toBe(before + 1);
    expect(storedVersions()).toEqual([version, version, version]);
  });

  it.each([
    [STATE_VERSION + 1, /written by a newer forms-mirror: it has version \d.*Upgrade/],
    [0, /has version 0, which no release.*Version history/],
    ['two', /has version "two", which no release/],
    [undefined, /has no version, which no release/],
  ])('is refused and left alone with a state of version %s', async (wrong, message) => {
    const [{ id, value } = { id: 0, value: '{}' }] = states();
    const state = JSON.stringify({ ...(JSON.parse(value) as object), v: wrong });
    await update(place, [
      {
        updateDeveloperMetadata: {
          dataFilters: [{ developerMetadataLookup: { metadataId: id } }],
          developerMetadata: { metadataValue: state },
          fields: 'metadataValue',
        },
      },
    ]);
    const before = revision();
    const form = { id: FORMS.survey, slug: 'survey', name: 'Survey' };
    const refusal = { code: 'SETTINGS', message: expect.stringMatching(message) };
    await expect(target.openWriter(form, AT_ONCE)).rejects.toMatchObject(refusal);
    await expect(target.overview()).rejects.toMatchObject(refusal);
    expect((await target.check()).at(-1)).toMatchObject({ ok: false, message: refusal.message });
    expect(revision()).toBe(before);
  });
});
