import { readFile } from 'node:fs/promises';
import {
  type AnyAuthClient,
  GoogleAuth,
  JWT,
  OAuth2Client,
  type OAuth2ClientOptions,
  UserRefreshClient,
} from 'google-auth-library';
import { errorCode, MirrorError } from '../../base/errors.ts';
import { fetchWithProxy, type ProxySettings } from '../../base/proxy.ts';
import { NO_CREDENTIALS } from './call-failure.ts';

/** Google's client takes them for every kind of account. */
type ClientOptions = Pick<OAuth2ClientOptions, 'transporterOptions'>;

/** The same, and the right that is asked for. */
type ScopedOptions = ClientOptions & { readonly scope: string };

/** Where the credentials are, as the settings say it. */
export interface CredentialsSource {
  /** GOOGLE_APPLICATION_CREDENTIALS: a file. */
  readonly credentialsFile?: string | undefined;
  /** GOOGLE_CREDENTIALS_JSON: the content of such a file, plain or in base64. */
  readonly credentialsJson?: string | undefined;
  /** SHEETS_EMULATOR_URL: a stand-in, which knows one account; no credentials are used. */
  readonly emulatorUrl?: string | undefined;
  /** The proxy of this machine's network. */
  readonly proxy?: ProxySettings | undefined;
}

/** An account to act for. */
export interface GoogleAccount {
  readonly auth: AnyAuthClient | OAuth2Client;
  /** Its e-mail address: what a spreadsheet has to be shared with. Undefined for a person's own sign-in. */
  readonly email: string | undefined;
}

/** The account that the stand-in knows us by. */
export const EMULATOR_EMAIL = 'mirror@forms-mirror.iam.gserviceaccount.com';
/** The token that the stand-in takes for it. */
export const EMULATOR_TOKEN = 'forms-mirror-emulator';

/**
 * Finds the account, asking Google only for the right `scope`: the stand-in's, the key file, the key in a variable, else Google's
 * application default credentials.
 * Throws SETTINGS or TARGET_DENIED with the remedy; no key ever appears in a message (L15).
 */
export async function openAccount(
  source: CredentialsSource,
  scope: string,
): Promise<GoogleAccount> {
  const client = optionsOf(source);
  if (source.emulatorUrl !== undefined) return emulatorAccount(client);
  return givenAccount(source, { ...client, scope });
}

/**
 * How Google's client sends. Left to itself, it would take proxies from the environment, also for loopback hosts, and not from
 * a `.env` file.
 */
function optionsOf({ proxy }: CredentialsSource): ClientOptions {
  if (proxy === undefined) return {};
  return { transporterOptions: { fetchImplementation: fetchWithProxy(proxy) } };
}

async function givenAccount(
  source: CredentialsSource,
  client: ScopedOptions,
): Promise<GoogleAccount> {
  if (source.credentialsFile !== undefined) {
    const json = await readKeyFile(source.credentialsFile);
    return accountOf(json, 'GOOGLE_APPLICATION_CREDENTIALS', client, source.credentialsFile);
  }
  if (source.credentialsJson !== undefined) {
    return accountOf(plainJson(source.credentialsJson), 'GOOGLE_CREDENTIALS_JSON', client);
  }
  // The machine's own account.
  const { scope, ...clientOptions } = client;
  return federatedAccount(new GoogleAuth({ scopes: [scope], clientOptions }));
}

function emulatorAccount(client: ClientOptions): GoogleAccount {
  const auth = new OAuth2Client(client);
  auth.setCredentials({ access_token: EMULATOR_TOKEN, expiry_date: 8_640_000_000_000_000 });
  return { auth, email: EMULATOR_EMAIL };
}

async function readKeyFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = errorCode(error) ?? 'error';
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new MirrorError('SETTINGS', `GOOGLE_APPLICATION_CREDENTIALS names ${path}, but ${why}.`);
  }
}

const plainJson = (text: string): string =>
  text.trim().startsWith('{') ? text : Buffer.from(text, 'base64').toString('utf8');

async function accountOf(
  json: string,
  variable: string,
  { scope, ...client }: ScopedOptions,
  file?: string,
): Promise<GoogleAccount> {
  const key = parseKey(json, variable);
  const text = (name: string): string | undefined => {
    const value = key[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [email, privateKey] = [text('client_email'), text('private_key')];
  if (email !== undefined && privateKey !== undefined) {
    // Environment files often carry the line ends of the PEM text as backslash and n.
    const pem = privateKey.replaceAll('\\n', '\n');
    const auth = new JWT({ ...client, email, key: pem, scopes: [scope] });
    return { auth, email };
  }
  const type = text('type');
  if (type === 'authorized_user') {
    const auth = new UserRefreshClient({
      ...client,
      clientId: text('client_id') ?? '',
      clientSecret: text('client_secret') ?? '',
      refreshToken: text('refresh_token') ?? '',
    });
    return { auth, email: undefined };
  }
  if (
    file !== undefined &&
    (type === 'external_account' || type === 'impersonated_service_account')
  ) {
    const options = { keyFilename: file, scopes: [scope], clientOptions: client };
    return federatedAccount(new GoogleAuth(options));
  }
  throw new MirrorError(
    'SETTINGS',
    `${variable} holds no service account key. In the Cloud console open IAM › Service accounts › Keys, create a key as JSON, and use that file unchanged.`,
  );
}

function parseKey(json: string, variable: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The parser's message would quote the key.
  }
  throw new MirrorError(
    'SETTINGS',
    `${variable} holds no JSON. Use the file that Google gave you when the key was created, unchanged.`,
  );
}

async function federatedAccount(google: GoogleAuth): Promise<GoogleAccount> {
  try {
    const auth = await google.getClient();
    const email = await google.getCredentials().then(
      (credentials) => credentials.client_email,
      () => undefined,
    );
    return { auth, email };
  } catch {
    // Its errors may quote the file.
    throw new MirrorError('TARGET_DENIED', NO_CREDENTIALS.join(' '));
  }
}
