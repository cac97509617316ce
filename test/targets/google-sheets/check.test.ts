import { generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import type { CheckResult, Target } from '../../../src/mirror/target.ts';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../../../src/targets/google/credentials.ts';
import { SpreadsheetRegistry } from '../../../src/targets/google-sheets/registry.ts';
import { openSheets } from '../../../src/targets/google-sheets/target.ts';
import { AT_ONCE, FORM, NAME, row } from '../../contract/target-harness.ts';
import {
  SleepersClock,
  type SheetsPlace,
  sheetsPlace,
  type SheetsPlaceOptions,
} from './sheets-place.ts';

describe('check', () => {
  let place: SheetsPlace;
  afterEach(() => place.dispose());

  const findings = async (
    options: SheetsPlaceOptions = {},
    open: (place: SheetsPlace) => Promise<Target> = (one) => one.open(),
  ): Promise<CheckResult[]> => {
    place = await sheetsPlace({ clock: new SleepersClock(), ...options });
    return (await open(place)).check();
  };
  const failures = (all: CheckResult[]): CheckResult[] => all.filter((one) => !one.ok);

  it('says whom to share with, and what it could do', async () => {
    const all = await findings();
    expect(failures(all)).toEqual([]);
    expect(all.map((one) => one.message)).toEqual([
      `Google is asked as ${EMULATOR_EMAIL}. Share the spreadsheet with this address as Editor.`,
      'The spreadsheet "Answers" can be read.',
      'It can be written to.',
      "0.3% of Google's 10 million cells are in use.",
    ]);
    const { inspect: look } = place.sandbox;
    expect(look.metadata(place.spreadsheetId)).toEqual([]);
    expect(look.tabs(place.spreadsheetId)).toHaveLength(1);
  });

  it.each([
    [
      'not shared',
      { spreadsheet: { shares: {} } },
      /may not open/,
      /Share the spreadsheet .* with mirror@.* as Editor/,
    ],
    [
      'shared for viewing only',
      { spreadsheet: { shares: { [EMULATOR_EMAIL]: 'reader' as const } } },
      /may view the spreadsheet but not edit/,
      /Share .* as Editor/,
    ],
    [
      'an Excel file',
      { spreadsheet: { kind: 'xlsx' as const } },
      /is an Excel file/,
      /Save as Google Sheets/,
    ],
    [
      'in a project without the API',
      { sandbox: { disabledProjects: ['forms-mirror'] } },
      /API is disabled/,
      /Enable it \(https:\/\/console.*wait two minutes/,
    ],
  ])('reports a spreadsheet that is %s', async (_, options, message, remedy) => {
    expect(failures(await findings(options))).toEqual([
      { ok: false, message: expect.stringMatching(message), remedy: expect.stringMatching(remedy) },
    ]);
  });

  it('reports a wrong ID', async () => {
    const all = await findings({}, (one) =>
      openSheets('x', '1NoSuchSpreadsheet', {
        clock: one.clock,
        emulatorUrl: one.sandbox.url,
      }),
    );
    expect(failures(all)).toEqual([
      {
        ok: false,
        message: expect.stringContaining('no spreadsheet with the ID 1NoSuchSpreadsheet'),
        remedy: expect.stringContaining('copy its address'),
      },
    ]);
  });

  it('reports an expired token', async () => {
    const all = await findings({}, async (one) => {
      one.sandbox.accounts.revoke(EMULATOR_TOKEN);
      return one.open();
    });
    expect(failures(all)).toEqual([
      {
        ok: false,
        message: expect.stringContaining('did not accept the credentials'),
        remedy: expect.any(String),
      },
    ]);
  });

  it('reports a damaged key, and works with a sound one', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2_048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    place = await sheetsPlace({ clock: new SleepersClock() });
    const email = 'signer@project.iam.gserviceaccount.com';
    place.sandbox.accounts.registerKey(email, publicKey);
    place.sandbox.people.share(place.spreadsheetId, email, 'writer');
    const open = (key: string): Promise<Target> =>
      openSheets('x', place.spreadsheetId, {
        clock: place.clock,
        registry: new SpreadsheetRegistry(place.clock),
        emulatorUrl: place.sandbox.url,
        credentialsJson: JSON.stringify({ client_email: email, private_key: key }),
      });
    expect(failures(await (await open(privateKey)).check())).toEqual([]);
    const damaged = privateKey.replace(/\n[\w+/]{20}/, '\n%%%%%%%%%%%%%%%%%%%%');
    expect(failures(await (await open(damaged)).check())).toEqual([
      { ok: false, message: expect.stringContaining('damaged'), remedy: expect.any(String) },
    ]);
  });

  it('reports a protected range, and so does a write to a tab that is protected as a whole', async () => {
    place = await sheetsPlace({ clock: new SleepersClock() });
    const target = await place.open();
    {
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
    }
    const person = place.sandbox.people.at(place.spreadsheetId, 'Contact form');
    person.protect({ left: 3, right: 4 });
    expect(failures(await target.check())).toEqual([
      {
        ok: false,
        message: expect.stringContaining(
          'On the tab "Contact form" the protected range (D:D) does not let forms-mirror write.',
        ),
        remedy: expect.stringContaining(`Allow ${EMULATOR_EMAIL}`),
      },
    ]);
    person.protect({});
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    const failed = await writer
      .apply([row('a', { field_1_a: 'a secret answer' })], [])
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 'TARGET_DENIED',
      retryable: false,
      message: expect.stringMatching(/protected range .* Allow mirror@/),
    });
    // L11: Google's client puts the whole request into its errors.
    expect(inspect(failed, { depth: 20, showHidden: true })).not.toContain('secret answer');
  });

  it('reports a server that does not answer', async () => {
    const all = await findings({}, async (one) => {
      const target = await one.open();
      await one.sandbox.stop();
      return target;
    });
    expect(failures(all)).toEqual([
      {
        ok: false,
        message: expect.stringContaining('could not be reached'),
        remedy: expect.any(String),
      },
    ]);
  });

  it('foretells when the spreadsheet will be full, and refuses in time', async () => {
    const clock = new SleepersClock('2026-01-01T00:00:00.000Z');
    place = await sheetsPlace({
      clock,
      spreadsheet: {
        tab: { title: 'Big', rows: 99_999, columns: 100 },
        shares: { [EMULATOR_EMAIL]: 'writer' },
      },
    });
    const target = await place.open();
    const rows = Array.from({ length: 8 }, (_, index) => row(`s${index}`));
    const add = async (some: typeof rows): Promise<unknown> => {
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare([]);
      return writer.apply(some, []);
    };
    await expect(add([])).rejects.toMatchObject({
      code: 'TARGET_FULL',
      retryable: false,
      message: expect.stringMatching(/no room: Google allows 10 million cells.* Delete rows/),
    });
    place.sandbox.people.at(place.spreadsheetId, 'Big').deleteRows(0, 20);
    await add(rows.slice(0, 2));
    clock.advance(10 * 86_400_000);
    await add(rows);
    const room = (await target.check()).find((one) => one.message.includes('10 million'));
    expect(room).toMatchObject({
      ok: false,
      message: expect.stringMatching(
        /^Room for about [\d,]+ more submissions; full in about \d+ \w+ at the rate of late \(.* in use\)\.$/,
      ),
    });
    const many = Array.from({ length: 200 }, (_, index) => row(`m${index}`));
    const before = place.sandbox.inspect.revision(place.spreadsheetId);
    await expect(add(many)).rejects.toMatchObject({ code: 'TARGET_FULL' });
    expect(place.sandbox.inspect.revision(place.spreadsheetId)).toBe(before);
  });
});
