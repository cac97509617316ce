import { MirrorError } from '../../src/base/errors.ts';
import type { LookRecord } from '../../src/mirror/look-record.ts';
import type { FormWriter, Target } from '../../src/mirror/target.ts';

/** Thrown in place of a kill -9: nothing that the process would have done afterwards happens. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/**
 * Which write goes wrong: before it takes effect, or after it took effect and before it returns; and whether the
 * process dies or the write fails.
 */
export interface CrashPoint {
  readonly afterWrites: number;
  readonly applied: boolean;
  readonly dies: boolean;
}

/** One process's life. Once dead, no write of it takes effect any more. */
export class Life {
  #writes = 0;
  dead = false;
  readonly #point: CrashPoint | undefined;

  constructor(point: CrashPoint | undefined) {
    this.#point = point;
  }

  async write<T>(effect: () => Promise<T>): Promise<T> {
    if (this.dead) throw new Crash();
    if (this.#point === undefined || this.#writes++ !== this.#point.afterWrites) return effect();
    this.dead = this.#point.dies;
    if (this.#point.applied) await effect();
    throw this.dead ? new Crash() : new MirrorError('TARGET_FAILED', 'The target failed.');
  }
}

/** A target whose writes end with the process's life. Its lock is released, as kill -9 releases it. */
export function mortal(target: Target, life: Life): Target {
  return new Proxy(target, {
    get(inner, name) {
      const value: unknown = Reflect.get(inner, name);
      if (typeof value !== 'function') return value;
      if (name === 'recordLook') {
        return (look: LookRecord) => life.write(() => inner.recordLook(look));
      }
      if (name !== 'openWriter') return value.bind(inner);
      return async (...args: Parameters<Target['openWriter']>) => {
        if (life.dead) throw new Crash();
        return mortalWriter(await inner.openWriter(...args), life);
      };
    },
  });
}

const WRITES = new Set([
  'prepare',
  'apply',
  'markDeleted',
  'setStatuses',
  'recordRefusals',
  'planWindows',
  'saveWindow',
  'forget',
  'remember',
  'purgeDeleted',
  'finish',
]);

function mortalWriter(writer: FormWriter, life: Life): FormWriter {
  return new Proxy(writer, {
    get(inner, name) {
      const value: unknown = Reflect.get(inner, name);
      if (typeof value !== 'function') return value;
      if (!WRITES.has(String(name))) return value.bind(inner);
      return (...args: unknown[]) => life.write(() => value.apply(inner, args) as Promise<unknown>);
    },
  });
}
