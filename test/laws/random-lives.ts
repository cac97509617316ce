import * as fc from 'fast-check';
import { expect } from 'vitest';
import { REFUSAL_LASTS_MS } from '../../src/mirror/mark-rules.ts';
import { propertyRuns } from '../support/property.ts';
import {
  behaviours,
  comparisonSizes,
  crashes,
  FAULTS,
  someChanges,
  spacings,
  windowSizes,
} from './cases.ts';
import { CHANGES } from './changes.ts';
import type { LawPlace } from './law-places.ts';
import { settledBreaches } from './laws.ts';
import { PassWatch } from './pass-claims.ts';
import { MARK_FROM, TICK_MS, World } from './world.ts';

const step = fc.oneof(
  fc.record({
    do: fc.constant('pass' as const),
    form: fc.nat(1),
    target: fc.nat(1),
    kind: fc.constantFrom('full' as const, 'incremental' as const, 'compare' as const),
    // What happens before it.
    changes: fc.constantFrom(0, 1, 3, 8),
    // Of a comparison: a bit for each window of the form.
    which: fc.integer({ min: 1, max: 255 }),
    crash: crashes,
    fault: fc.option(fc.constantFrom(...FAULTS), { nil: undefined, freq: 2 }),
    after: fc.nat(5),
  }),
  // A tick; `targets` and `chosen`: a bit each for the targets that it concerns, and for the forms that they mirror.
  fc.record({
    do: fc.constant('look' as const),
    targets: fc.constantFrom(3, 3, 1, 2),
    chosen: fc.constantFrom(3, 3, 1, 2),
    changes: fc.constantFrom(0, 1, 3, 8),
    crash: crashes,
    fault: fc.option(fc.constantFrom(...FAULTS), { nil: undefined, freq: 2 }),
    after: fc.nat(5),
    form: fc.constant(0),
  }),
  fc.record({
    do: fc.constant('harm' as const),
    form: fc.nat(1),
    target: fc.nat(1),
    harm: fc.constantFrom('some' as const, 'all' as const, 'table' as const),
  }),
  fc.record({ do: fc.constant('mark' as const), form: fc.nat(1), crash: crashes }),
  fc.record({
    do: fc.constant('erase' as const),
    what: fc.constantFrom(
      'forget' as const,
      'forget' as const,
      'remember' as const,
      'purge' as const,
    ),
    form: fc.nat(1),
    which: fc.nat(200),
    crash: crashes,
  }),
  // Until a pass with a fault of its own clears it, or the end.
  fc.record({
    do: fc.constant('refuse' as const),
    status: fc.constantFrom(400, 403, 405, 409, 410, 422, 500, 503),
    after: fc.nat(12),
    times: fc.constantFrom(1, 3, 12, Number.POSITIVE_INFINITY),
  }),
  fc.record({ do: fc.constant('change' as const), change: fc.constantFrom(...CHANGES) }),
);

/** Lives of at least so many steps. */
const livesOf = (steps: number) =>
  fc.record({
    seed: fc.integer(),
    behaviour: behaviours,
    forms: fc.integer({ min: 1, max: 2 }),
    submissions: fc.integer({ min: 0, max: 90 }),
    elsewhere: fc.nat(1),
    spacingMs: spacings,
    windowSizes,
    comparisonSizes,
    changes: someChanges,
    busy: fc.constantFrom(0.05, 0.2, 0.5),
    steps: fc.array(step, { minLength: steps, maxLength: 10 }),
  });

type Case = ReturnType<typeof livesOf> extends fc.Arbitrary<infer T> ? T : never;
type Step = Case['steps'][number];

/**
 * Random lives, of which each has to keep the laws. `makePlace`: see {@link WorldOptions.makePlace}; `busyLives`: of
 * nine steps or more each, and the first draws no smaller than the later ones, so that few lives see much.
 */
