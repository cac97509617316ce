import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readParsed } from './peers/bare-pages.ts';
import { upsertEachBatch } from './peers/mysql-upsert.ts';
import { copyAlone } from './peers/postgres-copy.ts';
import { readTyped } from './stages/fetch.ts';
import { distantRun, fullRuns } from './stages/full-run.ts';
import type { Measured, StageCall } from './stages/stage.ts';
import { readAndWrite, writeAlone } from './stages/write.ts';

// Measures one stage in its own process, so that no stage warms up for another. Prints the measurements as JSON.

const STAGES: Readonly<Record<string, (call: StageCall) => Promise<Measured[]>>> = {
  parsed: readParsed,
  fetch: readTyped,
  write: writeAlone,
  both: readAndWrite,
  full: fullRuns,
  distant: distantRun,
  'distant-parsed': readParsed,
  copy: copyAlone,
  upsert: upsertEachBatch,
};

const call = JSON.parse(process.argv[2] ?? '') as StageCall;
// As at the program's start; another checkout may not have it.
const heap = join(call.checkout, 'bin/heap-growth.js');
if (existsSync(heap)) ((await import(heap)) as { boundHeapGrowth(): boolean }).boundHeapGrowth();
const measure = STAGES[call.stage];
if (measure === undefined) throw new Error(`no stage ${call.stage}`);
console.log(JSON.stringify(await measure(call)));
