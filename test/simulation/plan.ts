import { type Behaviour, behaveAs, drawBehaviour, PLAIN } from './behaviours.ts';
import { Random } from './random.ts';
import type { StoreKind } from './stores.ts';
import { CHANGE_KINDS, type ChangeKind, type SourcePlan } from './source.ts';

/** Actions of people between runs, on the target or the settings. In a sheet, `refusing-trigger` is a range that they protect. */
export const DEEDS = [
  'remove-rows',
  'drop-table',
  'drop-column',
  'pause',
  'resume',
  'forget',
  'unforget',
  'hash',
  'deselect',
  'misname',
  'purge',
  'edit-cell',
  'refusing-trigger',
  'dropped-database',
] as const;
export type Deed = (typeof DEEDS)[number];

/** One action, with its own seed, so that it stays the same if another one is left out. */
export interface Step {
  readonly seed: number;
  readonly what: 'sync' | 'tick' | 'verify' | 'changes' | 'wait' | 'deed' | 'fresh' | 'broken';
  readonly full?: boolean;
  readonly accept?: boolean;
  /** How many processes do it at the same time. */
  readonly processes?: number;
  /** The first of them dies after this many acts; below 0: after this many writes. 0 for never. */
  readonly crashAt?: number;
  /** The first of them dies at the first act that this expression matches; only for `sync`. */
  readonly crashOn?: string;
  /** The request at which one of them is suspended; 0 for never. */
  readonly sleepsAt?: number;
  /** The number; before a verification, edits of answers; during a wait, new submissions. */
  readonly changes?: number;
  readonly ms?: number;
  readonly deed?: Deed;
}

/** A step, for a story. */
export function stepText({ what, full, deed, processes = 1, crashAt = 0 }: Step): string {
  const more = [
    full === true ? ' everything' : '',
    deed === undefined ? '' : ` ${deed}`,
    processes > 1 ? ', two processes' : '',
    crashAt > 0 ? `, crash at act ${crashAt}` : '',
    crashAt < 0 ? `, crash after write ${-crashAt}` : '',
  ];
  return `${what}${more.join('')}`;
}

/** A whole history, drawn from a seed. */
export interface Plan extends SourcePlan {
  readonly seed: number;
  readonly kind: SourceKind;
  readonly store: StoreKind;
  /** The initial number of submissions of each form. */
  readonly initial: readonly number[];
  readonly pageSize: number;
  readonly concurrency: number;
  readonly targets: 1 | 2;
  readonly hasSecret: boolean;
  /** The last form is not mirrored. */
  readonly chooses: boolean;
  readonly writeBack: boolean;
  readonly history: boolean;
  readonly maxDeleteFraction: number;
  /** The changes that may happen between any two requests, and how often. */
  readonly changes: readonly ChangeKind[];
  readonly busy: number;
  /** How often people do something to a spreadsheet, relative to the default; undefined: the default. */
  readonly people?: number;
  readonly faultRate: number;
  readonly steps: readonly Step[];
  /** Changes between requests that are left out, as `step seed:number`; for shrinking. */
  readonly without: readonly string[];
}

/**
 * `quiet`: nothing changes during runs. `busy`: there are changes. `odd`: the source is odd in one to three ways. `hostile`: both, and requests
 * fail.
 */
