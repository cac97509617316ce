import { type FormsApiOptions, FormsHttp } from '../../src/forms/http.ts';
import { Source } from '../../src/forms/source.ts';
import { TestClock } from '../support/test-clock.ts';

/** The key that the tests look for in everything that leaves the program. */
export const KEY = 'fm_s3cret-Key_0123456789';

/** Connections to `baseUrl` that never wait; `clock` records the waits. */
export const makeHttp = (baseUrl: string, options: Partial<FormsApiOptions> = {}): FormsHttp =>
  new FormsHttp({
    baseUrl,
    apiKey: KEY,
    auth: 'bearer',
    concurrency: 4,
    clock: new TestClock(),
    random: () => 0,
    ...options,
  });

/** A source over them. */
export const makeSource = (
  baseUrl: string,
  options: Partial<FormsApiOptions> = {},
  signal = new AbortController().signal,
): Source => new Source(makeHttp(baseUrl, options), signal);

/** The error that `promise` rejects with; the test fails if it does not reject. */
export async function errorOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome;
  throw new Error(`expected a rejection with an Error`);
}
