import type { Clock } from '../../src/base/clock.ts';
import { parsePicks } from '../../src/mirror/picks.ts';
import type { Target } from '../../src/mirror/target.ts';
import type { SyncContext } from '../../src/sync/context.ts';
import { look } from '../../src/sync/look.ts';
import { Planner } from '../../src/sync/planner.ts';

/** What is stored of every form. */
export const STORING = { picks: parsePicks(['*']), hashKey: undefined };

/** A pass that a look asked for. */
export interface Visited {
  readonly formId: string;
  /** Which target. */
  readonly at: number;
  readonly compareCounts: boolean;
}

/** What a look found. */
export interface Looked {
  readonly visits: readonly Visited[];
  /** As in the report of a look: the next one can be quiet. */
  readonly knowsOthers: boolean;
}

/** A clock by which no deadline passes: what is waited for comes first. */
function withoutEnd(clock: Clock): Clock {
  const untilAborted = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve) => {
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  return { now: () => clock.now(), sleep: (_ms, signal) => untilAborted(signal) };
}

/** Plans and looks as a worker does that has just begun. `chosen`: the forms that each target mirrors. */
export async function lookedFor(
  context: SyncContext,
  targets: readonly Target[],
  chosen: readonly (readonly string[])[],
): Promise<Looked> {
  const { signal } = new AbortController();
  const variables = { forms: 'FORMS', fields: 'FIELDS', hashFields: 'HASH_FIELDS' };
  // A target without a form is not in the settings.
  const used = targets.flatMap((target, at) => {
    const forms = chosen[at] ?? [];
    return forms.length === 0 ? [] : [{ target, at, forms }];
  });
  const byName = (name: string): (typeof used)[number] =>
    used.find(({ target }) => target.name === name)!;
  const planner = new Planner({
    targets: used.map(({ target, forms }) => ({ ...STORING, name: target.name, forms, variables })),
    listForms: (call) => context.client.listForms({ signal: call }),
    searchAnswers: () => Promise.resolve(new Set()),
    openTarget: (name) => Promise.resolve(byName(name).target),
    clock: context.clock,
    logger: context.logger,
  });
  const { forms } = await planner.plan(signal, { waitForTargets: true });
  const request = {
    forms,
    targets: used.map(({ target }) => ({
      name: target.name,
      storing: STORING,
      open: () => Promise.resolve(target),
    })),
    marking: undefined,
    requireNames: () => Promise.resolve(),
  };
  const looked = await look({ ...context, clock: withoutEnd(context.clock) }, request, signal);
  const visits = looked.forms.flatMap(({ form, visits: of }) =>
    of.map(({ target, compareCounts }) => ({
      formId: form.id,
      at: byName(target).at,
      compareCounts,
    })),
  );
  return { visits, knowsOthers: looked.knowsOthers };
}
