import type { Actor } from '../../src/web/action-order.ts';
import { type AlertSettings, Alerts } from '../../src/alerts/alerts.ts';
import { Events } from '../../src/base/events.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { type StatusOptions, type StatusServer, startStatus } from '../../src/web/server.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import { FakeSource, formOverview } from '../health/fake-source.ts';
import { ManualClock, settle } from '../health/manual-clock.ts';
import { FORM_A, FORM_B } from '../health/health-of.ts';

/** A status page under test. */
export interface TestPage extends AsyncDisposable {
  readonly server: StatusServer;
  readonly source: FakeSource;
  readonly events: Events<SyncEvents>;
  readonly clock: ManualClock;
  /** A GET; `headers` as given. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  text(path: string): Promise<string>;
  /** Everything is read anew. */
  reread(): Promise<void>;
  /** Lets time pass until `work` is done. */
  whileTimePasses<T>(work: Promise<T>): Promise<T>;
}

/** A source with one target that holds two forms which are well. */
export function calmSource(): FakeSource {
  const source = new FakeSource();
  source.hold('db', [formOverview(FORM_A), formOverview(FORM_B)]);
  return source;
}

/** Has the pages offer actions, and carries none out. */
export const IDLE_ACTOR: Actor = { act: async () => [] };

/** Starts it on a free port, with time standing still. */
export async function startPage(
  source: FakeSource = calmSource(),
  changes: Partial<Omit<StatusOptions, 'alerts'>> & { alerts?: AlertSettings } = {},
): Promise<TestPage> {
  const [events, clock] = [new Events<SyncEvents>(), new ManualClock()];
  const { alerts: to, ...others } = changes;
  const logger = silentLogger;
  const alerts = to && (await Alerts.open({ clock, logger, ...others, ...to }));
  const server = await startStatus({
    host: '127.0.0.1',
    port: 0,
    adminPassword: undefined,
    source,
    events,
    logger,
    version: '1.2.3',
    clock,
    ...others,
    alerts,
  });
  await settle();
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(server.url + path, { headers, redirect: 'manual' });
  return {
    server,
    source,
    events,
    clock,
    get,
    text: async (path) => (await get(path)).text(),
    // Past the poll and the longest rest.
    reread: () => clock.advance(60_000),
    async whileTimePasses(work) {
      const state = { done: false };
      const mark = (): void => void (state.done = true);
      work.then(mark, mark);
      while (!state.done) await clock.advance(100);
      return work;
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
