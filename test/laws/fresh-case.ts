import * as fc from 'fast-check';
import type { SandboxBehaviour } from '../../src/sandbox/forms-api/behaviour.ts';
import {
  behaviours,
  comparisonSizes,
  crashes,
  FAULTS,
  someChanges,
  spacings,
  windowSizes,
} from './cases.ts';
import type { CrashPoint } from './crashing-target.ts';
import { FreshJudge, type FreshTally } from './freshness.ts';
import { replaceElsewhere } from './replaced.ts';
import { TICK_MS, World } from './world.ts';

const WORKSPACE = { workspaceList: 'honoured', workspaceStatus: 'honoured' } as const;
const DATES = { dateFilter: 'honoured', dateStamp: 'created' } as const;

/** A time of changes, and perhaps a tick in the middle of them that dies or fails; then the source rests. */
const round = fc.record({
  changes: fc.constantFrom(0, 1, 1, 2, 3, 8, 12),
  restless: fc.option(
    fc.record({
      crash: crashes,
      fault: fc.option(fc.constantFrom(...FAULTS), { nil: undefined, freq: 2 }),
      after: fc.nat(12),
      /** A comparison of some windows of a form, too. */
      compare: fc.option(
        fc.record({
          form: fc.nat(3),
          target: fc.nat(1),
          which: fc.integer({ min: 1, max: 255 }),
        }),
        { nil: undefined },
      ),
    }),
    { nil: undefined },
  ),
  /** Rows are erased. */
  erase: fc.option(
    fc.record({
      what: fc.constantFrom('forget' as const, 'purge' as const),
      which: fc.nat(200),
      crash: crashes,
    }),
    { nil: undefined, freq: 2 },
  ),
  /** What happens between that and the rest. */
  later: fc.constantFrom(0, 0, 1, 2),
  /** Once all is quiet: one is deleted, while another comes elsewhere with the same status. */
  replaced: fc.option(fc.nat(200), { nil: undefined, freq: 4 }),
  /** Forms that each target takes from now on: a bit each; undefined: as before. */
  chosen: fc.option(fc.tuple(fc.integer({ min: 1, max: 15 }), fc.integer({ min: 1, max: 15 })), {
    nil: undefined,
    freq: 3,
  }),
});

/** Times of changes and of rest, with ticks in both. */
export const freshCases = fc.record({
  seed: fc.integer(),
  behaviour: behaviours,
  /** How the rest is read, most of the time: so that looks can ask the workspace, and comparisons by date. */
  usual: fc.constantFrom<Partial<SandboxBehaviour>>(
    {},
    WORKSPACE,
    DATES,
    { ...WORKSPACE, ...DATES },
    { ...WORKSPACE, ...DATES },
  ),
  /** A list of one page is read whole in any case: most of these have many. */
  maxLimit: fc.constantFrom(7, 7, 7, 25),
  readAhead: fc.integer({ min: 1, max: 3 }),
  forms: fc.integer({ min: 1, max: 4 }),
  elsewhere: fc.nat(2),
  submissions: fc.integer({ min: 0, max: 90 }),
  spacingMs: spacings,
  marks: fc.boolean(),
  windowSizes,
  comparisonSizes,
  changes: someChanges,
  busy: fc.constantFrom(0.05, 0.2, 0.5),
  rounds: fc.array(round, { minLength: 1, maxLength: 5 }),
});

export type FreshCase = typeof freshCases extends fc.Arbitrary<infer T> ? T : never;

/** A world for a case. */
export const startFresh = ({ maxLimit, usual, ...given }: FreshCase): Promise<World> =>
  World.start({ ...given, behaviour: { ...given.behaviour, ...usual, maxLimit } });

/** Lives through the rounds of a case; every breach is noted in the world. */
export async function liveFresh(
  world: World,
  given: FreshCase,
  totals: FreshTally & { ticks: number },
): Promise<void> {
  const judges = [0, 1].map((target) => new FreshJudge(world, target, totals));
  let chosen = [world.forms, world.forms];
  for (const { changes, restless, erase, later, replaced, chosen: bits } of given.rounds) {
    if (bits !== undefined) {
      chosen = bits.map((of) => world.forms.filter((_, n) => (of & (1 << n)) !== 0));
    }
    for (let n = 0; n < changes; n++) world.change();
    if (restless !== undefined) {
      const { crash, fault, after } = restless;
      if (fault !== undefined) world.sandbox.faults.add({ ...fault, after });
      await world.wait(TICK_MS);
      await world.meddled(() => world.tick({ chosen, crash }));
      if (given.marks) await world.meddled(() => markAll(world, chosen, crash));
      await compareSome(world, chosen, restless.compare);
      world.sandbox.faults.clear();
    }
    if (erase !== undefined) await eraseSome(world, erase);
    for (let n = 0; n < later; n++) world.change();
    world.meddler.showHidden();
    let knows = false;
    for (let n = 0; n < ticksToRest(world); n++) {
      await world.wait(TICK_MS);
      const { passes, isDone, knowsOthers } = await world.tick({ chosen });
      if (!isDone) world.breaches.push('a tick failed at rest');
      totals.ticks++;
      knows = knowsOthers;
      const failed = passes.filter(({ report }) => report.outcome === 'failed');
      world.breaches.push(...failed.map(({ report }) => `a pass failed at rest: ${report.error}`));
      if (given.marks) await markAll(world, chosen);
    }
    for (const [target, judge] of judges.entries()) {
      world.breaches.push(...judge.judge(chosen[target]!));
    }
    if (world.breaches.length > 0) return;
    // What was marked is a change, too, for a target that does not mirror its form.
    // And what moved in others is found out anew by the next look, where all that one found was that no form here explains it.
    for (let more = given.marks; more || !knows; more = false) {
      await world.wait(TICK_MS);
      const ticked = await world.tick({ chosen });
      // Where that look does not know either, the next one is judged all the same.
      if (!more) break;
      knows = ticked.knowsOthers;
    }
    const isQuiet = await quietTick(world, chosen, totals);
    if (isQuiet && given.elsewhere > 0) await replaceOne(world, chosen, totals, replaced);
  }
}

