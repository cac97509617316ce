import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from '../support/child.ts';
import { scratchFolder } from '../support/scratch.ts';
import { SQL_SERVERS, type TestServer } from '../support/servers.ts';
import { DISTANCE, type StageName } from './lines.ts';
import { CannedSource } from './source/canned-source.ts';
import type { Measured, StageCall } from './stages/stage.ts';

const STAGE_CHILD = join(import.meta.dirname, 'stage-child.ts');

/** Whether a stage has code of the program. The others are measured once per round, for all checkouts. */
const isOurs = (stage: StageName): boolean => /^(fetch$|(write|both|full|distant)@)/.test(stage);

/** Measures by round; the names are `<stage>.<measure>`. */
export type Samples = Record<string, Measured[]>;

/** The options of rounds. */
export interface RoundOptions {
  readonly stages: readonly StageName[];
  /** Folders of checkouts, by the names that their samples get. */
  readonly programs: Readonly<Record<string, string>>;
  readonly rounds: number;
  readonly rows: number;
  readonly onStage: (line: string) => void;
}

/**
 * Runs all stages one after another, each in its own process, round after round. Returns the samples of each program.
 */
export async function measureRounds(options: RoundOptions): Promise<Record<string, Samples>> {
  const { stages, programs, rounds } = options;
  const servers = new Map<string, TestServer>();
  const samples: Record<string, Samples> = {};
  for (const name of Object.keys(programs)) samples[name] = {};
  try {
    for (const kind of new Set(stages.map(kindOf))) {
      const server = await SQL_SERVERS[kind]?.start();
      if (server !== undefined) servers.set(kind, server);
    }
    await using source = await CannedSource.start(options.rows);
    for (let round = 0; round < rounds; round++) {
      for (const stage of stages) {
        const all = Object.keys(programs);
        const names = isOurs(stage) ? all : all.slice(0, 1);
        // The first program of one round is the last of the next.
        for (const name of round % 2 === 0 ? names : names.toReversed()) {
          const measured = await runStage(stage, programs[name]!, source, servers, options);
          const owners = isOurs(stage) ? [name] : all;
          for (const one of measured) {
            for (const owner of owners) (samples[owner]![keyOf(stage, one)] ??= []).push(one);
          }
          options.onStage(`round ${round + 1}, ${name}: ${stage} ${shown(measured)}`);
        }
      }
    }
  } finally {
    for (const server of servers.values()) await server.stop();
  }
  return samples;
}

const kindOf = (stage: StageName): string => stage.split('@')[1] ?? '';

const keyOf = (stage: StageName, { name }: Measured): string =>
  stage === name ? stage : `${stage}.${name}`;

const shown = (measured: readonly Measured[]): string =>
  measured
    .map(({ name, rows, ms }) => `${name} ${Math.round((rows / ms) * 1_000)} rows/s`)
    .join(', ');

async function runStage(
  name: StageName,
  checkout: string,
  source: CannedSource,
  servers: ReadonlyMap<string, TestServer>,
  { rows }: RoundOptions,
): Promise<Measured[]> {
  const { inFlight, latencyMs } = DISTANCE;
  const [stage = ''] = name.split('@');
  const server = servers.get(kindOf(name));
  const folder = scratchFolder('bench', 512);
  const targetAt = async (file: string): Promise<string> =>
    server === undefined
      ? `sqlite:${join(folder, file)}`
      : SQL_SERVERS[kindOf(name)]!.database(server);
  const [targetUrl, warmUpUrl] = [await targetAt('copy.sqlite'), await targetAt('warm-up.sqlite')];
  await source.setLatency(stage.startsWith('distant') ? latencyMs : 0);
  try {
    const { env } = source;
    const target = { targetUrl, warmUpUrl, folder };
    const call: StageCall = { stage, checkout, env, rows, inFlight, ...target };
    const child = new Child(STAGE_CHILD, [JSON.stringify(call)], {}, folder);
    const { code } = await child.ended;
    if (code !== 0) throw new Error(`${name} failed: ${child.stderr.slice(-2_000)}`);
    return JSON.parse(child.lines.at(-1) ?? '') as Measured[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
