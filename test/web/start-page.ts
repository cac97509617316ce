import type { Clock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { Report } from '../../src/health/report.ts';
import { Metrics } from '../../src/web/metrics.ts';
import type { Listening, ListenPlace } from '../../src/web/server.ts';
import { type StatusOptions, startStatus } from '../../src/web/pages.ts';
import { NO_DETAILS, NOW, reportOf } from './fixtures.ts';

/** A clock on which every wait is over at once: a service that answers is faster, and one that hangs is given up. */
export class QuickClock implements Clock {
  ms = NOW;

  now(): number {
    return this.ms;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await new Promise((done) => setImmediate(done));
    if (signal?.aborted !== true) this.ms += ms;
  }
}

/** A status page under test. */
export interface TestPage extends AsyncDisposable {
  readonly server: Listening;
  readonly clock: QuickClock;
  readonly metrics: Metrics;
  /** The report that it shows; can be replaced. */
  report: Report;
  /** The state of the queue for the probes. */
  queue: Awaited<ReturnType<StatusOptions['queue']>>;
  /** How often it was asked to read everything again. */
  expired: number;
  hasRead: boolean;
  /** A GET with these `headers`. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  text(path: string): Promise<string>;
}

/** Any free port of this machine. */
export const LOCAL: ListenPlace = { host: '127.0.0.1', port: 0 };

/** Starts it on a free port, with a report without problems. */
export async function startPage(
  report: Report = reportOf(),
  changes: Partial<StatusOptions> = {},
): Promise<TestPage> {
  const clock = new QuickClock();
  const metrics = new Metrics({ version: '1.2.3', role: 'start' });
  const page = {
    clock,
    metrics,
    report,
    queue: { isReachable: true, problem: null } as TestPage['queue'],
    expired: 0,
    hasRead: true,
    get: (path: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(server.url + path, { headers, redirect: 'manual' }),
    text: async (path: string): Promise<string> => (await page.get(path)).text(),
    [Symbol.asyncDispose]: () => server.stop(),
  };
  const server = await startStatus({
    place: LOCAL,
    adminPassword: undefined,
    clock,
    logger: silentLogger,
    reports: {
      refresh: async () => page.report,
      current: () => page.report,
      get hasRead() {
        return page.hasRead;
      },
      expire: () => void page.expired++,
    },
    queue: async () => page.queue,
    details: async () => NO_DETAILS,
    metrics,
    deliveryProblem: () => null,
    act: async () => [],
    board: () => Promise.reject(new Error('no board')),
    ...changes,
  });
  return Object.assign(page, { server });
}
