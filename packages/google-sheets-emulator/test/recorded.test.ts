import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, describe, expect, it } from 'vitest';
import { startSheetsEmulator, type SheetsEmulator } from '../src/emulator.ts';

// SHEETS_RECORDINGS: the folder tests/cassettes of github.com/burnash/gspread, real exchanges with Google (VCR, JSON).
const folder = process.env['SHEETS_RECORDINGS'];

interface Exchange {
  request: { method: string; uri: string; body: string | { string?: string } | null };
  response: { status: { code: number }; body: { string?: string; base64_string?: string } };
}

/** What a recording does not contain, or what are about Drive: title and zone of an imported file, font metrics. */
const BEYOND_US = /test_import_csv|test_auto_resize_columns|test_access_|test_open_?all/;

/** The recordings were made as this account; ours is another one. */
const RECORDED_OWNER = /[\w-]+@[\w-]+\.iam\.gserviceaccount\.com/;
const OWNER = 'owner@example.com';

const textOf = (body: Exchange['request']['body']): string =>
  typeof body === 'string' ? body : (body?.string ?? '');

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
  }
  return JSON.stringify(update);
}

/** Answers without what is ours by nature: the address of the page and of the owner. */
const comparable = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer).replace(RECORDED_OWNER, OWNER), (key, value: unknown) =>
    key === 'spreadsheetUrl' ? undefined : value,
  );

let emulator: SheetsEmulator | undefined;
afterEach(() => emulator?.stop());

/** Plays one recording: files made in Drive are made here, Sheets' requests are sent, answers are compared. */
async function replay(running: SheetsEmulator, exchanges: readonly Exchange[]): Promise<number> {
  const token = running.accounts.issue({ email: OWNER });
  const ids = new Map<string, string>();
  let compared = 0;
  for (const { request, response } of exchanges) {
    const { pathname, search, hostname } = new URL(request.uri);
    const wanted = parsed(response.body.string ?? response.body.base64_string ?? '');
    if (!hostname.startsWith('sheets')) {
      const file = wanted as { id?: string; name?: string };
      if (request.method !== 'POST' || file.id === undefined) continue;
      const title = (parsed(textOf(request.body)) as { name?: string }).name ?? file.name ?? '';
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
    const place = `${request.method} ${pathname}`;
    expect([place, answer.status, comparable(got)]).toEqual([
      place,
      response.status.code,
      comparable(wanted),
    ]);
    compared++;
  }
  return compared;
}

describe.skipIf(folder === undefined)('recorded exchanges with Google', () => {
  const names =
    folder === undefined ? [] : readdirSync(folder).filter((name) => !BEYOND_US.test(name));

  it.each(names)('%s is answered alike', async (name) => {
    const recording = parsed(readFileSync(join(folder ?? '', name), 'utf8')) as {
      interactions: Exchange[];
    };
    emulator = await startSheetsEmulator();
    expect(await replay(emulator, recording.interactions)).toBeGreaterThan(0);
  });
});
