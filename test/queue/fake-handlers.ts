import { MirrorError } from '../../src/base/errors.ts';
import type { PassOutcome } from '../../src/mirror/types.ts';
import type {
  ComparisonUnderWay,
  DueComparison,
  JobHandlers,
  JobPlace,
  JobProgress,
  PassJob,
  PlannedForm,
} from '../../src/queue/handlers.ts';

/** What a pass of the stand-in does; may throw. */
export type PassScript = (
  order: PassJob,
  signal: AbortSignal,
  onProgress: (progress: JobProgress) => void,
) => PassOutcome | Promise<PassOutcome>;

/** Work that a test scripts and watches. */
export class FakeHandlers implements JobHandlers {
  forms: PlannedForm[];
  script: PassScript = () => 'ok';
  markScript: (formId: string, signal: AbortSignal) => void | Promise<void> = () => {};
  planScript: (signal: AbortSignal) => void | Promise<void> = () => {};
  readonly plans: number[] = [];
  readonly passes: PassJob[] = [];
  readonly marks: string[] = [];
  /** The most passes ever at work at one time on one form in one target, of one kind. */
  mostAtOnce = 0;
  readonly #running = new Map<string, number>();

  constructor(forms: PlannedForm[]) {
    this.forms = forms;
  }

  async plan(signal: AbortSignal): Promise<PlannedForm[]> {
    this.plans.push(performance.now());
    await this.planScript(signal);
    return this.forms;
  }

  /** Those to be compared at each tick; none by default. */
  due: (underWay: readonly ComparisonUnderWay[]) => DueComparison[] = () => [];

  async comparisons(underWay: readonly ComparisonUnderWay[]) {
    return this.due(underWay);
  }

  /** Has everything compared at each tick, as a tick does that comes but once in RECONCILE_EVERY. */
  compareAll(): void {
    this.due = () =>
      this.forms.flatMap(({ formId, targets }) => targets.map((target) => ({ formId, target })));
  }

  async isPlanned({ formId, target }: JobPlace): Promise<boolean> {
    return this.forms.some(
      (form) => form.formId === formId && (target === null || form.targets.includes(target)),
    );
  }

  async pass(
    order: PassJob,
    signal: AbortSignal,
    onProgress: (progress: JobProgress) => void = () => {},
  ): Promise<PassOutcome> {
    this.passes.push(order);
    const key = `${order.formId} ${order.target} ${order.kind}`;
    const running = (this.#running.get(key) ?? 0) + 1;
    this.#running.set(key, running);
    this.mostAtOnce = Math.max(this.mostAtOnce, running);
    try {
      return await this.script(order, signal, onProgress);
    } finally {
      this.#running.set(key, running - 1);
    }
  }

  async mark({ formId }: { formId: string }, signal: AbortSignal): Promise<void> {
    this.marks.push(formId);
    await this.markScript(formId, signal);
  }

  /** Passes begun into a target. */
  count(target: string, kind?: PassJob['kind']): number {
    return this.passes.filter(
      (order) => order.target === target && (kind === undefined || order.kind === kind),
    ).length;
  }
}

/** Stops something until it is opened, or until the signal aborts. */
export class Gate {
  readonly #opened = Promise.withResolvers<void>();

  open(): void {
    this.#opened.resolve();
  }

  async wait(signal: AbortSignal): Promise<PassOutcome> {
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(new MirrorError('CANCELLED', 'Stopped on request.'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    await Promise.race([this.#opened.promise, aborted.promise]);
    return 'ok';
  }
}
