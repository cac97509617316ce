import { readFile } from 'node:fs/promises';
import {
  type AnyAuthClient,
  type CredentialBody,
  GoogleAuth,
  type GoogleAuthOptions,
  JWT,
  type JWTInput,
  OAuth2Client,
  type OAuth2ClientOptions,
} from 'google-auth-library';
import { errorCode, MirrorError } from '../../base/errors.ts';
import { fetchWithProxy, type ProxySettings } from '../../base/proxy.ts';
import { NO_CREDENTIALS } from './call-failure.ts';

/** Google's client accepts these options for every kind of account. */
type ClientOptions = Pick<OAuth2ClientOptions, 'transporterOptions'>;

/** Where the credentials are, according to the settings. */
export interface CredentialsSource {
  /** GOOGLE_APPLICATION_CREDENTIALS: a file. */
  readonly credentialsFile?: string | undefined;
  /** GOOGLE_CREDENTIALS_JSON: the content of such a file, plain or in base64. */
  readonly credentialsJson?: string | undefined;
  /** SHEETS_EMULATOR_URL: a stand-in, which has one account; no credentials are used. */
  readonly emulatorUrl?: string | undefined;
  /** The proxy of this machine's network. */
  readonly proxy?: ProxySettings | undefined;
}

/** An account to act for. */
export interface GoogleAccount {
  readonly auth: AnyAuthClient | OAuth2Client;
  /** Its e-mail address, with which a spreadsheet must be shared. Undefined for a person's own sign-in. */
  readonly email: string | undefined;
}

/** Our account at the stand-in. */
export const EMULATOR_EMAIL = 'mirror@forms-mirror.iam.gserviceaccount.com';
/** The token that the stand-in accepts for it. */
export const EMULATOR_TOKEN = 'forms-mirror-emulator';

/**
 * Finds the account, and requests only the right `scope` from Google. In this order: the stand-in's account, the key in a variable,
 * the key file, Google's application default credentials. Throws SETTINGS or TARGET_DENIED with the remedy. No message contains a
 * key (L15).
 */
export async function openAccount(
  { credentialsFile: file, credentialsJson: json, emulatorUrl, proxy }: CredentialsSource,
  scope: string,
): Promise<GoogleAccount> {
  // By itself, Google's client would take proxies from the environment, even for loopback hosts, and not from a `.env` file.
  const clientOptions: ClientOptions =
    proxy === undefined
      ? {}
      : { transporterOptions: { fetchImplementation: fetchWithProxy(proxy) } };
  if (emulatorUrl !== undefined) {
    const auth = new OAuth2Client(clientOptions);
    auth.setCredentials({ access_token: EMULATOR_TOKEN, expiry_date: 8_640_000_000_000_000 });
    return { auth, email: EMULATOR_EMAIL };
  }
  const options = { scopes: [scope], clientOptions };
  // Only this program reads the variable; the file may be set for all programs of the machine.
  if (json !== undefined) return givenAccount('GOOGLE_CREDENTIALS_JSON', plainJson(json), options);
  if (file !== undefined)
    return givenAccount('GOOGLE_APPLICATION_CREDENTIALS', await readKeyFile(file), options);
  try {
    // The machine's own account.
    return await accountOf(options);
  } catch {
    // Its errors may quote the file.
    throw new MirrorError('TARGET_DENIED', NO_CREDENTIALS.join(' '));
  }
}

async function accountOf(options: GoogleAuthOptions): Promise<GoogleAccount> {
  const google = new GoogleAuth(options);
  const auth = await google.getClient();
  const { client_email: email } = await google.getCredentials().catch((): CredentialBody => ({}));
  return { auth, email };
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

/** An account from the text of a key. Errors of the account and of the parser would quote the key. */
async function givenAccount(
  variable: string,
  json: string,
  { scopes, clientOptions }: { readonly scopes: string[]; readonly clientOptions: ClientOptions },
): Promise<GoogleAccount> {
  let key: JWTInput;
  try {
    key = JSON.parse(json) as JWTInput;
  } catch {
    throw new MirrorError(
      'SETTINGS',
      `${variable} holds no JSON. Use the file that Google gave you when the key was created, unchanged.`,
    );
  }
  try {
    const { client_email: email, private_key: pem } = key;
    if (!email || !pem) return await accountOf({ scopes, clientOptions, credentials: key });
    // Environment files often contain the line ends of the PEM text as backslash and n.
    const auth = new JWT({ ...clientOptions, scopes, email, key: pem.replaceAll('\\n', '\n') });
    return { auth, email };
  } catch {
    throw new MirrorError(
      'SETTINGS',
      `${variable} holds no service account key. In the Cloud console open IAM › Service accounts › Keys, create a key as JSON, and use that file unchanged.`,
    );
  }
}
