import type { Clock } from '../../src/base/clock.ts';
import { toMirrorError } from '../../src/base/errors.ts';
import { loadConfig } from '../../src/config.ts';
import type { Store } from '../../src/core/mirror/port.ts';
import type { SyncJob } from '../../src/core/sync/poll.ts';
import { openSheetStore } from '../../src/core/targets/google-sheets/store.ts';
import { MemoryPlace, MemoryStore } from '../core/memory-store.ts';
import { NextApp, nextCommand } from './next-program.ts';
import type { Job, Printed, Settings } from './program.ts';
import type { SimProcess } from './process.ts';
import type { World } from './world.ts';

/*
 * Simulated processes of the new core. A target's address is that of a SQLite file; a store in memory has it for its name.
 */

/** How the stores of a history are opened. */
type Opener = (
  url: string,
  clock: Clock,
  options: { readonly name: string; readonly history: 'status' | 'full' },
  process: SimProcess,
) => Promise<Store>;

const SQLITE = 'sqlite:';
const memories = new Map<string, MemoryPlace>();
/** By path, the targets that the new core writes. */
const openers = new Map<string, Opener>();

const pathOf = (url: string): string => (url.startsWith(SQLITE) ? url.slice(SQLITE.length) : url);

/** Whether the new core writes the targets of these settings. */
export const isNext = (settings: Settings): boolean =>
  Object.values(settings).some((value) => openers.has(pathOf(value)));

/** A target in memory, which has the path for its name. */
export function newMemory(path: string): MemoryPlace {
  const place = new MemoryPlace();
  memories.set(path, place);
  openers.set(path, openMemory);
  return place;
}

/** A spreadsheet of an emulator that the new core opens. */
export const newSheetUrl = (url: string, emulatorUrl: string): void =>
  void openers.set(url, async (address, clock, { name }, process) =>
    openSheetStore(address.replace(/^sheets:/, ''), {
      name,
      clock,
      emulatorUrl,
      random: process.random,
    }),
  );

export function forgetPlace(path: string): void {
  openers.delete(path);
  memories.delete(path);
}

const openMemory: Opener = async (url, clock, _options, process) =>
  new MemoryStore(
    memories.get(url.slice(SQLITE.length)) ?? new MemoryPlace(),
    () => clock.now(),
    (what) => process.act(what),
    (end) => void process.handles.add({ close: end }),
  );

const noFile = (path: string): string => {
  throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
};

function appOf(process: SimProcess, settings: Settings, clock: Clock): NextApp {
  const config = loadConfig(settings, noFile, { source: true });
  return new NextApp({
    config,
    clock,
    signal: new AbortController().signal,
    openStore: (name, history) => {
      const url = settings[name === 'default' ? 'TARGET_URL' : `TARGET_${name.toUpperCase()}_URL`];
      const open = openers.get(pathOf(url ?? ''));
      if (open === undefined) throw new Error(`nobody knows the target ${name}`);
      return open(url ?? '', clock, { name, history }, process);
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
    await using app = appOf(process, settings, clock);
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
    this.#app = appOf(process, settings, clock);
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
        const detail = job.detail as SyncJob;
        const { outcome } = await this.#app.pollJob(detail, null);
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
