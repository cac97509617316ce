import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { describe, expect, it } from 'vitest';
import { startSheetsEmulator, type SheetsEmulator } from '../src/emulator.ts';
import { type Exchange, type Recording, recordingsIn, textOf } from './support/recordings.ts';

// SHEETS_RECORDINGS: real exchanges with Google (VCR, JSON), of github.com/burnash/gspread (MIT): its folder tests/cassettes, or
// a clone of it, whose whole history is played then.
const place = process.env['SHEETS_RECORDINGS'];

/** What a recording does not contain, or what are about Drive: title and zone of an imported file, font metrics. */
const BEYOND_US = /test_import_csv|test_auto_resize_columns|test_access_|test_open_?all/;

/** Recordings that the emulator does not answer alike: how they are told, and why that stays so. */
const OTHERWISE: readonly (readonly [tell: (recording: Recording) => boolean, reason: string])[] = [
  [
    ({ exchanges }) =>
      exchanges.some(({ request }) => textOf(request.body).includes('textToColumns')),
    'textToColumns is not emulated',
  ],
  [({ name }) => name.endsWith('.json@c1ea42a'), 'it begins with a file that is smaller already'],
  [({ name }) => name.endsWith('.json@b793c56'), 'its file was deleted before the last request'],
];
const reasonOf = (recording: Recording): string | undefined =>
  OTHERWISE.find(([tell]) => tell(recording))?.[1];

/** The recordings were made as this account; ours is another one. */
const RECORDED_OWNER = /[\w-]+@[\w-]+\.iam\.gserviceaccount\.com/g;
const OWNER = 'owner@example.com';

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** IDs that Google chose are asked for by the replayed request, so that later ones find them. */
function withRecordedIds(
  body: string,
  answer: sheets_v4.Schema$BatchUpdateSpreadsheetResponse,
): string {
  const update = parsed(body) as sheets_v4.Schema$BatchUpdateSpreadsheetRequest;
  for (const [index, reply] of (answer.replies ?? []).entries()) {
    const request = update.requests?.[index];
    const { sheetId } = reply.addSheet?.properties ?? reply.duplicateSheet?.properties ?? {};
    if (request?.addSheet)
      request.addSheet.properties = { ...request.addSheet.properties, sheetId: sheetId ?? 0 };
    if (request?.duplicateSheet) request.duplicateSheet.newSheetId = sheetId ?? 0;
    Object.assign(request?.addNamedRange?.namedRange ?? {}, {
      namedRangeId: reply.addNamedRange?.namedRange?.namedRangeId,
    });
    Object.assign(request?.addProtectedRange?.protectedRange ?? {}, {
      protectedRangeId: reply.addProtectedRange?.protectedRange?.protectedRangeId,
    });
    Object.assign(request?.addTable?.table ?? {}, { tableId: reply.addTable?.table?.tableId });
  }
  return JSON.stringify(update);
}

/** Answers without what is ours by nature: the address of the page and of the owner, and the order of a theme's colours. */
const comparable = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer).replace(RECORDED_OWNER, OWNER), (key, value: unknown) => {
    if (key === 'themeColors' && Array.isArray(value)) {
      return value.map((color) => JSON.stringify(color)).sort();
    }
    return key === 'spreadsheetUrl' ? undefined : value;
  });

/** One exchange, as Google had it and as it was here. */
interface Comparison {
  readonly place: string;
  readonly wanted: readonly [status: number, answer: unknown];
  readonly got: readonly [status: number, answer: unknown];
}

/** Plays one recording: files made in Drive are made here, Sheets' requests are sent. */
async function* replay(
  running: SheetsEmulator,
  exchanges: readonly Exchange[],
): AsyncGenerator<Comparison> {
  const token = running.accounts.issue({ email: OWNER });
  const ids = new Map<string, string>();
  const titles = new Map<string, string>();
  for (const { request, response } of exchanges) {
    const { pathname, search, hostname } = new URL(request.uri);
    const wanted = parsed(textOf(response.body));
    if (!hostname.startsWith('sheets')) {
      const file = wanted as { id?: string; name?: string };
      if (request.method !== 'POST' || file.id === undefined) continue;
      const { name } = parsed(textOf(request.body)) as { name?: string };
      const original = titles.get(/files\/([^/]+)\/copy/.exec(pathname)?.[1] ?? '');
      const title = name ?? file.name ?? (original === undefined ? '' : `Copy of ${original}`);
      titles.set(file.id, title);
      ids.set(file.id, running.createSpreadsheet({ title, owner: OWNER }));
      continue;
    }
    const recorded = /spreadsheets\/([^/:]+)/.exec(pathname)?.[1] ?? '';
    const id = ids.get(recorded);
    if (id === undefined) continue;
    const body =
      pathname.endsWith(':batchUpdate') && typeof wanted === 'object'
        ? withRecordedIds(textOf(request.body), wanted ?? {})
        : textOf(request.body);
    const answer = await fetch(new URL(pathname.replace(recorded, id) + search, running.url), {
      method: request.method,
      headers: { authorization: `Bearer ${token}` },
      ...(request.method !== 'GET' && { body }),
    });
    const got = parsed((await answer.text()).replaceAll(id, recorded));
    yield {
      place: `${request.method} ${pathname}`,
      wanted: [response.status.code, comparable(wanted)],
      got: [answer.status, comparable(got)],
    };
  }
}

/** How many exchanges of a recording were compared. Fails at the first one that is answered otherwise. */
async function compare({ exchanges }: Recording): Promise<number> {
  const emulator = await startSheetsEmulator();
  let compared = 0;
  try {
    for await (const { place: at, wanted, got } of replay(emulator, exchanges)) {
      expect([at, ...got]).toEqual([at, ...wanted]);
      compared++;
    }
  } finally {
    await emulator.stop();
  }
  return compared;
}

describe.skipIf(place === undefined)('recorded exchanges with Google', () => {
  const all = place === undefined ? [] : recordingsIn(place);
  const ours = all.filter(({ name }) => !BEYOND_US.test(name));
  const alike = ours.filter((recording) => reasonOf(recording) === undefined);
  const odd = ours.flatMap((recording) => {
    const reason = reasonOf(recording);
    return reason === undefined ? [] : [{ recording, reason, name: recording.name }];
  });

  it('are answered alike', async () => {
    let compared = 0;
    const failed: string[] = [];
    for (const recording of alike) {
      await compare(recording).then(
        (count) => void (compared += count),
        (error: unknown) => void failed.push(`${recording.name}: ${String(error)}`),
      );
    }
    console.info(`${compared} exchanges of ${alike.length} recordings compared`);
    expect(failed).toEqual([]);
    expect(compared).toBeGreaterThan(300);
  }, 600_000);

  it.each(odd)('but for $name: $reason', async ({ recording }) => {
    await expect(compare(recording)).rejects.toThrow('to deeply equal');
  });
});
