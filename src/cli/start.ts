import { once } from 'node:events';
import { join } from 'node:path';
import { Alerts } from '../alerts/alerts.ts';
import type { App } from '../app.ts';
import type { Clock } from '../base/clock.ts';
import { Events } from '../base/events.ts';
import { toMirrorError } from '../base/errors.ts';
import type { ExitCode } from '../base/exit-codes.ts';
import { type HealthSource, type PlanState, readDetails } from '../health/facts.ts';
import type { QueueEventMap } from '../queue/events.ts';
import type { QueueRuntime } from '../queue/runtime.ts';
import { nextRunMs } from '../settings/sync-settings.ts';
import type { FormPlan } from '../sync/planner.ts';
import { requireFreePort } from '../web/listen.ts';
import { type StatusServer, startStatus, statusPlace } from '../web/server.ts';
import { createActor } from './actions.ts';
import type { CommandCall } from './command-spec.ts';
import type { Host } from './host.ts';
import { jobFeed } from './job-feed.ts';
import { channelsOf, openApp, openQueue } from './open-app.ts';
import { readWaitElsewhere, recordThisProcess } from './process-record.ts';
import { requirePicks, unmatchedError } from './selection.ts';

/** `start`: everything in one process. */
export async function run({ host }: CommandCall): Promise<ExitCode> {
  const { signal } = host.stop;
  await using app = await openApp(host, { source: true, statusPage: true, logLevel: 'info' });
  await checkBeforeStart(host, app);
  // Before a job is taken: a process that cannot show its page ends at once, with nothing in progress.
  await requireFreePort(statusPlace(app.config.status));
  if (signal.aborted) return 0;
  const events = new Events<QueueEventMap>();
  const queue = await openQueue(host, app, 'all', events);
  try {
    await using _record = await recordThisProcess(app, host.clock, 'start', queue);
    const page = await openPage(host, app, { queue, events });
    app.logger.info({ url: page.url }, 'The status page is open.');
    if (!signal.aborted) await once(signal, 'abort');
    await page.stop();
  } finally {
    await queue.stop();
  }
  return 0;
}

/** The queue of this process, and what it tells of its jobs. */
interface OpenQueue {
  readonly queue: QueueRuntime;
  readonly events: Events<QueueEventMap>;
}

async function openPage(host: Host, app: App, { queue, events }: OpenQueue): Promise<StatusServer> {
  const { status } = app.config;
  const source = healthSource(app, queue, host.clock);
  const alerts = await openAlerts(host, app);
  return startStatus({
    host: status.host,
    port: status.port,
    adminPassword: status.password,
    source,
    events: app.events,
    jobs: jobFeed(events),
    logger: app.logger,
    version: host.version,
    clock: host.clock,
    alerts,
    actor: createActor(app, queue, host.clock, alerts),
    board: { get: (path) => queue.board(path) },
  });
}

async function openAlerts({ clock }: Host, { config, logger }: App): Promise<Alerts | undefined> {
  const { telling, dataDir } = config;
  const { heartbeatUrl } = telling;
  const channels = channelsOf(config, clock);
  const isAsked = [channels.url, channels.email, heartbeatUrl].some((each) => each !== undefined);
  if (!isAsked) return undefined;
  const stateFile = join(dataDir, 'alerts.json');
  return Alerts.open({ ...channels, heartbeatUrl, stateFile, logger });
}

/** Throws what a person has to put right before anything runs; a source that is down for the moment is waited for. */
async function checkBeforeStart(host: Host, app: App): Promise<void> {
  try {
    await requirePicks(host, app);
    const forms = await planned(host, app);
    app.logger.info({ forms: forms.length }, 'The source answers; the mirror starts.');
  } catch (error) {
    const failure = toMirrorError(error);
    if (host.stop.signal.aborted) return;
    if (!failure.retryable) throw failure;
    app.logger.warn({ err: failure }, 'The source does not answer yet; the mirror starts anyway.');
  }
}

/**
 * The forms to mirror. A first start says at once which names in the settings match nothing, and ends; a later one goes on
 * with the forms that it has, as a restart must not end what ran before (L12), and the page shows the mistake.
 */
async function planned(host: Host, app: App): Promise<readonly FormPlan[]> {
  const { forms, unmatched } = await app.plan(host.stop.signal, { waitForTargets: true });
  if (unmatched.length === 0 || (forms.length > 0 && (await holdsAnything(app)))) return forms;
  throw unmatchedError(unmatched, await app.forms(host.stop.signal));
}

async function holdsAnything(app: App): Promise<boolean> {
  for (const { name } of app.config.targets) {
    const { forms } = await app.overview(name);
    if (forms.length > 0) return true;
  }
  return false;
}

/** What health is judged from: the targets themselves, the queue, and the plans of this process. */
function healthSource(app: App, queue: QueueRuntime, clock: Clock): HealthSource {
  const readerOf = async (name: string, formId: string) => (await app.target(name)).reader(formId);
  return {
    targets: app.config.targets.map(({ name }) => name),
    overview: async (name) => app.overview(name),
    async passes(name, formId, limit) {
      return (await (await readerOf(name, formId))?.passes(limit)) ?? [];
    },
    async rejections(name, formId, limit) {
      return (await (await readerOf(name, formId))?.rejections(limit)) ?? { total: 0, items: [] };
    },
    details: async (name, formId) => readDetails(await readerOf(name, formId)),
    queue: () => queue.status(),
    waitElsewhere: () => readWaitElsewhere(app, clock.now()),
    plan: () => planState(app),
    kept: () => app.failures.read(),
    dataDir: () => app.failures.problem(),
    isChosen: ({ form, target }) => app.isChosen(target, form),
    nextRunMs: (afterMs) => nextRunMs(app.config.schedule, afterMs),
    compareWithinMs: app.config.schedule.fullEveryMs,
  };
}

function planState({ planned: { plan, at, problem } }: App): PlanState {
  return {
    at,
    forms: plan?.forms ?? [],
    problem: problem && {
      code: problem.error.code,
      message: problem.error.message,
      at: problem.at,
    },
    unmatched: plan?.unmatched ?? [],
    notices: [],
  };
}
