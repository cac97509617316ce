import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { BigQueryApi, type HttpAnswer, type HttpRequest } from '../src/api.ts';
import { Leases } from '../src/lease.ts';

/** A table whose labels two processes change; the response to the first PATCH is lost. */
class LabelTable {
  #labels: Record<string, string> = {};
  #version = 1;
  #isLost = false;

  readonly send = async ({ method, headers, body = '{}' }: HttpRequest): Promise<HttpAnswer> => {
    const answer = (status: number, content: unknown): HttpAnswer => {
      return { status, text: JSON.stringify(content), retryAfter: undefined };
    };
    const etag = `v${this.#version}`;
    if (method === 'GET') return answer(200, { etag, labels: this.#labels });
    const wanted = Object.entries(headers).find(([name]) => name.toLowerCase() === 'if-match');
    if (wanted?.[1] !== etag) return answer(412, { error: { code: 412, errors: [] } });
    const { labels } = JSON.parse(body) as { labels: Record<string, string | null> };
    const kept = Object.entries(labels).filter(
      (label): label is [string, string] => label[1] !== null,
    );
    this.#labels = Object.fromEntries(kept);
    this.#version++;
    if (this.#isLost) return answer(200, {});
    this.#isLost = true;
    throw new Error('socket hang up');
  };
}

const leasesOf = ({ send }: LabelTable): Leases => {
  // Without the waits of retries; the renewal of leases waits until it is stopped.
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    signal === undefined || ms < 5_000 ? Promise.resolve() : systemClock.sleep(ms, signal);
  const place = { project: 'p', dataset: 'd', location: 'EU', endpoint: 'http://127.0.0.1:1' };
  return new Leases(
    new BigQueryApi({ ...place, maxBytes: 1, send, clock: { ...systemClock, sleep } }),
  );
};

it('takes a lease although the response was lost, and nobody else has it until it is given back', async () => {
  const table = new LabelTable();
  const [one, other] = [leasesOf(table), leasesOf(table)];
  const give = await one.take('form');
  expect(give).not.toBeNull();
  expect(await other.take('form')).toBeNull();
  await give?.();
  const next = await other.take('form');
  expect(next).not.toBeNull();
  await next?.();
});
