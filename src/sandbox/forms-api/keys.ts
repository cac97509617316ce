import { Random } from './random.ts';
import type { FormsStore } from './store.ts';

/** API keys as the dashboard makes and revokes them; each opens one workspace. */
export class KeyRing {
  readonly #stores = new Map<string, FormsStore>();
  readonly #random: Random;

  constructor(seed: number | string) {
    this.#random = new Random('keys', seed);
  }

  /** Makes a key for a workspace, or takes the given one. */
  issue(store: FormsStore, key = `sandbox_${this.#random.word(32)}`): string {
    this.#stores.set(key, store);
    return key;
  }

  /** The key stops working. */
  revoke(key: string): void {
    this.#stores.delete(key);
  }

  /**
   * The workspace that a request's headers open; undefined when the key is missing, wrong or revoked.
   * `Authorization` decides when both ways are used.
   */
  open(headers: {
    authorization?: string | undefined;
    'x-api-key'?: string | string[] | undefined;
  }): FormsStore | undefined {
    const { authorization } = headers;
    if (authorization === undefined) return this.#stores.get(String(headers['x-api-key'] ?? ''));
    const bearer = /^Bearer +(\S+) *$/i.exec(authorization);
    return this.#stores.get(bearer?.[1] ?? '');
  }
}
