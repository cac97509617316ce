import { Session } from 'node:inspector/promises';
import { DatabaseSync } from 'node:sqlite';
import { GCProfiler, getHeapStatistics } from 'node:v8';
import { Client } from 'pg';

/** Bytes that work allocates in the heap of JavaScript: what is used after it, and what was collected meanwhile. */
export async function countAllocated(work: () => Promise<void>): Promise<number> {
  globalThis.gc?.();
  const profiler = new GCProfiler();
  profiler.start();
  const before = getHeapStatistics().used_heap_size;
  await work();
  const after = getHeapStatistics().used_heap_size;
  const collected = profiler.stop().statistics.map(({ beforeGC, afterGC }) => {
    return beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
  });
  return after - before + collected.reduce((sum, bytes) => sum + bytes, 0);
}

/** How often functions of the scripts below a URL are called. */
export async function countCalls(below: string, work: () => Promise<void>): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return result
    .filter(({ url }) => url.startsWith(below))
    .flatMap(({ functions }) => functions)
    .reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
}

/** How many statements are sent to PostgreSQL, or run by SQLite. */
export async function countStatements(work: () => Promise<void>): Promise<number> {
  let many = 0;
  const statement = new DatabaseSync(':memory:').prepare('SELECT 1');
  const counted = <T extends object>(prototype: T, names: readonly (keyof T)[]): void => {
    for (const name of names) {
      const method = prototype[name] as (...args: unknown[]) => unknown;
      Object.assign(prototype, {
        [name](this: unknown, ...args: unknown[]) {
          many++;
          return Reflect.apply(method, this, args);
        },
      });
    }
  };
  counted(Object.getPrototypeOf(statement) as typeof statement, ['run', 'get', 'all', 'iterate']);
  counted(Client.prototype, ['query']);
  many = 0;
  await work();
  return many;
}
