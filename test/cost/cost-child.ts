import { FORM_ID, WARM_UP_ID } from '../bench/source/canned-source.ts';
import { Program } from '../bench/stages/program.ts';
import type { StageCall } from '../bench/stages/stage.ts';
import { countAllocated, countCalls, countStatements } from './counters.ts';

// Counts what a piece of work costs, in a process of its own that compiles nothing in the background. Started with the name of
// a counter, and with what to do as for the bench; prints a count for each part of the work as JSON.

const [, , counter = '', text = ''] = process.argv;
const call = JSON.parse(text) as StageCall;
const program = new Program(call);
const source = new URL('../../src/', import.meta.url).href;

const COUNTERS: Readonly<Record<string, (work: () => Promise<void>) => Promise<number>>> = {
  bytes: countAllocated,
  calls: (work) => countCalls(source, work),
  statements: countStatements,
};
const count = COUNTERS[counter]!;

if (call.stage === 'join') {
  const work = async (): Promise<void> => void (await program.rows(call.rows));
  await work();
  console.log(JSON.stringify({ join: await count(work) }));
} else {
  await using passes = await program.passes();
  await passes.run(WARM_UP_ID);
  const first = await count(() => passes.run(FORM_ID));
  const unchanged = await count(() => passes.run(FORM_ID));
  console.log(JSON.stringify({ first, unchanged }));
}
