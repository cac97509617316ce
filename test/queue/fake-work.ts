import { MirrorError } from '../../src/base/errors.ts';
import type { PassOutcome } from '../../src/mirror/types.ts';
import type { MirrorWork, PassOrder, PlannedForm } from '../../src/queue/work.ts';

/** What a pass of the stand-in does; may throw. */
export type PassScript = (
  order: PassOrder,
  signal: AbortSignal,
) => PassOutcome | Promise<PassOutcome>;

/** Work that a test scripts and watches. */
export class FakeWork implements MirrorWork {
  forms: PlannedForm[];
  script: PassScript = () => 'ok';
  markScript: (formId: string, signal: AbortSignal) => void | Promise<void> = () => {};
  readonly plans: number[] = [];
  readonly passes: PassOrder[] = [];
  readonly marks: string[] = [];
  /** The most passes ever at work at one time on one form in one target, of one kind. */
  mostAtOnce = 0;
  readonly #running = new Map<string, number>();

  constructor(forms: PlannedForm[]) {
    this.forms = forms;
  }

  plan(): Promise<PlannedForm[]> {
    this.plans.push(performance.now());
    return Promise.resolve(this.forms);
  }

  async pass(order: PassOrder, signal: AbortSignal): Promise<PassOutcome> {
    this.passes.push(order);
    const key = `${order.formId} ${order.target} ${order.kind}`;
    const running = (this.#running.get(key) ?? 0) + 1;
    this.#running.set(key, running);
    this.mostAtOnce = Math.max(this.mostAtOnce, running);
    try {
      return await this.script(order, signal);
    } finally {
      this.#running.set(key, running - 1);
    }
  }

  async mark({ formId }: { formId: string }, signal: AbortSignal): Promise<void> {
    this.marks.push(formId);
    await this.markScript(formId, signal);
  }

  /** Passes begun into a target. */
  count(target: string, kind?: PassOrder['kind']): number {
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
