import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../../src/targets/google/credentials.ts';
import { Child, type ChildEnv } from '../support/child.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import {
  type ConnectProxy,
  startProxy,
  startTlsOrigin,
  TEST_AUTHORITY,
} from '../support/connect-proxy.ts';
import { OddServer, sendJson } from '../support/odd-server.ts';
import { newSpreadsheet } from '../support/spreadsheet.ts';

const PASSWORD = 'pr0xy-s3cret';

const closing = <T extends AsyncDisposable>(resource: T): T => {
  onTestFinished(() => resource[Symbol.asyncDispose]());
  return resource;
};

/** A proxy that connects each host, at port 443, to TLS in front of a port of this machine. */
async function proxyTo(ports: Readonly<Record<string, number>>): Promise<ConnectProxy> {
  const origins = new Map<string, number>();
  for (const [host, port] of Object.entries(ports)) {
    origins.set(`${host}:443`, closing(await startTlsOrigin(port)).port);
  }
  return closing(
    await startProxy((target) => {
      const port = origins.get(target);
      return port === undefined ? { text: 'HTTP/1.1 502 Bad Gateway\r\n\r\n' } : { port };
    }),
  );
}

interface Ended {
  readonly code: number | null;
  readonly text: string;
}

async function run(args: readonly string[], env: ChildEnv): Promise<Ended> {
  const child = Child.cli(args, env).killedAfter(onTestFinished);
  const { code } = await child.ended;
  return { code, text: child.stdout + child.stderr };
}

/** A sandbox of the Forms API behind a proxy, as `https://forms.test`. */
async function openBehind(also: Readonly<Record<string, number>> = {}) {
  const place = await openPlace({ submissions: 30 });
  const url = new URL(place.env['FORMS_API_URL'] ?? '');
  const proxy = await proxyTo({ 'forms.test': Number(url.port), ...also });
  const env = {
    ...place.env,
    FORMS_API_URL: `https://forms.test${url.pathname}`,
    HTTPS_PROXY: `http://ann:${PASSWORD}@${proxy.host}`,
    NODE_EXTRA_CA_CERTS: TEST_AUTHORITY,
  };
  return { ...place, env, proxy };
}

describe('HTTPS_PROXY', () => {
  it('connects to the Forms API, and only the API sees the key', async () => {
    const { env, proxy, rows, sandbox } = await openBehind();
    const { code, text } = await run(['sync', '--full'], env);
    expect([code, text]).toEqual([0, expect.stringContaining('copies are complete')]);
    expect(rows('SELECT * FROM customer_feedback').length).toBeGreaterThan(0);
    expect(new Set(proxy.requests)).toEqual(new Set(['CONNECT forms.test:443 HTTP/1.1']));
    expect(proxy.seen()).not.toContain(sandbox.apiKey);
    expect(proxy.seen()).not.toMatch(/^(GET|POST|PATCH)|authorization: bearer/im);
    expect(text).not.toContain(PASSWORD);
  });

  it('may be written in lower case, and is not used for the hosts of NO_PROXY', async () => {
    const { env, proxy } = await openBehind();
    const { HTTPS_PROXY: https_proxy, ...others } = env;
    expect((await run(['forms'], { ...others, https_proxy })).code).toBe(0);
    expect(proxy.requests.splice(0)).not.toEqual([]);
    const { code, text } = await run(['forms'], { ...env, no_proxy: 'localhost, .test' });
    expect(code).toBe(1);
    expect(text).toMatch(/forms\.test .*\((?:ENOTFOUND|EAI_AGAIN)\)/);
    expect(proxy.requests).toEqual([]);
  });

  it('connects to Google for tokens and sheets, and check names the services behind it', async () => {
    const sheets = closing(await newSpreadsheet());
    const token = { access_token: EMULATOR_TOKEN, expires_in: 3_600, token_type: 'Bearer' };
    const tokens = closing(await OddServer.start((_, response) => sendJson(response, token)));
    const { env, proxy } = await openBehind({
      'sheets.googleapis.com': Number(new URL(sheets.url).port),
      'oauth2.googleapis.com': tokens.port,
    });
    const key = serviceAccountKey();
    const { code, text } = await run(['check'], {
      ...env,
      TARGET_URL: `https://docs.google.com/spreadsheets/d/${sheets.id}/edit`,
      GOOGLE_CREDENTIALS_JSON: JSON.stringify(key),
      ALERT_WEBHOOK_URL: 'http://127.0.0.1:9/hook',
    });
    expect(text).toContain('It can be written to');
    expect(code).toBe(0);
    expect(new Set(proxy.requests)).toEqual(
      new Set(
        ['forms.test', 'oauth2.googleapis.com', 'sheets.googleapis.com'].map(
          (host) => `CONNECT ${host}:443 HTTP/1.1`,
        ),
      ),
    );
    expect(proxy.seen()).not.toContain(EMULATOR_TOKEN);
    expect(text).not.toContain(PASSWORD);
  });
});

/** A key in the format of Google's console. */
function serviceAccountKey(): Record<string, string> {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { type: 'service_account', private_key: privateKey, client_email: EMULATOR_EMAIL };
}
