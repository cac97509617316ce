import { type Clock, systemClock } from '../base/clock.ts';
import { Random } from './random.ts';
import { sampleAnswers } from './sample-answers.ts';
import { fieldsOf, type FormsStore, type SandboxForm } from './store.ts';

/** How many of the newest submissions colleagues work on. */
const DESK_SIZE = 50;

/** Options of {@link runTraffic}. */
export interface TrafficOptions {
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Events per minute, on average. 0: none, and it ends at once. */
  readonly perMinute: number;
  readonly signal: AbortSignal;
  /** Called after each event. */
  readonly onEvent?: () => void;
}

/**
 * Respondents submit, colleagues change statuses, and sometimes an owner relabels a field or deletes a submission. Resolves when
 * `signal` aborts, or when no form is left.
 */
export async function runTraffic(
  store: FormsStore,
  { clock = systemClock, perMinute, signal, onEvent }: TrafficOptions,
): Promise<void> {
  const random = new Random('traffic', store.seed);
  if (perMinute <= 0) return;
  while (store.forms().length > 0) {
    // Exponential gaps, as when many people act independently.
    const gapMs = Math.round((-Math.log(1 - random.next()) * 60_000) / perMinute);
    try {
      await clock.sleep(gapMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    happen(store, random);
    onEvent?.();
  }
}

/** One event, chosen by `random`. */
function happen(store: FormsStore, random: Random): void {
  const forms = store.forms();
  if (forms.length === 0) return;
  const form = random.pick(forms);
  const lot = random.next();
  if (lot < 0.55) {
    store.insert({ formId: form.id, data: sampleAnswers(fieldsOf(form), random) });
    return;
  }
  const newest = store.byTime(form.id).slice(-DESK_SIZE);
  if (newest.length === 0) return;
  const { id, status } = random.pick(newest);
  const next = NEXT_STATUS[status];
  if (lot < 0.94 && next !== undefined) store.setStatus(id, random.pick(next));
  else if (lot >= 0.97) store.delete(id);
  else if (lot >= 0.94) relabel(store, form, random);
}

/** The statuses that colleagues may choose next, by the current one. */
const NEXT_STATUS: Readonly<Record<string, readonly string[]>> = {
  NEW: ['IN_PROGRESS', 'IN_PROGRESS', 'REJECTED'],
  IN_PROGRESS: ['PAID', 'ARCHIVED', 'REJECTED'],
  DONE: ['ARCHIVED', 'PAID'],
  PAID: ['ARCHIVED'],
};

const ADDITION = ' (optional)';

/** Gives a field the label that its owner prefers now, or its earlier one. */
function relabel(store: FormsStore, form: SandboxForm, random: Random): void {
  const { id, label } = random.pick(fieldsOf(form));
  const now = label.endsWith(ADDITION) ? label.slice(0, -ADDITION.length) : label + ADDITION;
  store.relabelField(form.id, id, now);
}
