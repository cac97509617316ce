import { type Clock, systemClock } from '../../base/clock.ts';
import { fieldsOf, type SandboxField, type SandboxForm } from './workspace-forms.ts';
import { Random } from './random.ts';
import { sampleAnswers } from './sample-answers.ts';
import type { FormsStore } from './store.ts';

/** Colleagues work on so many of the newest submissions. */
const DESK_SIZE = 50;
/** A timer of Node's takes no more. */
const LONGEST_GAP_MS = 2 ** 31 - 1;

/** Options of {@link startTraffic}. */
export interface TrafficOptions {
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Events a minute, on average. Default 60; 0 or less: none, it ends at once. */
  readonly perMinute?: number;
  /** Determines who does what. Default: the store's. */
  readonly seed?: number | string;
  readonly signal?: AbortSignal;
  /** Called after each event. */
  readonly onEvent?: (event: TrafficEvent) => void;
}

/** Something that happened in the workspace. Never carries an answer. */
export interface TrafficEvent {
  readonly kind: 'submitted' | 'status' | 'relabelled' | 'deleted';
  readonly formId: string;
  /** Absent for a relabel. */
  readonly submissionId?: string;
}

/** Traffic that is running. */
export interface Traffic {
  /** Settles when the traffic has ended: `signal`, stop(), or no form left. Rejects with an error of `onEvent`. */
  readonly ended: Promise<void>;
  /** Ends it. */
  stop(): Promise<void>;
}

/** Respondents submit, colleagues change statuses, now and then an owner relabels a field or deletes a submission. */
export function startTraffic(store: FormsStore, options: TrafficOptions = {}): Traffic {
  const stopping = new AbortController();
  const signal = options.signal
    ? AbortSignal.any([options.signal, stopping.signal])
    : stopping.signal;
  const ended = run(store, options, signal);
  // The caller may only look at it later.
  ended.catch(() => {});
  return {
    ended,
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

async function run(store: FormsStore, options: TrafficOptions, signal: AbortSignal): Promise<void> {
  const { clock = systemClock, perMinute = 60, seed = store.seed } = options;
  const random = new Random('traffic', seed);
  if (perMinute <= 0) return;
  while (!signal.aborted) {
    // Exponential gaps, as when many people act independently of each other.
    const gapMs = Math.round((-Math.log(1 - random.next()) * 60_000) / perMinute);
    try {
      await clock.sleep(Math.min(gapMs, LONGEST_GAP_MS), signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    const event = happen(store, random);
    if (event) options.onEvent?.(event);
    else if (store.forms().length === 0) return;
  }
}

/** Lets one thing happen, as `random` has it; undefined when it fell through for want of a submission or field. */
function happen(store: FormsStore, random: Random): TrafficEvent | undefined {
  const forms = store.forms();
  if (forms.length === 0) return undefined;
  const form = random.pick(forms);
  const lot = random.next();
  if (lot < 0.55) return submitted(store, form, random);
  if (lot < 0.94) return statusChanged(store, form, random);
  return lot < 0.97 ? relabelled(store, form, random) : deleted(store, form, random);
}

function submitted(store: FormsStore, form: SandboxForm, random: Random): TrafficEvent {
  const data = sampleAnswers(fieldsOf(form), form.language, random);
  const { id } = store.insert({ formId: form.id, data });
  return { kind: 'submitted', formId: form.id, submissionId: id };
}

/** The statuses that colleagues choose from next, by the present one. */
const NEXT_STATUS: Readonly<Record<string, readonly string[]>> = {
  NEW: ['IN_PROGRESS', 'IN_PROGRESS', 'REJECTED'],
  IN_PROGRESS: ['PAID', 'ARCHIVED', 'REJECTED'],
  DONE: ['ARCHIVED', 'PAID'],
  PAID: ['ARCHIVED'],
};

function statusChanged(
  store: FormsStore,
  form: SandboxForm,
  random: Random,
): TrafficEvent | undefined {
  const submissionId = oneOfTheNewest(store, form, random);
  if (submissionId === undefined) return undefined;
  const next = NEXT_STATUS[store.get(submissionId)?.status ?? ''];
  if (!next) return undefined;
  store.setStatus(submissionId, random.pick(next));
  return { kind: 'status', formId: form.id, submissionId };
}

function deleted(store: FormsStore, form: SandboxForm, random: Random): TrafficEvent | undefined {
  const submissionId = oneOfTheNewest(store, form, random);
  if (submissionId === undefined) return undefined;
  store.delete(submissionId);
  return { kind: 'deleted', formId: form.id, submissionId };
}

function relabelled(
  store: FormsStore,
  form: SandboxForm,
  random: Random,
): TrafficEvent | undefined {
  const fields = fieldsOf(form);
  if (fields.length === 0) return undefined;
  const field = random.pick(fields);
  store.relabelField(form.id, field.id, relabel(field, form));
  return { kind: 'relabelled', formId: form.id };
}

/** The label as its owner would improve it, or as it was before. */
function relabel({ label }: SandboxField, { language }: SandboxForm): string {
  const addition = { cs: ' (nepovinné)', de: ' (freiwillig)', en: ' (optional)' }[language];
  return label.endsWith(addition) ? label.slice(0, -addition.length) : label + addition;
}

function oneOfTheNewest(store: FormsStore, form: SandboxForm, random: Random): string | undefined {
  const newest = store.ordered('time', form.id).slice(-DESK_SIZE);
  return newest.length === 0 ? undefined : store.at(random.pick([...newest])).id;
}
