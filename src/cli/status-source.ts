import { type App, noticesOf } from '../app.ts';
import type { QueueRuntime } from '../queue/runtime.ts';
import { nextDueMs } from '../settings/schedule-times.ts';
import type { PlanState, StatusSource } from '../status/source.ts';

/** What the status page is told: by the targets themselves, by the queue, and by the plans of this process. */
export function statusSource(app: App, queue: QueueRuntime): StatusSource {
  const readerOf = async (name: string, formId: string) => (await app.target(name)).reader(formId);
  return {
    targets: app.config.targets.map(({ name }) => name),
    async overview(name) {
      const target = await app.target(name);
      return { kind: target.kind, address: target.address, forms: await target.overview() };
    },
    async passes(name, formId, limit) {
      return (await (await readerOf(name, formId))?.passes(limit)) ?? [];
    },
    async rejections(name, formId, limit) {
      return (await (await readerOf(name, formId))?.rejections(limit)) ?? { total: 0, items: [] };
    },
    queue: () => queue.status(),
    plan: () => planState(app),
    nextDueAt: (afterMs) => nextDueMs(app.config.schedule, afterMs),
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
    notices: plan === null ? [] : noticesOf(plan),
  };
}
