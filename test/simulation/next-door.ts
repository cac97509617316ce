import type { Clock } from '../../src/base/clock.ts';
import { toMirrorError } from '../../src/base/errors.ts';
import { loadConfig } from '../../src/config.ts';
import type { Store } from '../../src/core/mirror/port.ts';
import { MemoryPlace, MemoryStore } from '../core/memory-store.ts';
import { NextApp, nextCommand } from './next-program.ts';
import type { Job, Printed, Settings } from './program.ts';
import type { SimProcess } from './process.ts';
import type { World } from './world.ts';

/*
 * Simulated processes of the new core. A target's address is that of a SQLite file; a store in memory has it for its name.
 */

const memories = new Map<string, MemoryPlace>();

/** The memory that stands for the file of a target. */
export function memoryAt(path: string): MemoryPlace {
  const place = memories.get(path) ?? new MemoryPlace();
  memories.set(path, place);
  return place;
}

/** Whether targets are in memory: only the new core has such. */
export const isNext = (settings: Settings): boolean =>
  Object.values(settings).some(
    (value) => value.startsWith(SQLITE) && memories.has(value.slice(SQLITE.length)),
  );

const SQLITE = 'sqlite:';

export const forgetMemory = (path: string): void => void memories.delete(path);

/** How the stores of a history are opened. */
export type Opener = (
  url: string,
  clock: Clock,
  history: 'status' | 'full',
  process: SimProcess,
) => Promise<Store>;

const openMemory: Opener = async (url, clock, _history, process) =>
  new MemoryStore(
    memoryAt(url.slice(SQLITE.length)),
    () => clock.now(),
    (what) => process.act(what),
    (end) => void process.handles.add({ close: end }),
  );

const noFile = (path: string): string => {
  throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
};

function appOf(process: SimProcess, settings: Settings, clock: Clock, open: Opener): NextApp {
  const config = loadConfig(settings, noFile, { source: true });
  return new NextApp({
    config,
    clock,
    signal: new AbortController().signal,
    openStore: (name, history) => {
      const url = settings[name === 'default' ? 'TARGET_URL' : `TARGET_${name.toUpperCase()}_URL`];
      return open(url ?? '', clock, history, process);
    },
  });
}

/** Runs one command line in a process. */
export async function nextDoorCommand(
  process: SimProcess,
  settings: Settings,
  args: readonly string[],
  clock: Clock,
): Promise<Printed> {
  try {
    await using app = appOf(process, settings, clock, openMemory);
    const { code, json } = await nextCommand(app, args, clock.now());
    return { code, json, text: JSON.stringify(json) };
  } catch (error) {
    const { code, message } = toMirrorError(error);
    const exit = code === 'SETTINGS' || code === 'USAGE' ? 2 : 1;
    return { code: exit, json: { error: { code, message } }, text: message };
  }
}

/** A `start` or `worker` of the new core. */
export class NextWorker {
  readonly process: SimProcess;
  readonly log = { text: '' };
  readonly #app: NextApp;

  constructor(_world: World, process: SimProcess, settings: Settings, clock: Clock) {
    this.process = process;
    this.#app = appOf(process, settings, clock, openMemory);
  }

  async poll(): Promise<Job[]> {
    const plan = await this.#app.plan(true);
    const { syncs, writeBacks } = await this.#app.poll(plan, null);
    const jobs: Job[] = syncs.map((detail) => ({
      kind: 'sync',
      formId: detail.formId,
      target: detail.target,
      detail: { ...detail, kind: 'incremental' },
    }));
    for (const formId of writeBacks) jobs.push({ kind: 'write-back', formId });
    return jobs;
  }

  async work(job: Job): Promise<{ outcome: string; again: boolean }> {
    try {
      if (job.kind === 'sync') {
        if (!('counts' in job.detail)) throw new Error('a job of the other core');
        const { outcome } = await this.#app.pollJob(job.detail, null);
        return { outcome, again: outcome === 'busy' };
      }
      const { formId } = job;
      const targets = await this.#app.targetsOf(formId);
      const form = { id: formId, slug: formId, name: formId };
      const report = await this.#app.writeBack(form, targets);
      return { outcome: report?.outcome ?? 'done', again: false };
    } catch (error) {
      return { outcome: `failed: ${(error as Error).message}`, again: false };
    }
  }

  async close(): Promise<void> {
    await this.#app[Symbol.asyncDispose]();
  }
}
