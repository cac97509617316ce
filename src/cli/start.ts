import { once } from 'node:events';
import type { App } from '../app.ts';
import { SettingsError, toMirrorError } from '../base/errors.ts';
import { fetchWithProxy } from '../base/proxy.ts';
import { Watch } from '../health/collect.ts';
import { openNotifier } from '../notify/notifier.ts';
import { formsIn, LISTED, reading } from '../sync/target.ts';
import type { FormDetails } from '../web/form-page.ts';
import { startStatus } from '../web/pages.ts';
import { carryOut } from './actions.ts';
import { healthSources } from './health-sources.ts';
import type { CommandCall, ExitCode, Host } from './host.ts';
import { openApp } from './open-app.ts';
import { openService } from './service.ts';

/** `start`: everything in one process. */
export async function start({ host }: CommandCall): Promise<ExitCode> {
  const { signal } = host.stop;
  await using app = await openApp(host, {
    source: true,
    fields: true,
    serves: 'PORT',
    logLevel: 'info',
  });
  await checkBeforeStart(host, app);
  if (signal.aborted) return 0;
  await serve(host, app, (url) => {
    for (const { name, address } of app.config.targets)
      app.logger.info({ target: name, address: address.shown }, 'The copy is kept here.');
    app.logger.info({ url }, 'The status page is open.');
  });
  return 0;
}

/** Does the scheduled work and shows the status page until the process is asked to stop. `onOpen`: receives the page's address. */
export async function serve(host: Host, app: App, onOpen: (url: string) => void): Promise<void> {
  const { signal } = host.stop;
  const { clock, logger, config, dataDir } = app;
  await using opened = new AsyncDisposableStack();
  const service = opened.use(await openService(host, app, 'start'));
  const { queue, metrics } = service;
  const notifier = await openNotifier({
    ...config.notify,
    ...(config.proxy && { fetch: fetchWithProxy(config.proxy) }),
    dataDir,
    clock,
    logger,
  });
  opened.defer(() => notifier.stop());
  const watch = new Watch(healthSources(app, host, service));
  opened.defer(() => watch.stop());
  const server = await startStatus({
    place: config,
    adminPassword: config.adminPassword,
    clock,
    logger,
    reports: watch,
    queue: () => queue.status(),
    details: (target, formId) => readDetails(app, watch, target, formId),
    act: (order) => carryOut(app, queue, order),
    board: (path) => queue.board(path),
    metrics,
    deliveryProblem: () => notifier.deliveryProblem,
  });
  opened.defer(() => server.stop());
  watch.start((report) => void notifier.look(report));
  onOpen(server.url);
  if (!signal.aborted) await once(signal, 'abort');
}

async function readDetails(
  app: App,
  watch: Watch,
  name: string,
  formId: string,
): Promise<FormDetails> {
  const target = await app.target(name);
  const entries = await reading(target, formId, (form) => form.entries([...LISTED, 'refused']));
  return { runs: watch.runs(name, formId), entries: entries ?? [] };
}

/**
 * Throws for a mistake that a person must correct before anything runs. If the source is down, waits for it. A first start reports
 * at once which names in the settings match nothing, and ends. A later start continues with its forms, because a restart must not
 * end what ran before (L12); the page shows the mistake.
 */
async function checkBeforeStart(host: Host, app: App): Promise<void> {
  const { signal } = host.stop;
  try {
    const { places, unmatched } = await app.plan(signal, { waitForTargets: true });
    if (unmatched.length > 0 && (places.length === 0 || !(await holdsAnything(app))))
      throw new SettingsError(unmatched);
    const forms = new Set(places.map(({ form }) => form.id));
    app.logger.info({ forms: forms.size }, 'The source answers; the mirror starts.');
  } catch (error) {
    const failure = toMirrorError(error);
    if (signal.aborted) return;
    if (!failure.retryable) throw failure;
    app.logger.warn({ err: failure }, 'The source does not answer yet; the mirror starts anyway.');
  }
}

async function holdsAnything(app: App): Promise<boolean> {
  for (const name of app.targetNames)
    if ((await formsIn(await app.target(name))).length > 0) return true;
  return false;
}
