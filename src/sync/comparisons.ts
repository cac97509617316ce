import type { Logger } from '../base/logger.ts';
import { type Clock, throwIfAborted, withinTime } from '../base/clock.ts';
import { pauseOf } from '../mirror/pauses.ts';
import {
  type Copy,
  type FormOverview,
  type FormWindow,
  isCut,
  type WindowRecord,
} from '../mirror/target.ts';
import type { PassRecord } from '../mirror/types.ts';
import { type Comparable, type ComparisonRhythm, dueComparisons } from './due-comparisons.ts';
import { TARGET_WAIT_MS } from './look.ts';
import type { FormPlan } from './planner.ts';
import { WINDOW_SIZES } from './window-sizes.ts';

/** A form that is to be compared in a target: whole, or some of its windows. */
export interface DueComparison {
  readonly formId: string;
  readonly target: string;
  readonly windows?: readonly FormWindow[] | undefined;
}

/** One that is being compared, or waits to be, and since when (milliseconds). */
export interface ComparisonUnderWay extends DueComparison {
  readonly sinceMs: number;
}

/** What {@link Comparisons} works with. */
export interface ComparisonsOptions {
  readonly openTarget: (name: string) => Promise<Copy>;
  /** RECONCILE_EVERY, and when ticks come. */
  readonly rhythm: Omit<ComparisonRhythm, 'nowMs'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A form that is one window, or one window of a form. */
interface Unit extends Comparable {
  readonly formId: string;
  readonly target: string;
  readonly window: FormWindow | null;
}

/** What the targets said last is good for this part of RECONCILE_EVERY, as long as nothing is due by it. */
const KNOWN_FOR = 0.05;
/** What was asked for and not done is tried again by the queue; when it has given up, or lost it, after so long. */
const FAILED_REST_MS = 600_000;
const PAGE = 100;

/** Finds the forms and windows that are to be compared row by row at a tick: as RECONCILE_EVERY asks for, and no more at once. */
export class Comparisons {
  readonly #options: ComparisonsOptions;
  #known: { readonly atMs: number; readonly units: readonly Unit[]; readonly key: string } = {
    atMs: Number.NEGATIVE_INFINITY,
    units: [],
    key: '',
  };

  /** When each was last asked for, in this process. */
  readonly #askedMs = new Map<string, number>();
  /** Targets that have not answered in time, with what they have said since. */
  readonly #late = new Map<string, { answer?: readonly Unit[] }>();
  /** Those of which that was said. */
  readonly #silent = new Set<string>();

  constructor(options: ComparisonsOptions) {
    this.#options = options;
  }