async function replaceOne(
  world: World,
  chosen: readonly (readonly string[])[],
  totals: FreshTally,
  which: number | undefined,
): Promise<void> {
  const replaced = which === undefined ? null : replaceElsewhere(world, chosen, which);
  if (replaced === null) return;
  totals.replaced++;
  for (let n = 0; n < ticksToRest(world); n++) {
    await world.wait(TICK_MS);
    await world.tick({ chosen });
  }
  world.breaches.push(...replaced.breaches());
}

async function eraseSome(
  world: World,
  {
    what,
    which,
    crash,
  }: { what: 'forget' | 'purge'; which: number; crash: CrashPoint | undefined },
): Promise<void> {
  if (what === 'purge') return world.purge(crash);
  const ids = world.forms.flatMap((formId) => world.store.ids(formId));
  const id = ids[which % Math.max(1, ids.length)];
  // What has no ID, nobody can name.
  const isNamed = id !== undefined && !('id' in (world.store.distortionOf(id) ?? {}));
  if (isNamed) await world.forget(id, crash);
}

async function compareSome(
  world: World,
  chosen: readonly (readonly string[])[],
  compare: { form: number; target: number; which: number } | undefined,
): Promise<void> {
  if (compare === undefined) return;
  const { form, target, which } = compare;
  const formId = chosen[target]![form % Math.max(1, chosen[target]!.length)];
  if (formId === undefined) return;
  const windows = world.views[target]!.windows(formId).filter((_, n) => which & (1 << (n % 8)));
  await world.meddled(() => world.pass(formId, target, 'compare', { windows }));
}

/**
 * L16: a look that finds nothing changed costs eight requests at most, and L4: changes no row. True where it asked the workspace
 * alone, and knows what others have.
 */
async function quietTick(
  world: World,
  chosen: readonly (readonly string[])[],
  totals: FreshTally,
): Promise<boolean> {
  const rows = (): string =>
    JSON.stringify(world.views.map((view) => world.forms.map((id) => [...view.rows(id)])));
  const [before, asked] = [rows(), world.sandbox.requests.length];
  await world.wait(TICK_MS);
  const { passes, knowsOthers } = await world.tick({ chosen });
  if (rows() !== before) world.breaches.push('L4: a tick changed rows, though nothing had changed');
  // An empty list does not show that it would show anything.
  const isEmpty = world.store.count() === 0;
  // What the brake withholds is told in each pass, until a person decides.
  const isWithheld = passes.some(({ report }) => report.outcome === 'withheld');
  if (!world.asksWorkspace || isEmpty || isWithheld || world.meddler.odd.size > 0) return false;
  totals.quiet++;
  const requests = world.sandbox.requests.length - asked;
  // Where the number of pages says nothing, the list of forms takes a second request.
  const most = world.sandbox.behaviour.totalPages === 'absurd' ? 9 : 8;
  if (requests <= most) return knowsOthers && passes.length === 0;
  const visited = passes.map(({ report, target }) => `${report.form.id} in target ${target}`);
  world.breaches.push(`L16: a quiet tick cost ${requests} requests: ${visited.join(', ')}`);
  return false;
}

/** As after the passes of a tick: each form, for the targets that mirror it. */
async function markAll(
  world: World,
  chosen: readonly (readonly string[])[],
  crash?: CrashPoint,
): Promise<void> {
  for (const formId of world.forms) {
    const into = [0, 1].filter((target) => chosen[target]!.includes(formId));
    if (into.length > 0) await world.mark(formId, crash, into);
  }
}

/**
 * Two, where the API counts by date. Elsewhere, and where a list was found to leave some out, a difference is found by reading a
 * whole form, which may take one of three seconds a page since the last time. Where the workspace can't be counted, a form's
 * statuses are counted in turn.
 */
function ticksToRest({ store, sandbox, meddler, asksWorkspace }: World): number {
  const { dateFilter, dateStamp, maxLimit } = sandbox.behaviour;
  const turns = asksWorkspace ? 0 : 6;
  const isDated = dateFilter === 'honoured' && dateStamp === 'created';
  if (isDated && !meddler.hid) return 2 + turns;
  const most = Math.max(...store.forms().map(({ id }) => store.count(id)));
  return 2 + turns + Math.ceil((Math.ceil(most / maxLimit) * 3_000) / TICK_MS);
}
