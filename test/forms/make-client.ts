import { FormsClient, type FormsClientOptions } from '../../src/forms/client.ts';
import { TestClock } from '../support/test-clock.ts';

/** The key that the tests look for in everything that leaves the client. */
export const KEY = 'fm_s3cret-Key_0123456789';

/** A client for `baseUrl` that waits for nothing; waits are written down in `clock`. */
export function makeClient(
  baseUrl: string,
  options: Partial<FormsClientOptions> = {},
): FormsClient {
  return new FormsClient({
    baseUrl,
    apiKey: KEY,
    auth: 'bearer',
    concurrency: 4,
    clock: new TestClock(),
    random: () => 0,
    ...options,
  });
}

/** The error that `promise` rejects with; fails the test when it does not. */
export async function errorOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome;
  throw new Error(`expected a rejection with an Error`);
}
