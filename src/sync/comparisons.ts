import type { Logger } from '../base/logger.ts';
import { throwIfAborted, type Clock } from '../base/clock.ts';
import type { FormOverview, Target } from '../mirror/target.ts';
import type { PassRecord } from '../mirror/types.ts';
import { type Comparable, type ComparisonRhythm, dueComparisons } from './due-comparisons.ts';
import type { FormPlan } from './planner.ts';

/** A form of a target. */
export interface FormInTarget {
  readonly formId: string;
  readonly target: string;
}

/** One that is being compared, or waits to be, and since when (milliseconds). */
export interface ComparisonUnderWay extends FormInTarget {
  readonly sinceMs: number;
}

/** What {@link Comparisons} works with. */
export interface ComparisonsOptions {
  readonly openTarget: (name: string) => Promise<Target>;
  /** RECONCILE_EVERY, and when ticks come. */
  readonly rhythm: Omit<ComparisonRhythm, 'nowMs'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Unit = Comparable & FormInTarget;

/** What the targets said last is good for this part of RECONCILE_EVERY, as long as nothing is due by it. */
const KNOWN_FOR = 0.05;
/** A full pass that failed is tried again by the queue; one that the queue has lost, after so long. */
const FAILED_REST_MS = 600_000;
const PAGE = 100;

/** Finds the forms that are to be compared row by row at a tick: those that RECONCILE_EVERY asks for, and no more at once. */
export class Comparisons {
  readonly #options: ComparisonsOptions;
  #known: { readonly atMs: number; readonly units: readonly Unit[]; readonly key: string } = {
    atMs: Number.NEGATIVE_INFINITY,
    units: [],
    key: '',
  };

  constructor(options: ComparisonsOptions) {
    this.#options = options;
  }

  /**
   * Those of `forms` that are due now, the longest uncompared first. A target that does not say what it holds has none.
   * Rejects with CANCELLED alone.
   */
  async due(
    forms: readonly FormPlan[],
    underWay: readonly ComparisonUnderWay[],
    signal: AbortSignal,
  ): Promise<FormInTarget[]> {
    const nowMs = this.#options.clock.now();
    const key = JSON.stringify(forms.map(({ form, targets }) => [form.id, targets]));
    const isKnown =
      this.#known.key === key &&
      nowMs - this.#known.atMs < KNOWN_FOR * this.#options.rhythm.withinMs;
    // Most ticks have nothing to compare: they ask no target.
    if (isKnown && this.#dueOf(this.#known.units, underWay, nowMs).length === 0) return [];
    const units = await this.#read(forms, nowMs);
    throwIfAborted(signal);
    this.#known = { atMs: nowMs, units, key };
    const due = this.#dueOf(units, underWay, nowMs);
    return due.map(({ formId, target }) => ({ formId, target }));
  }

  #dueOf(
    units: readonly Unit[],
    underWay: readonly ComparisonUnderWay[],
    nowMs: number,
  ): readonly Unit[] {
    const since = new Map(underWay.map((one) => [keyOf(one), one.sinceMs]));
    const all = units.map((unit) => {
      const sinceMs = since.get(keyOf(unit));
      return sinceMs === undefined ? unit : { ...unit, comparedMs: sinceMs, isUnderWay: true };
    });
    return dueComparisons(all, { ...this.#options.rhythm, nowMs });
  }

  async #read(forms: readonly FormPlan[], nowMs: number): Promise<Unit[]> {
    const names = [...new Set(forms.flatMap(({ targets }) => targets))];
    const read = names.map(async (target) => {
      const planned = new Set(
        forms.filter(({ targets }) => targets.includes(target)).map(({ form }) => form.id),
      );
      try {
        const overview = await (await this.#options.openTarget(target)).overview();
        return overview
          .filter(({ formId }) => planned.has(formId))
          .flatMap((held) => unitsOf(held, target, nowMs));
      } catch (error) {
        const about = { target, err: error };
        this.#options.logger.debug(about, 'What is due for comparison could not be read.');
        return [];
      }
    });
    return (await Promise.all(read)).flat();
  }
}

const keyOf = ({ formId, target }: FormInTarget): string => JSON.stringify([target, formId]);

/** A form that was never proven is read whole by its next pass anyway, and one that is gone has nothing to compare with. */
function unitsOf(held: FormOverview, target: string, nowMs: number): Unit[] {
  const { formId, checkpoint, goneAt } = held;
  if (checkpoint === null || goneAt !== null) return [];
  const cost = 1 + Math.ceil(checkpoint.total / PAGE);
  return [{ formId, target, comparedMs: comparedMsOf(held, nowMs), isUnderWay: false, cost }];
}

/**
 * When a form was last compared, or that was last tried. One that finds no proof is not tried at every tick; one that failed
 * is, after a rest.
 */
export function comparedMsOf(
  { checkpoint, lastFull }: Pick<FormOverview, 'checkpoint' | 'lastFull'>,
  nowMs: number,
): number | null {
  const provenMs = Date.parse(checkpoint?.fullProvenAt ?? '');
  const triedMs = lastFull === null ? Number.NaN : triedSinceMs(lastFull, nowMs);
  const known = [provenMs, triedMs].filter((ms) => !Number.isNaN(ms));
  return known.length === 0 ? null : Math.max(...known);
}

function triedSinceMs({ outcome, startedAt, endedAt }: PassRecord, nowMs: number): number {
  if (outcome === 'ok' || outcome === 'withheld' || outcome === 'incomplete') {
    return Date.parse(startedAt);
  }
  const endedMs = Date.parse(endedAt);
  return outcome === 'failed' && nowMs - endedMs < FAILED_REST_MS ? endedMs : Number.NaN;
}
