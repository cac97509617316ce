import { MirrorError } from '../../src/base/errors.ts';
import type { OutcomeName } from '../../src/mirror/form-state.ts';
import type { JobHandlers, PollFound } from '../../src/queue/runtime.ts';
import type { SyncOrder } from '../../src/queue/jobs.ts';

/** The work of a run of the fake; may throw. */
type SyncScript = (...call: Parameters<JobHandlers['sync']>) => OutcomeName | Promise<OutcomeName>;

/** An ordinary run. */
export const ordinary = (formId: string, target = 'a'): SyncOrder => {
  return { formId, target, isComparison: false };
};
/** A comparison. */
export const comparison = (formId: string, target = 'a'): SyncOrder => {
  return { formId, target, isComparison: true };
};

/** Work that a test scripts and watches. */
export class FakeHandlers implements JobHandlers {
  /** The result of a poll: by default, an ordinary run in each place. */
  found: (signal: AbortSignal) => PollFound | Promise<PollFound> = () => ({
    syncs: this.#places,
    writeBacks: [],
  });
  script: SyncScript = () => 'ok';
  writeBackScript: (signal: AbortSignal, isAwaited: () => Promise<boolean>) => unknown = () => {};
  polls = 0;
  readonly syncs: SyncOrder[] = [];
  readonly writtenBack: string[] = [];
  /** The most concurrent runs ever on one form in one target, of one kind. */
  mostAtOnce = 0;
  readonly #places: readonly SyncOrder[];
  readonly #running = new Map<string, number>();

  /** `formIds` in each of `targets` are mirrored. */
  constructor(formIds: readonly string[] = ['f1'], targets: readonly string[] = ['a']) {
    this.#places = formIds.flatMap((formId) => targets.map((target) => ordinary(formId, target)));
  }

  async poll(signal: AbortSignal): Promise<PollFound> {
    this.polls++;
    return this.found(signal);
  }

  async sync(...call: Parameters<JobHandlers['sync']>): Promise<OutcomeName> {
    const [order] = call;
    this.syncs.push(order);
    const key = JSON.stringify(order);
    const running = (this.#running.get(key) ?? 0) + 1;
    this.#running.set(key, running);
    this.mostAtOnce = Math.max(this.mostAtOnce, running);
    try {
      return await this.script(...call);
    } finally {
      this.#running.set(key, running - 1);
    }
  }

  async writeBack(
    formId: string,
    signal: AbortSignal,
    isAwaited: () => Promise<boolean>,
  ): Promise<void> {
    this.writtenBack.push(formId);
    await this.writeBackScript(signal, isAwaited);
  }

  /** Runs begun into a target. */
  count(target: string, isComparison?: boolean): number {
    return this.syncs.filter(
      (order) =>
        order.target === target &&
        (isComparison === undefined || order.isComparison === isComparison),
    ).length;
  }
}

/** Stops something until it is opened, or until the signal aborts. */
export class Gate {
  readonly #opened = Promise.withResolvers<void>();

  open(): void {
    this.#opened.resolve();
  }

  async wait(signal: AbortSignal): Promise<'ok'> {
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(new MirrorError('CANCELLED', 'Stopped on request.'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    await Promise.race([this.#opened.promise, aborted.promise]);
    return 'ok';
  }
}