  /**
   * Those of `forms` that are due now, the longest uncompared first. A target that does not say what it holds, or takes too
   * long, has none, and holds up no other (L12). Rejects with CANCELLED alone.
   */
  async due(
    forms: readonly FormPlan[],
    underWay: readonly ComparisonUnderWay[],
    signal: AbortSignal,
  ): Promise<DueComparison[]> {
    const nowMs = this.#options.clock.now();
    const key = JSON.stringify(forms.map(({ form, targets }) => [form.id, targets]));
    const isKnown =
      this.#known.key === key &&
      nowMs - this.#known.atMs < KNOWN_FOR * this.#options.rhythm.withinMs;
    // Most ticks have nothing to compare: they ask no target.
    if (isKnown && this.#dueOf(this.#known.units, underWay, nowMs).length === 0) return [];
    const units = await this.#read(forms, nowMs);
    throwIfAborted(signal);
    // What a late target says counts as soon as it has said it.
    const isWhole = !forms.some(({ targets }) => targets.some((name) => this.#late.has(name)));
    this.#known = { atMs: isWhole ? nowMs : Number.NEGATIVE_INFINITY, units, key };
    const due = this.#dueOf(units, underWay, nowMs);
    for (const [key, askedMs] of this.#askedMs) {
      if (nowMs - askedMs >= this.#restMs) this.#askedMs.delete(key);
    }
    for (const unit of due) this.#askedMs.set(unitKey(unit), nowMs);
    return [...Map.groupBy(due, placeKey).values()].flatMap(together);
  }

  get #restMs(): number {
    return Math.min(FAILED_REST_MS, this.#options.rhythm.withinMs);
  }

  #dueOf(
    units: readonly Unit[],
    underWay: readonly ComparisonUnderWay[],
    nowMs: number,
  ): readonly Unit[] {
    const jobs = new Map(underWay.map((job) => [placeKey(job), job]));
    const all = units.map((unit) => {
      const job = jobs.get(placeKey(unit));
      // There is one job a form: while some of its windows are compared, the others wait.
      if (job !== undefined) {
        return { ...unit, isUnderWay: true, ...(isIn(job, unit) && { comparedMs: job.sinceMs }) };
      }
      const askedMs = this.#askedMs.get(unitKey(unit)) ?? Number.NEGATIVE_INFINITY;
      const rests = nowMs - askedMs < this.#restMs && askedMs > (unit.comparedMs ?? 0);
      return rests ? { ...unit, comparedMs: askedMs } : unit;
    });
    return dueComparisons(all, { ...this.#options.rhythm, nowMs });
  }

  async #read(forms: readonly FormPlan[], nowMs: number): Promise<Unit[]> {
    const names = [...new Set(forms.flatMap(({ targets }) => targets))];
    const read = names.map(async (target) => {
      const planned = new Set(
        forms.filter(({ targets }) => targets.includes(target)).map(({ form }) => form.id),
      );
      const units = await this.#inTime(target, () => this.#readTarget(target, planned, nowMs));
      return units.filter(({ formId }) => planned.has(formId));
    });
    return (await Promise.all(read)).flat();
  }

  /**
   * A table that a person has locked keeps its target silent for minutes. The question is left open meanwhile, as another one
   * would take one more of the target's connections; what it says at last is for the tick that comes next.
   */
  async #inTime(target: string, read: () => Promise<readonly Unit[]>): Promise<readonly Unit[]> {
    const open = this.#late.get(target);
    if (open !== undefined) {
      if (open.answer !== undefined) this.#late.delete(target);
      return open.answer ?? [];
    }
    const asked = read();
    const units = await withinTime(asked, TARGET_WAIT_MS, this.#options.clock);
    if (units !== undefined) {
      this.#silent.delete(target);
      return units;
    }
    const late: { answer?: readonly Unit[] } = {};
    this.#late.set(target, late);
    void asked.then((answer) => (late.answer = answer));
    if (!this.#silent.has(target)) {
      const seconds = TARGET_WAIT_MS / 1_000;
      this.#options.logger.warn(
        { target },
        `The target did not answer within ${seconds} s: row comparisons there wait; the other targets go on.`,
      );
    }
    this.#silent.add(target);
    return [];
  }

  /** All that a target could be compared by; nothing when it does not say. Never rejects. */
  async #readTarget(
    target: string,
    planned: ReadonlySet<string>,
    nowMs: number,
  ): Promise<readonly Unit[]> {
    try {
      const opened = await this.#options.openTarget(target);
      const units: Unit[] = [];
      const overview = await opened.overview();
      const pauses = await opened.pauses();
      for (const held of overview) {
        if (!planned.has(held.formId) || pauseOf(pauses, held.formId) !== null) continue;
        const windows = await windowsOf(opened, held);
        units.push(...unitsOf(held, target, windows, { nowMs, restMs: this.#restMs }));
      }
      return units;
    } catch (error) {
      const about = { target, err: error };
      this.#options.logger.debug(about, 'The row comparisons that are due could not be read.');
      return [];
    }
  }
}

type Place = Pick<DueComparison, 'formId' | 'target'>;

const placeKey = ({ formId, target }: Place): string => JSON.stringify([target, formId]);

const unitKey = ({ formId, target, window }: Unit): string =>
  JSON.stringify([target, formId, window?.from ?? null]);

/** Whether a job compares it. */
const isIn = ({ windows }: ComparisonUnderWay, { window }: Unit): boolean =>
  windows === undefined || windows.some(({ from }) => from === window?.from);

/** What is due of a form, as one comparison. */
function together(units: readonly Unit[]): DueComparison[] {
  const [first] = units;
  if (first === undefined) return [];
  const { formId, target } = first;
  const windows = units.flatMap(({ window }) => window ?? []);
  return [windows.length === 0 ? { formId, target } : { formId, target, windows }];
}

/**
 * The windows of a form that is read in windows; none for any other, and for one whose newest window has outgrown the others:
 * a full pass cuts it, and does what no comparison of windows can.
 */
async function windowsOf(
  target: Copy,
  { formId, checkpoint, goneAt }: FormOverview,
): Promise<readonly WindowRecord[]> {
  if (checkpoint === null || goneAt !== null) return [];
  // Few forms are large: of the others nothing is read.
  if (checkpoint.total <= WINDOW_SIZES.aim) return [];
  const windows = (await (await target.reader(formId))?.windows()) ?? [];
  const older = windows.reduce((sum, { to, total }) => (to === null ? sum : sum + total), 0);
  return isCut(windows) && checkpoint.total - older <= WINDOW_SIZES.most ? windows : [];
}

/** A form that was never proven is read whole by its next pass anyway, and one that is gone has nothing to compare with. */
function unitsOf(
  held: FormOverview,
  target: string,
  windows: readonly WindowRecord[],
  { nowMs, restMs }: { readonly nowMs: number; readonly restMs: number },
): Unit[] {
  const { formId, checkpoint, goneAt } = held;
  if (checkpoint === null || goneAt !== null) return [];
  const unit = { formId, target, isUnderWay: false };
  const costOf = (total: number): number => 1 + Math.ceil(total / PAGE);
  if (windows.length === 0) {
    const comparedMs = comparedMsOf(held, nowMs, restMs);
    return [{ ...unit, window: null, comparedMs, cost: costOf(checkpoint.total) }];
  }
  return windows.map(({ from, to, provenAt, total }) => {
    const comparedMs = provenAt === null ? null : Date.parse(provenAt);
    return { ...unit, window: { from, to }, comparedMs, cost: costOf(total) };
  });
}

/**
 * When a form was last compared, or that was last tried. One that finds no proof is not tried at every tick; one that failed
 * is, after a rest.
 */
export function comparedMsOf(
  { checkpoint, lastFull }: Pick<FormOverview, 'checkpoint' | 'lastFull'>,
  nowMs: number,
  restMs = FAILED_REST_MS,
): number | null {
  const provenMs = Date.parse(checkpoint?.fullProvenAt ?? '');
  const triedMs = lastFull === null ? Number.NaN : triedSinceMs(lastFull, nowMs, restMs);
  const known = [provenMs, triedMs].filter((ms) => !Number.isNaN(ms));
  return known.length === 0 ? null : Math.max(...known);
}

function triedSinceMs(
  { outcome, startedAt, endedAt }: PassRecord,
  nowMs: number,
  restMs: number,
): number {
  if (outcome === 'ok' || outcome === 'withheld' || outcome === 'incomplete') {
    return Date.parse(startedAt);
  }
  const endedMs = Date.parse(endedAt);
  return outcome === 'failed' && nowMs - endedMs < restMs ? endedMs : Number.NaN;
}