export const SOURCE_KINDS = ['quiet', 'busy', 'odd', 'hostile'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

const DAY_MS = 24 * 60 * 60_000;

const CHANGE_SETS: readonly (readonly ChangeKind[])[] = [
  ['new', 'status', 'edit'],
  ['new', 'new', 'delete', 'edit'],
  ['new', 'status', 'delete', 'edit'],
  ['status', 'delete'],
  ['new', 'import', 'burst', 'twin'],
  ['new', 'status', 'delete', 'edit', 'import', 'restore', 'burst', 'twin'],
  ['delete', 'restore', 'status'],
  ['new', 'delete-many', 'status'],
  ['swap', 'import', 'new', 'edit'],
];
/** The actions of people in one history: actions that affect each other. */
const DEED_SETS: readonly (readonly Deed[])[] = [
  ['pause', 'pause', 'resume'],
  ['forget', 'forget', 'unforget'],
  ['hash', 'hash', 'deselect'],
  ['remove-rows', 'drop-table', 'drop-column', 'edit-cell', 'refusing-trigger', 'dropped-database'],
  ['purge', 'purge', 'misname'],
];
const FORM_CHANGES: readonly ChangeKind[] = [
  'relabel',
  'delete-field',
  'add-field',
  'form-goes',
  'form-comes',
  'trade-slugs',
];

/** Draws a history: one in four is only a first copy of a list that moves while it is read. */
export function drawPlan(seed: number, kinds: readonly SourceKind[] = SOURCE_KINDS): Plan {
  const drawn = drawWhole(seed, kinds);
  const plan = [withRefusals, withPause, withNight, withCrashes, withRetractions].reduce(
    (before, more) => more(before),
    drawn,
  );
  return seed % 4 === 3 && kinds.includes('busy') ? asFirstCopy(plan) : plan;
}

/** Write-back to an odd source depends much on how it handles changes of status. */
function withRefusals(plan: Plan): Plan {
  const random = new Random(plan.seed ^ 0x4ef5);
  if (plan.behaviour === PLAIN || !plan.writeBack || !random.chance(0.4)) return plan;
  const transitions = random.pick(['not-made', 'some-refused', 'refused-409'] as const);
  const patchAnswer = random.pick(['submission', 'empty-object', 'nothing', 'text'] as const);
  return { ...plan, behaviour: { ...plan.behaviour, transitions, patchAnswer } };
}

/** People submit while no process polls. */
function withNight(plan: Plan): Plan {
  const random = new Random(plan.seed ^ 0x91647);
  const steps = plan.steps.map((step) =>
    step.what === 'wait' && random.chance(0.4) ? { ...step, changes: 2 + random.below(8) } : step,
  );
  return { ...plan, steps };
}

/** Half of the crashes come just after a write. */
function withCrashes(plan: Plan): Plan {
  const random = new Random(plan.seed ^ 0xc5c1);
  const steps = plan.steps.map((step) =>
    (step.crashAt ?? 0) > 0 && random.chance(0.5)
      ? { ...step, crashAt: crashAfterWrite(random) }
      : step,
  );
  return { ...plan, steps };
}

/**
 * All submissions arrive with the same status, and people retract recent ones: their counts cancel each other easily.
 */
function withRetractions(plan: Plan): Plan {
  const random = new Random(plan.seed ^ 0xc4a7);
  return plan.changes.includes('delete') && random.chance(0.3) ? retracting(plan) : plan;
}

const retracting = (plan: Plan): Plan => ({
  ...plan,
  newStatuses: 1,
  changes: [...plan.changes, 'retract', 'retract'],
});

/** A person pauses a form during its first copy, when all submissions wait to be written back. */
function withPause(plan: Plan): Plan {
  const random = new Random(plan.seed ^ 0x9a05e);
  const [first] = plan.steps;
  if (!plan.writeBack || first?.what !== 'tick' || !random.chance(0.5)) return plan;
  return { ...plan, steps: plan.steps.with(0, { ...first, ...PAUSE }) };
}

function asFirstCopy(plan: Plan): Plan {
  const random = new Random(plan.seed ^ 0xf125);
  return {
    ...plan,
    kind: 'busy',
    behaviour: PLAIN,
    // Two pages.
    initial: [random.pick([8, 11, 12])],
    pageSize: 6,
    targets: 1,
    chooses: false,
    writeBack: false,
    changes: random.pick([['swap'], ['swap'], ['swap', 'new'], ['delete', 'import', 'new']]),
    busy: 0.8,
    faultRate: 0,
    steps: [{ seed: random.below(2 ** 31), what: random.pick(['sync', 'tick']) }],
  };
}

function drawWhole(seed: number, kinds: readonly SourceKind[]): Plan {
  const random = new Random(seed);
  const kind = random.pick(kinds);
  const isOdd = kind === 'odd' || kind === 'hostile';
  const drawn = isOdd ? drawBehaviour(random, 1 + random.below(3)) : PLAIN;
  const behaviour: Behaviour = isOdd && seed % 4 === 0 ? { ...drawn, unknownForm: '404' } : drawn;
  const isBusy = kind === 'busy' || kind === 'hostile' || (kind === 'odd' && random.chance(0.5));
  const deeds = random.chance(0.65) ? random.pick(DEED_SETS) : [];
  const crashes = random.chance(0.4);
  const changes = [...random.pick(CHANGE_SETS)];
  const deletesMany = changes.includes('delete-many');
  if (random.chance(0.3)) changes.push(...FORM_CHANGES);
  if (behaviour.doubles !== 'none') changes.push('double');
  // Enough pages that counts are narrowed, instead of reading all pages.
  const isLong = random.chance(0.2);
  const initial = isLong
    ? [40]
    : Array.from({ length: random.pick([1, 1, 2, 3]) }, () =>
        random.pick(deletesMany ? [3, 40] : [0, 3, 3, 8, 12, 25]),
      );
  const chooses = initial.length > 1 && random.chance(0.3);
  const writeBack = random.chance(0.45);
  const targets = random.chance(writeBack ? 0.5 : 0.15) ? 2 : 1;
  const habits: Habits = {
    deeds,
    crashes,
    polls: random.pick([0.25, 0.45, 0.6]),
    company: targets > 1 ? 0.6 : 0.25,
    pauses: deeds.includes('pause') ? 0.5 : writeBack ? 0.12 : 0,
  };
  // Hashing and purging have rules for rows that are marked deleted: some must be.
  if (deeds.includes('hash') || deeds.includes('purge')) changes.push('delete');
  const steps = Array.from({ length: 2 + random.below(4) }, () => drawStep(random, habits)).flatMap(
    (step) => (isBusy || !random.chance(0.5) ? [step] : [drawChanges(random), step]),
  );
  return {
    seed,
    kind,
    store: 'sqlite',
    behaviour,
    initial,
    spacingMs: random.pick([1_000, 60_000, 3_600_000, DAY_MS]),
    pageSize: isLong ? 3 : random.pick([3, 5, 7, 10, 100]),
    concurrency: random.pick([1, 1, 2, 4]),
    targets,
    hasSecret: random.chance(0.5),
    chooses,
    writeBack,
    history: random.chance(0.3),
    maxDeleteFraction: deletesMany ? 0.2 : random.pick([1, 1, 0.2]),
    changes,
    busy: isBusy ? random.pick([0.05, 0.2, 0.5]) : 0,
    faultRate: kind === 'hostile' ? random.pick([0, 0.02, 0.1]) : 0,
    steps: [
      {
        seed: random.below(2 ** 31),
        what: random.pick(['sync', 'tick']),
        crashAt: crashes && random.chance(0.5) ? drawCrash(random) : 0,
      },
      ...steps,
      ...(chooses ? [{ seed: random.below(2 ** 31), what: 'fresh', changes: 1 } as const] : []),
    ],
    without: [],
  };
}

/**
 * The plan with a behavior (`point=value`), a change or an action in it that it may not have drawn; with `people=N`, who work in a spreadsheet N
 * times as often; with a `night` before each of its runs, in which people submit and change things; or with a `crash` of most of its runs, just
 * after a write. Throws if `what` is none of them.
 */
export function withMore(plan: Plan, what: string): Plan {
  const [, people] = /^people=(\d+)$/.exec(what) ?? [];
  if (people !== undefined) return { ...plan, people: Number(people) };
  const isRun = ({ what: does }: Step): boolean => does === 'sync' || does === 'tick';
  if (what === 'night') {
    const night = { what: 'wait', ms: NIGHT_MS, changes: 8 } as const;
    const steps = plan.steps.flatMap((step, at) =>
      at > 0 && isRun(step)
        ? [
            { ...night, seed: step.seed + 13 },
            { what: 'changes', changes: 2, seed: step.seed + 17 } as const,
            step,
          ]
        : [step],
    );
    return { ...plan, steps };
  }
  if (what === 'crash') {
    const random = new Random(plan.seed ^ 0xdead);
    const steps = plan.steps.map((step, at) =>
      at > 0 && isRun(step) && random.chance(0.7)
        ? { ...step, full: random.chance(0.7), crashAt: crashAfterWrite(random) }
        : step,
    );
    return { ...plan, steps };
  }
  const change = CHANGE_KINDS.find((each) => each === what);
  if (change === 'retract') return retracting(plan);
  if (change !== undefined) return { ...plan, changes: [...plan.changes, change, change] };
  const deed = DEEDS.find((each) => each === what);
  if (deed !== undefined) {
    const random = new Random(plan.seed ^ 0xdeed);
    const at = 1 + random.below(plan.steps.length);
    const step: Step = { seed: random.below(2 ** 31), what: 'deed', deed };
    return { ...plan, steps: plan.steps.toSpliced(at, 0, step) };
  }
  const behaviour = behaveAs(plan.behaviour, what);
  const isDoubled = behaviour.doubles !== 'none' && !plan.changes.includes('double');
  return { ...plan, behaviour, changes: [...plan.changes, ...(isDoubled ? DOUBLE : [])] };
}
const NIGHT_MS = 40 * 60_000;
const DOUBLE: readonly ChangeKind[] = ['double'];

/** A run of one form writes about twelve times. */
const crashAfterWrite = (random: Random): number => -1 - random.below(12);

/** Half of all crashes are among the first thirty acts. */
const drawCrash = (random: Random): number => 1 + Math.floor(2 ** (random.next() * 9));

const drawChanges = (random: Random): Step => ({
  seed: random.below(2 ** 31),
  what: 'changes',
  changes: 1 + random.below(4),
});

/** The probabilities in the steps of one history. */
interface Habits {
  readonly deeds: readonly Deed[];
  readonly crashes: boolean;
  /** That a step is a poll. */
  readonly polls: number;
  /** That two processes work at the same time. */
  readonly company: number;
  /** That a person pauses a form during a poll. */
  readonly pauses: number;
}

function drawStep(random: Random, habits: Habits): Step {
  const { deeds, crashes, polls, company, pauses } = habits;
  const seed = random.below(2 ** 31);
  const crashAt = crashes && random.chance(0.4) ? drawCrash(random) : 0;
  if (deeds.length > 0 && random.chance(0.4))
    return { seed, what: 'deed', deed: random.pick(deeds), crashAt };
  if (random.chance(polls)) {
    const isPaused = random.chance(pauses);
    return {
      seed,
      what: 'tick',
      ...drawProcesses(random, company, crashAt),
      ...(isPaused && PAUSE),
    };
  }
  const draw = random.next();
  if (draw < 0.5)
    return {
      seed,
      what: 'sync',
      full: random.chance(0.4),
      accept: random.chance(0.2),
      ...drawProcesses(random, company, crashAt),
    };
  if (draw < 0.65) return { seed, what: 'verify', changes: random.below(3) };
  if (draw < 0.75)
    return { seed, what: 'wait', ms: random.pick([60_000, 10 * 60_000, 7 * 3_600_000]) };
  if (draw < 0.9) return { seed, what: 'fresh', changes: 1 + random.below(2) };
  return { seed, what: 'broken' };
}

const PAUSE: Pick<Step, 'deed'> = { deed: 'pause' };

/** Of two processes, one may be suspended during its work. */
function drawProcesses(random: Random, company: number, crashAt: number): Partial<Step> {
  if (!random.chance(company)) return { crashAt };
  const sleepsAt = crashAt === 0 && random.chance(0.5) ? 1 + random.below(16) : 0;
  return { processes: 2, crashAt, sleepsAt };
}
