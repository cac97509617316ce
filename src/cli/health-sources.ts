import type { App } from '../app.ts';
import { type HealthSources, Watch } from '../health/collect.ts';
import type { Report } from '../health/report.ts';
import { nextRunMs } from '../queue/schedule.ts';
import { readingLastsMs } from '../targets/target-kinds.ts';
import type { Host } from './host.ts';
import type { Service } from './service.ts';

/** The sources of the report. `running`: null for a command, which does not look at the queue. */
export function healthSources(
  app: App,
  { version }: Pick<Host, 'version'>,
  running: Pick<Service, 'queue'> | null,
  targets = app.targetNames,
): HealthSources {
  const { config, clock, logger, dataDir } = app;
  return {
    clock,
    logger,
    version,
    targets: targets.map((name) => {
      const { kind, shown: address } = app.settingsOf(name).address;
      return { name, kind, address, restMs: readingLastsMs(kind) };
    }),
    readTarget: (name) => app.content(name),
    queue: running && (() => running.queue.status()),
    plan: () => app.planner.planned,
    files: () => dataDir.facts(),
    isChosen: (target, form) => app.planner.isChosen(target, form),
    nextPollMs: (afterMs) => nextRunMs(config.schedule, afterMs),
  };
}

/** The current report, as a command sees it; by default for all targets. */
export function reportNow(
  app: App,
  host: Pick<Host, 'version' | 'clock'>,
  targets?: readonly string[],
): Promise<Report> {
  return new Watch(healthSources(app, host, null, targets)).once();
}
