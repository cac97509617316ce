import type { ErrorCode } from '../../src/base/errors.ts';
import type { PassRecord } from '../../src/mirror/types.ts';
import type { TargetReading, ViewFacts } from '../../src/status/known-pairs.ts';
import { type MirrorView, type PairView, buildView } from '../../src/status/mirror-view.ts';
import { pairKey } from '../../src/status/pass-book.ts';
import {
  NO_PASSES,
  type NotedPass,
  notedFromRecord,
  remember,
} from '../../src/status/pass-memory.ts';
import { NOW, QUEUE, formOverview, passRecord } from './fake-source.ts';

export const FORM_A = { id: 'frm_a', slug: 'a', name: 'Form A' };
export const FORM_B = { id: 'frm_b', slug: 'b', name: 'Form B' };

/** A pass that failed with `code`. */
export function failedPass(agoMs: number, code: ErrorCode, error: string = code): NotedPass {
  return { ...passRecord(agoMs, { outcome: 'failed', error }), code };
}

/** A pass with the code that belongs to it. */
export const noted = (record: PassRecord | NotedPass): NotedPass =>
  'code' in record ? record : notedFromRecord(record);

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
    listeningSinceMs: 0,
    ...changes,
  };
}

/** Passes by `<target> <form>`, in the order in which they ended. */
export type Passes = Readonly<Record<string, readonly (PassRecord | NotedPass)[]>>;

/** A view of a mirror with one target and two forms, changed as a test wants it. */
export function viewOf(passes: Passes = {}, changes: Partial<ViewFacts> = {}): MirrorView {
  const usual = [passRecord(3_600_000, { kind: 'full' }), passRecord(20_000)];
  const memories = new Map(
    Object.entries(passes).map(([name, list]) => {
      const [target = '', form = ''] = name.split(' ');
      return [pairKey(target, form), list.map(noted).reduce(remember, NO_PASSES)];
    }),
  );
  return buildView({
    nowMs: NOW,
    targets: [reading()],
    queue: QUEUE,
    queueFailures: 0,
    plan: { at: null, forms: [], problem: null, notices: [] },
    nextDueAt: (afterMs) => afterMs + 60_000,
    knownSinceMs: () => 0,
    memory: (target, form) =>
      memories.get(pairKey(target, form)) ?? usual.map(noted).reduce(remember, NO_PASSES),
    running: () => null,
    ...changes,
  });
}

/** How one form stands. */
export function pairOf(view: MirrorView, form = FORM_A, target = 'db'): PairView {
  const pair = view.pairs.find((one) => one.pair.form.id === form.id && one.pair.target === target);
  if (pair === undefined) throw new Error(`no ${form.id} in ${target}`);
  return pair;
}
