import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IdentityPoolClient, JWT } from 'google-auth-library';
import { sheets } from 'googleapis/build/src/apis/sheets/index.js';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { SPREADSHEETS_SCOPE } from '../src/accounts.ts';
import { Bench, clientFor, clientWith, refusal, ROBOT } from './support/client.ts';

let bench: Bench;
afterEach(() => bench.emulator.stop());

const read = (target: Bench, token: string, id = target.id) =>
  clientWith(target.emulator, token).spreadsheets.get({
    spreadsheetId: id,
    fields: 'spreadsheetId',
  });

const writeOne = (target: Bench, client = target.api) =>
  client.spreadsheets.values.update({
    spreadsheetId: target.id,
    range: 'A1',
    valueInputOption: 'RAW',
    requestBody: { values: [['x']] },
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
    people.share(bench.id, 'stranger@example.com', undefined);
    expect(await refusal(read(bench, stranger))).toEqual(denied);
    people.deleteFile(bench.id);
    expect(await refusal(read(bench, stranger))).toMatchObject({ code: 404 });
  });

  it('refuses an Excel file with FAILED_PRECONDITION', async () => {
    bench = await Bench.start({}, { kind: 'xlsx' });
    expect(await refusal(read(bench, bench.emulator.accounts.issue({ email: ROBOT })))).toEqual({
      code: 400,
      message: 'This operation is not supported for this document',
      status: 'FAILED_PRECONDITION',
    });
  });

  it('refuses missing, wrong, revoked and expired credentials', async () => {
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
    const revoked = accounts.issue({ email: ROBOT });
    accounts.revoke(revoked);
    for (const token of ['nonsense', revoked, ended]) {
      expect(await refusal(read(bench, token))).toMatchObject({
        code: 401,
        status: 'UNAUTHENTICATED',
        message: expect.stringMatching(/^Request had invalid authentication credentials\./),
      });
    }
  });

  it('refuses a token without the scope, and one that may only read', async () => {
    bench = await Bench.start();
    const { accounts } = bench.emulator;
    const other = accounts.issue({
      email: ROBOT,
      scopes: ['https://www.googleapis.com/auth/gmail.send'],
    });
    expect(await refusal(read(bench, other))).toMatchObject({
      code: 403,
      message: 'Request had insufficient authentication scopes.',
      details: [{ reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT', domain: 'googleapis.com' }],
    });
    const readonly = accounts.issue({ email: ROBOT, scopes: [`${SPREADSHEETS_SCOPE}.readonly`] });
    expect((await read(bench, readonly)).status).toBe(200);
    const write = writeOne(bench, clientWith(bench.emulator, readonly));
    expect((await refusal(write)).message).toBe('Request had insufficient authentication scopes.');
  });

  it('says when the API was never switched on in the project', async () => {
    bench = await Bench.start({ disabledProjects: ['fresh'] });
    const token = bench.emulator.accounts.issue({ email: ROBOT, project: 'fresh' });
    const error = await refusal(read(bench, token));
    expect(error).toMatchObject({ code: 403, status: 'PERMISSION_DENIED' });
    expect(error.message).toMatch(
      /^Google Sheets API has not been used in project \d+ before or it is disabled\. Enable it by visiting https:/,
    );
    expect(error.details).toMatchObject([{ links: [{}] }, { reason: 'SERVICE_DISABLED' }]);
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
    expect(bench.emulator.requests.all().at(-1)?.email).toBe(ROBOT);
    const foreign = bench.emulator.accounts.serviceAccountKey('other@x.iam.gserviceaccount.com');
    const forged = client(foreign['private_key'] ?? '');
    expect((await refusal(writeOne(bench, forged))).code).toBe(401);
  });

  it('a federated identity gets its token from the emulator, end to end', async () => {
    bench = await Bench.start();
    const subject = join(folder, 'subject');
    writeFileSync(subject, 'a foreign token');
    bench.emulator.accounts.trustSubject('a foreign token', { email: ROBOT });
    const auth = new IdentityPoolClient({
      audience:
        '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${bench.emulator.url}token`,
      credential_source: { file: subject },
      scopes: [SPREADSHEETS_SCOPE],
    });
    await writeOne(
      bench,
      sheets({ version: 'v4', rootUrl: bench.emulator.url, auth, retry: false }),
    );
    expect(bench.grid()).toEqual([['x']]);
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

describe('quotas', () => {
  it('60 reads and 60 writes a minute for an account; a batch is one; refilled each minute', async () => {
    let now = 0;
    bench = await Bench.start({ quotas: true, clock: { now: () => now } });
    const token = bench.emulator.accounts.issue({ email: ROBOT });
    for (let at = 0; at < 60; at++) await read(bench, token);
    const error = await refusal(read(bench, token));
    expect(error).toMatchObject({
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      message: expect.stringMatching(
        /^Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user' of service 'sheets\.googleapis\.com' for consumer 'project_number:\d+'\.$/,
      ),
      details: [
        {
          reason: 'RATE_LIMIT_EXCEEDED',
          metadata: { quota_limit: 'ReadRequestsPerMinutePerUser', quota_limit_value: '60' },
        },
      ],
    });
    // Writes are counted apart.
    await writeOne(bench);
    now += 60_000;
    await read(bench, token);
    // Writes by hand in the browser cost nothing.
    bench.emulator.people.at(bench.id, 0).type(1, 1, 'free');
  });

  it('300 a minute for a project, over all accounts; switched off at will', async () => {
    bench = await Bench.start({ quotas: { writesPerProject: 3, writesPerUser: 2 } });
    const colleague = 'b@example-project.iam.gserviceaccount.com';
    bench.emulator.people.share(bench.id, colleague, 'writer');
    const second = clientFor(bench.emulator, colleague);
    await writeOne(bench);
    await writeOne(bench);
    const own = await refusal(writeOne(bench));
    expect(own.details).toMatchObject([
      { metadata: { quota_limit: 'WriteRequestsPerMinutePerUser' } },
    ]);
    await writeOne(bench, second);
    const all = await refusal(writeOne(bench, second));
    expect(all.details).toMatchObject([
      { metadata: { quota_limit: 'WriteRequestsPerMinutePerProject' } },
    ]);
    bench.emulator.quotas.enabled = false;
    await writeOne(bench);
  });
});

describe('the request log', () => {
  it('knows times, sizes and kinds, but no value (L11)', async () => {
    let now = 5_000;
    bench = await Bench.start({ clock: { now: () => now } });
    await bench.put('Sheet1!A1', [['a secret answer']]);
    now += 1_200;
    await bench.batch({ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 1 } });
    now += 900;
    await bench.get('Sheet1!A:A');
    const { requests } = bench.emulator;
    expect(requests.of(bench.id)).toMatchObject([
      { method: 'spreadsheets.values.update', kind: 'write', ranges: ['Sheet1!A1'], applied: true },
      { method: 'spreadsheets.batchUpdate', requestKinds: ['appendDimension'], status: 200 },
      { method: 'spreadsheets.values.get', kind: 'read', email: ROBOT, applied: false },
    ]);
    expect(requests.gapsMs(bench.id)).toEqual([1_200, 900]);
    expect(requests.counts()).toEqual({ reads: 1, writes: 2 });
    expect(JSON.stringify(requests.all())).not.toContain('secret');
    requests.clear();
    expect(requests.all()).toEqual([]);
  });

  it('marks payloads over the 2 MB that Google recommends; they are refused only on demand', async () => {
    bench = await Bench.start({ maxPayloadBytes: 3_000_000 });
    const lines = (count: number) => Array.from({ length: count }, () => ['x'.repeat(40_000)]);
    await bench.batch({ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 100 } });
    await bench.put('Sheet1!A1', lines(60));
    expect(bench.emulator.requests.oversized()).toHaveLength(1);
    expect((await refusal(bench.put('Sheet1!A1', lines(80)))).message).toContain('payload size');
  });
});

describe('faults', () => {
  it('"applied, then 503" changes the sheet and hides it: the body is Google’s', async () => {
    bench = await Bench.start();
    bench.emulator.faults.add({ path: /:batchUpdate$/, status: 503, applied: true });
    const grow = { appendDimension: { sheetId: 0, dimension: 'ROWS', length: 5 } };
    expect(await refusal(bench.batch(grow))).toEqual({
      code: 503,
      message: 'The service is currently unavailable.',
      status: 'UNAVAILABLE',
    });
    expect(bench.emulator.inspect.tabs(bench.id)[0]?.rows).toBe(15);
    expect(bench.emulator.requests.all().at(-1)).toMatchObject({ status: 503, applied: true });
  });

  it('a plain 503, and a dropped connection, before or after the change', async () => {
    bench = await Bench.start();
    bench.emulator.faults.add({ method: 'PUT', status: 503 });
    expect(await refusal(writeOne(bench))).toMatchObject({ code: 503 });
    expect(bench.grid()).toEqual([]);
    bench.emulator.faults.add({ method: 'PUT', dropConnection: true });
    await expect(writeOne(bench)).rejects.toThrow(/hang up|ECONNRESET|fetch failed/);
    expect(bench.grid()).toEqual([]);
    bench.emulator.faults.add({ method: 'PUT', dropConnection: true, applied: true });
    await expect(writeOne(bench)).rejects.toThrow(/hang up|ECONNRESET|fetch failed/);
    expect(bench.grid()).toEqual([['x']]);
    expect(bench.emulator.requests.all().map(({ status, applied }) => [status, applied])).toEqual([
      [503, false],
      [0, false],
      [0, true],
    ]);
  });

  it('hits neither the page for people nor what they do', async () => {
    bench = await Bench.start({ faults: [{ status: 500, times: Infinity }] });
    const page = await fetch(`${bench.emulator.url}view/${bench.id}`);
    expect(page.status).toBe(200);
    expect(bench.emulator.requests.all()).toEqual([]);
  });
});

describe('an address that Google does not have', () => {
  it('is answered with HTML, as Google does', async () => {
    bench = await Bench.start();
    for (const path of ['v4/nothing', 'v4/spreadsheets/%E0%A4%A', 'v3/spreadsheets/x']) {
      const answer = await fetch(`${bench.emulator.url}${path}`);
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-type')).toContain('text/html');
    }
  });
});