export async function liveRandomly(
  runs: number,
  makePlace?: () => Promise<LawPlace>,
  { busyLives = false } = {},
): Promise<Totals> {
  const totals = {
    cases: 0,
    passes: 0,
    proven: 0,
    deleted: 0,
    looks: 0,
    lookPasses: 0,
    faults: 0,
    crashes: 0,
  };
  const run = fc.asyncProperty(busyLives ? fc.noBias(livesOf(9)) : livesOf(2), async (given) => {
    const world = await World.start({ ...given, makePlace });
    try {
      for (const each of given.steps) {
        await take(world, given, each, totals);
        world.breaches.push(...miscounts(world));
      }
      expect(world.breaches).toEqual([]);
      await settle(world, totals);
      expect(world.breaches).toEqual([]);
    } finally {
      totals.cases++;
      totals.crashes += world.crashes;
      await world.stop();
    }
  });
  await fc.assert(run, propertyRuns(runs));
  return totals;
}

/** What happened in all lives together. */
export interface Totals {
  cases: number;
  passes: number;
  proven: number;
  deleted: number;
  looks: number;
  lookPasses: number;
  faults: number;
  crashes: number;
}

async function take(world: World, given: Case, each: Step, totals: Totals): Promise<void> {
  if (each.do === 'change') {
    world.meddler.do(each.change);
    return;
  }
  if (each.do === 'refuse') {
    const { status, after, times } = each;
    world.sandbox.faults.add({ method: 'PATCH', status, after, times });
    return;
  }
  const formId = `form-${each.form % given.forms}`;
  if (each.do === 'harm') {
    const view = world.views[each.target]!;
    if (!view.harm(formId, each.harm)) return;
    world.harmed.add(`${formId} ${each.target}`);
    view.unheard.delete(formId);
    return;
  }
  if (each.do === 'erase') {
    await erase(world, formId, each);
    return;
  }
  if (each.do === 'mark') {
    await world.meddled(() => world.mark(formId, each.crash));
    return;
  }
  for (let n = 0; n < each.changes; n++) world.change();
  if (each.fault !== undefined) world.sandbox.faults.add({ ...each.fault, after: each.after });
  if (each.do === 'look') await lookAndCheck(world, each, totals);
  else await passAndCheck(world, formId, each, totals);
  totals.faults += world.sandbox.faults.tally().reduce((sum, { hit }) => sum + hit, 0);
  world.sandbox.faults.clear();
}

async function erase(
  world: World,
  formId: string,
  { what, which, crash }: Extract<Step, { do: 'erase' }>,
): Promise<void> {
  if (what === 'purge') return world.purge(crash);
  const ids = what === 'forget' ? world.store.ids(formId) : [...world.forgotten];
  const id = ids[which % Math.max(1, ids.length)];
  // What has no ID, nobody can name.
  if (id === undefined || 'id' in (world.store.distortionOf(id) ?? {})) return;
  await (what === 'forget' ? world.forget(id, crash) : world.remember(id, crash));
}

async function passAndCheck(
  world: World,
  formId: string,
  { target, kind, crash, which }: Extract<Step, { do: 'pass' }>,
  totals: Totals,
): Promise<void> {
  const watch = new PassWatch(world, formId, target);
  const all = world.views[target]!.windows(formId);
  const windows = all.filter((_, n) => (which & (1 << (n % 8))) !== 0);
  const report = await world.meddled(() => world.pass(formId, target, kind, { crash, windows }));
  totals.passes++;
  totals.deleted += report?.deleted ?? 0;
  if (watch.judge(report, { crash, kind })) totals.proven++;
}

