import { ApiError } from './api-error.ts';

/** A user or service account that calls the API. */
export interface Account {
  readonly email: string;
}

/** The tokens that the emulator accepts. */
export class Accounts {
  readonly #tokens = new Map<string, Account>();

  /** A bearer token for an account. Tokens are `token-1`, `token-2`, … unless `token` is given. */
  issue(account: Account, token = `token-${this.#tokens.size + 1}`): string {
    this.#tokens.set(token, account);
    return token;
  }

  /** The account of an Authorization header. Throws Google's 401 for an unknown one, or without one. */
  authenticate(header = ''): Account {
    const account = this.#tokens.get(/^Bearer\s+(\S+)$/i.exec(header)?.[1] ?? '');
    if (account !== undefined) return account;
    throw new ApiError(
      'UNAUTHENTICATED',
      'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.',
    );
  }
}
