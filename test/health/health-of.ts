import type { ProblemCode } from '../../src/base/catalogue.ts';
import type { PassRecord } from '../../src/mirror/types.ts';
import { type HealthFacts, type TargetReading, formKey } from '../../src/health/facts.ts';
import type { FormHealth } from '../../src/health/form-health.ts';
import { type MirrorHealth, assessMirror, queuedRunAt } from '../../src/health/mirror-health.ts';
import { comparedBy } from '../../src/health/next-comparison.ts';
import { NO_PASSES, addPass } from '../../src/health/pass-summary.ts';
import { NOW, QUEUE, formOverview, passRecord } from './fake-source.ts';

export const FORM_A = { id: 'frm_a', slug: 'a', name: 'Form A' };
export const FORM_B = { id: 'frm_b', slug: 'b', name: 'Form B' };

/** A pass that failed with `code`. */
export function failedPass(agoMs: number, code: ProblemCode, error: string = code): PassRecord {
  return { ...passRecord(agoMs, { outcome: 'failed', error }), code };
}

/** A target that was read just now and holds the two forms. */
export function reading(changes: Partial<TargetReading> = {}): TargetReading {
  return {
    name: 'db',
    overview: {
      kind: 'postgres',
      address: 'postgres://db',
      forms: [formOverview(FORM_A), formOverview(FORM_B)],
    },
    readAtMs: NOW,
    failure: null,
    failures: 0,
    expectedSinceMs: 0,
    ...changes,
  };
}

/** Passes by `<target> <form>`, in the order in which they ended. */
export type Passes = Readonly<Record<string, readonly PassRecord[]>>;

/** The health of a mirror with one target and two forms, changed as a test wants it. */
export function healthOf(passes: Passes = {}, changes: Partial<HealthFacts> = {}): MirrorHealth {
  const usual = [passRecord(3_600_000, { kind: 'full' }), passRecord(20_000)];
  const summaries = new Map(
    Object.entries(passes).map(([name, list]) => {
      const [target = '', form = ''] = name.split(' ');
      return [formKey(target, form), list.reduce(addPass, NO_PASSES)];
    }),
  );
  const queue = changes.queue === undefined ? QUEUE : changes.queue;
  return assessMirror({
    nowMs: NOW,
    targets: [reading()],
    queue,
    queueFailures: 0,
    queueFailingSinceMs: 0,
    plan: { at: null, forms: [], problem: null, unmatched: [], notices: [] },
    kept: [],
    dataDir: null,
    sourceWait: null,
    notRunning: null,
    isChosen: () => true,
    nextRunMs: (afterMs) => afterMs + 60_000,
    nextRunAt: () => queuedRunAt(queue),
    nextFullAt: ({ overview }) => comparedBy(overview, 6 * 3_600_000, NOW),
    knownSinceMs: () => 0,
    summary: (target, form) =>
      summaries.get(formKey(target, form)) ?? usual.reduce(addPass, NO_PASSES),
    running: () => null,
    ...changes,
  });
}

/** The health of one form. */
export function formOf(health: MirrorHealth, form = FORM_A, target = 'db'): FormHealth {
  const found = health.forms.find((one) => one.form.id === form.id && one.target === target);
  if (found === undefined) throw new Error(`no ${form.id} in ${target}`);
  return found;
}
