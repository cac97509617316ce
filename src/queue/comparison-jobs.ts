import type { PassKind } from '../mirror/types.ts';
import { type FlowContext, addPasses } from './flows.ts';
import type { ComparisonUnderWay, DueComparison, PlannedForm } from './handlers.ts';
import { passData } from './jobs.ts';

/** The full passes and comparisons that run, wait, or wait to be tried again. */
export async function comparisonsUnderWay({ queues }: FlowContext): Promise<ComparisonUnderWay[]> {
  const found: ComparisonUnderWay[] = [];
  for (const target of queues.targets) {
    const queue = queues.passes('full', target);
    const jobs = await queue?.getJobs(['delayed', 'waiting', 'prioritized', 'active']);
    for (const job of jobs ?? []) {
      // It may have ended while it was asked for.
      const { data } = passData.safeParse(job?.data);
      if (data === undefined) continue;
      const { formId, windows } = data;
      found.push({ formId, target, sinceMs: job.timestamp, ...(windows && { windows }) });
    }
  }
  return found;
}

/** Adds what is due: full passes of whole forms, and comparisons of windows. Returns how many jobs were added. */
export async function addComparisons(
  context: FlowContext,
  due: readonly DueComparison[],
): Promise<number> {
  const whole = due.filter(({ windows }) => windows === undefined);
  const windows = due.filter((each) => each.windows !== undefined);
  return (await add(context, whole, 'full')) + (await add(context, windows, 'compare'));
}

async function add(
  context: FlowContext,
  due: readonly DueComparison[],
  kind: PassKind,
): Promise<number> {
  if (due.length === 0) return 0;
  const forms = [...Map.groupBy(due, ({ formId }) => formId)].map(([formId, all]): PlannedForm => {
    const passes = all.map(({ target, windows }) => ({ target, compareCounts: false, windows }));
    return { formId, targets: all.map(({ target }) => target), found: { passes, mark: false } };
  });
  return addPasses(context, forms, kind);
}
