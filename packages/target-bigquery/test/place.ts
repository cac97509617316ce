import { type Clock, systemClock } from '../../../src/base/clock.ts';
import type { HistoryKind, Store } from '../../../src/mirror/port.ts';
import { BigQueryApi } from '../src/api.ts';
import { parseTargetUrl } from '../../../src/targets/target-kinds.ts';
import {
  type BigQueryEmulator,
  startBigQueryEmulator,
} from '../../bigquery-emulator/src/emulator.ts';

let started: Promise<BigQueryEmulator> | undefined;
let datasets = 0;

/** The emulator of this file's tests, because starting its analyzer takes long. */
export const lentEmulator = (): Promise<BigQueryEmulator> => (started ??= startBigQueryEmulator());

export const stopEmulator = async (): Promise<void> => {
  await (await started)?.close();
  started = undefined;
};

/** A separate place in it: the dataset, and the address of a target there. */
export async function newPlace(): Promise<{ dataset: string; url: string }> {
  const { url } = await lentEmulator();
  const dataset = `forms_${++datasets}`;
  return { dataset, url: `bigquery://forms-project/${dataset}?endpoint=${url.replace(/\/$/, '')}` };
}

/** A store there. Its waits are real: a lease is renewed after each, and a clock without waits would renew it all the time. */
export const storeAt = (
  url: string,
  clock: Clock,
  history: HistoryKind = 'status',
  onBilled?: (bytes: number) => void,
): Promise<Store> =>
  parseTargetUrl(url).open('default', {
    clock: { now: () => clock.now(), sleep: (ms, signal) => systemClock.sleep(ms, signal) },
    history,
    onBilled,
  });

/** A client for an analyst's queries there. */
export async function clientOf(dataset: string): Promise<BigQueryApi> {
  const { url } = await lentEmulator();
  return new BigQueryApi({
    project: 'forms-project',
    dataset,
    location: undefined,
    endpoint: url.replace(/\/$/, ''),
    maxBytes: 1e12,
    clock: systemClock,
    async send({ method, url: at, headers, body }) {
      const answer = await fetch(at, {
        method,
        headers: { ...headers, authorization: 'Bearer token' },
        ...(body !== undefined && { body }),
      });
      return { status: answer.status, text: await answer.text(), retryAfter: undefined };
    },
  });
}

/** The rows of a query there. */
export async function ask(dataset: string, sql: string): Promise<Record<string, unknown>[]> {
  const api = await clientOf(dataset);
  const found: Record<string, unknown>[] = [];
  for await (const { rows } of api.pages(sql, [])) found.push(...rows);
  return found;
}