/** A look into one target or both, and the passes that it asks for: each holds to what a pass by itself holds to. */
async function lookAndCheck(
  world: World,
  { targets, chosen, crash }: Extract<Step, { do: 'look' }>,
  totals: Totals,
): Promise<void> {
  const forms = [0, 1].map((target) =>
    (targets & (1 << target)) === 0
      ? []
      : world.forms.filter((_, form) => (chosen & (1 << form)) !== 0),
  );
  const watches = new Map<string, PassWatch>();
  for (const [target, ids] of forms.entries()) {
    for (const id of ids) watches.set(`${id} ${target}`, new PassWatch(world, id, target));
  }
  await world.wait(TICK_MS);
  const { passes, isDone } = await world.meddled(() => world.tick({ chosen: forms, crash }));
  totals.looks++;
  totals.lookPasses += passes.length;
  const visited = new Set<string>();
  for (const { report, target } of passes) {
    const place = `${report.form.id} ${target}`;
    totals.deleted += report.deleted;
    visited.add(place);
    if (watches.get(place)?.judge(report, { crash, kind: report.kind })) totals.proven++;
  }
  // L17: what people removed is found by each look.
  const missed = [...watches.keys()].filter((at) => world.harmed.has(at) && !visited.has(at));
  if (isDone) world.breaches.push(...missed.map((at) => `L17: a look did not miss rows of ${at}`));
}

/** Where nobody touched a table since a full pass, what was stored is counted exactly, whatever died in the middle. */
function miscounts(world: World): string[] {
  return world.forms.flatMap((id) =>
    world.views.flatMap((view, target) =>
      world.harmed.has(`${id} ${target}`) ? [] : view.miscounts(id),
    ),
  );
}

/** With everything at rest: a full pass each, marking, another pass; then every law, and L4. */
async function settle(world: World, totals: Totals): Promise<void> {
  world.sandbox.faults.clear();
  world.meddler.showHidden();
  await world.wait(REFUSAL_LASTS_MS + 1);
  for (const id of world.forms) {
    for (const target of [0, 1]) await provenFullPass(world, id, target);
    world.harmed.clear();
    await world.purge();
    world.breaches.push(...miscounts(world).filter((one) => one.includes(` ${id} `)));
    for (let run = 0; run < 2; run++) await world.mark(id);
    world.breaches.push(...staleStatuses(world, id), ...unmarked(world, id));
    for (const target of [0, 1]) await provenFullPass(world, id, target);
    world.breaches.push(...settledBreaches(world, id));
    for (const [target, view] of world.views.entries()) {
      const before = JSON.stringify([...view.rows(id)]);
      const again = await world.pass(id, target, 'full');
      const touched = (again?.inserted ?? 1) + (again?.updated ?? 1) + (again?.deleted ?? 1);
      if (touched > 0) world.breaches.push(`L4: a replay changed ${touched} rows of ${id}`);
      if (JSON.stringify([...view.rows(id)]) !== before) world.breaches.push('L4: rows moved');
      const { outcome } = await world.verify(id, target);
      if (outcome !== 'same') world.breaches.push(`verify finds ${id} ${outcome}`);
      totals.passes++;
    }
  }
}

/** L7: after marking the mirror shows the status that the source has now, without another pass. */
function staleStatuses(world: World, formId: string): string[] {
  return world.views.flatMap((view, target) =>
    [...view.rows(formId).values()]
      .filter(({ id, status }) => (world.store.get(id)?.status ?? status) !== status)
      .filter(({ id }) => world.store.distortionOf(id) === undefined)
      .map(({ id }) => `L7: target ${target} shows an old status of ${id} after marking`),
  );
}

/** L7: once nothing is refused any more, everything that may be marked is marked within two runs. */
function unmarked(world: World, formId: string): string[] {
  return [...world.store.all(formId)]
    .filter(({ id, status }) => MARK_FROM.includes(status) && !world.meddler.odd.has(id))
    .filter(({ id }) => !world.forgotten.has(id))
    .filter(({ id }) => world.store.distortionOf(id) === undefined)
    .filter(({ id }) => world.views.every((view) => !view.rejected(formId).has(id)))
    .map(({ id, status }) => `L7: ${id} is still ${status} after two runs of marking`);
}

async function provenFullPass(world: World, formId: string, target: number): Promise<void> {
  const report = await world.pass(formId, target, 'full', { acceptDeletes: true });
  if (report?.outcome !== 'ok') {
    world.breaches.push(
      `L1: a full pass over a quiet source ended ${report?.outcome}: ${report?.error}`,
    );
  }
}
