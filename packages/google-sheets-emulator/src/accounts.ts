import { ApiError, errorInfo } from './api-error.ts';

/** The scope that reading and writing spreadsheets takes. */
export const SPREADSHEETS_SCOPE = 'https://www.googleapis.com/auth/spreadsheets';

const WRITE_SCOPES = new Set([
  SPREADSHEETS_SCOPE,
  'https://www.googleapis.com/auth/drive',
  'https://www.googleapis.com/auth/drive.file',
]);
const READ_SCOPES = new Set([
  ...WRITE_SCOPES,
  'https://www.googleapis.com/auth/spreadsheets.readonly',
  'https://www.googleapis.com/auth/drive.readonly',
]);

/** A user or service account that calls the API. */
export interface Account {
  readonly email: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch; undefined for a token that never ends. */
  readonly expiresAtMs: number | undefined;
}

/** The account of a token to issue; all but the address have defaults. */
export interface AccountOptions {
  readonly email: string;
  readonly scopes?: readonly string[];
  readonly expiresAtMs?: number;
}

const ISSUED = /^Bearer\s+(\S+)$/i;

const toAccount = (options: AccountOptions): Account => ({
  email: options.email,
  scopes: options.scopes ?? [SPREADSHEETS_SCOPE],
  expiresAtMs: options.expiresAtMs,
});

/** The tokens that the emulator knows. */
export class Accounts {
  readonly #tokens = new Map<string, Account>();
  #issued = 0;

  /** A bearer token for an account. Tokens are `token-1`, `token-2`, … unless `token` is given. */
  issue(options: AccountOptions, token = `token-${++this.#issued}`): string {
    this.#tokens.set(token, toAccount(options));
    return token;
  }

  /** The account behind an Authorization header. Throws Google's 401 or 403 for a missing, unknown or expired one. */
  authenticate(header: string | undefined, nowMs: number): Account {
    if (header === undefined || header === '') {
      throw new ApiError('PERMISSION_DENIED', 'The request is missing a valid API key.');
    }
    const token = ISSUED.exec(header)?.[1] ?? '';
    const account = this.#tokens.get(token);
    if (account === undefined) throw unauthenticated('ACCESS_TOKEN_TYPE_UNSUPPORTED');
    if (account.expiresAtMs !== undefined && account.expiresAtMs <= nowMs) {
      throw unauthenticated('ACCESS_TOKEN_EXPIRED');
    }
    return account;
  }
}

function unauthenticated(reason: string): ApiError {
  return new ApiError(
    'UNAUTHENTICATED',
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.',
    [errorInfo(reason, { service: 'sheets.googleapis.com' })],
  );
}

/** Throws Google's 403 when none of the account's scopes allows the call. */
export function checkScope(account: Account, writes: boolean, method: string): void {
  const enough = writes ? WRITE_SCOPES : READ_SCOPES;
  if (account.scopes.some((scope) => enough.has(scope))) return;
  throw new ApiError('PERMISSION_DENIED', 'Request had insufficient authentication scopes.', [
    errorInfo('ACCESS_TOKEN_SCOPE_INSUFFICIENT', {
      method: `google.apps.sheets.v4.SpreadsheetsService.${method}`,
      service: 'sheets.googleapis.com',
    }),
  ]);
}
