import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JWT } from 'google-auth-library';
import { sheets, type sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { SPREADSHEETS_SCOPE } from '../src/accounts.ts';
import { Bench, clientWith, refusal, ROBOT } from './support/client.ts';

let bench: Bench;
afterEach(() => bench.emulator.stop());

const read = (target: Bench, token: string, id = target.id) =>
  clientWith(target.emulator, token).spreadsheets.get({
    spreadsheetId: id,
    fields: 'spreadsheetId',
  });

const written = (stringValue: string): sheets_v4.Schema$Request => ({
  updateCells: {
    start: { sheetId: 0, rowIndex: 0, columnIndex: 0 },
    rows: [{ values: [{ userEnteredValue: { stringValue } }] }],
    fields: 'userEnteredValue',
  },
});

const writeOne = (target: Bench, client = target.api) =>
  client.spreadsheets.batchUpdate({
    spreadsheetId: target.id,
    requestBody: { requests: [written('x')] },
  });

describe('who may do what', () => {
  it('distinguishes a wrong ID, a file that is not shared, and a viewer', async () => {
    bench = await Bench.start();
    const { accounts, people } = bench.emulator;
    expect(await refusal(read(bench, accounts.issue({ email: ROBOT }), 'wrong'))).toEqual({
      code: 404,
      message: 'Requested entity was not found.',
      status: 'NOT_FOUND',
    });
    const stranger = accounts.issue({ email: 'stranger@example.com' });
    const denied = {
      code: 403,
      message: 'The caller does not have permission',
      status: 'PERMISSION_DENIED',
    };
    expect(await refusal(read(bench, stranger))).toEqual(denied);
    people.share(bench.id, 'Stranger@Example.com', 'reader');
    expect((await read(bench, stranger)).status).toBe(200);
    expect(await refusal(writeOne(bench, clientWith(bench.emulator, stranger)))).toEqual(denied);
  });

  it('refuses missing, wrong and expired credentials', async () => {
    const clock = { now: () => 1_000_000 };
    bench = await Bench.start({ clock });
    const { accounts, url } = bench.emulator;
    const bare = await fetch(`${url}v4/spreadsheets/${bench.id}`);
    expect(bare.status).toBe(403);
    expect(await bare.json()).toEqual({
      error: {
        code: 403,
        message: 'The request is missing a valid API key.',
        status: 'PERMISSION_DENIED',
      },
    });
    const ended = accounts.issue({ email: ROBOT, expiresAtMs: 1_000_000 });
    for (const token of ['nonsense', ended]) {
      expect(await refusal(read(bench, token))).toMatchObject({
        code: 401,
        status: 'UNAUTHENTICATED',
        message: expect.stringMatching(/^Request had invalid authentication credentials\./),
      });
    }
  });
});

describe('credentials of other kinds', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sheets-emulator-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('a service account’s key signs for itself; another key does not', async () => {
    bench = await Bench.start();
    const key = bench.emulator.accounts.serviceAccountKey(ROBOT);
    const client = (pem: string) => {
      const auth = new JWT({ email: ROBOT, key: pem, scopes: [SPREADSHEETS_SCOPE] });
      auth.useJWTAccessWithScope = true;
      return sheets({ version: 'v4', rootUrl: bench.emulator.url, auth, retry: false });
    };
    await writeOne(bench, client(key['private_key'] ?? ''));
    expect(bench.grid()).toEqual([['x']]);
    const foreign = bench.emulator.accounts.serviceAccountKey('other@x.iam.gserviceaccount.com');
    const forged = client(foreign['private_key'] ?? '');
    expect((await refusal(writeOne(bench, forged))).code).toBe(401);
  });

  it('the token endpoint words its refusals as Google’s', async () => {
    const nowMs = Date.UTC(2026, 0, 1);
    bench = await Bench.start({ clock: { now: () => nowMs } });
    const key = bench.emulator.accounts.serviceAccountKey(ROBOT);
    const ask = async (assertion: string) => {
      const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
      const body = new URLSearchParams({ grant_type: grant, assertion });
      const answer = await fetch(`${bench.emulator.url}token`, { method: 'POST', body });
      return (await answer.json()) as { access_token?: string; error_description?: string };
    };
    const sign = async (claims: object, pem: string) => {
      const { createSign } = await import('node:crypto');
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const head = `${part({ alg: 'RS256' })}.${part(claims)}`;
      return `${head}.${createSign('RSA-SHA256').update(head).sign(pem, 'base64url')}`;
    };
    const iat = nowMs / 1000;
    const claims = { iss: ROBOT, scope: SPREADSHEETS_SCOPE, iat, exp: iat + 3600 };
    const pem = key['private_key'] ?? '';
    const { access_token: token } = await ask(await sign(claims, pem));
    expect((await read(bench, token ?? '')).status).toBe(200);
    const gone = await ask(await sign({ ...claims, iss: 'gone@x' }, pem));
    expect(gone.error_description).toBe('Invalid grant: account not found');
    const late = await ask(await sign({ ...claims, iat: iat - 600 }, pem));
    expect(late.error_description).toMatch(/^Invalid JWT: Token must be a short-lived token/);
    const wrong = `${(await sign(claims, pem)).slice(0, -8)}AAAAAAAA`;
    expect((await ask(wrong)).error_description).toBe('Invalid JWT Signature.');
  });
});
