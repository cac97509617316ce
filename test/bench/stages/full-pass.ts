import { FORM_ID, WARM_UP_ID } from '../source/canned-source.ts';
import { Program } from './program.ts';
import { type Measured, type StageCall, timed } from './stage.ts';

/** Full passes over the form: a first one, and one that finds nothing new. */
export async function fullPasses(call: StageCall): Promise<Measured[]> {
  await warmUp(call);
  await using passes = await new Program(call).passes();
  const first = await timed('first', call.rows, () => passes.run(FORM_ID));
  const unchanged = await timed('unchanged', call.rows, () => passes.run(FORM_ID));
  return [first, unchanged];
}

async function warmUp(call: StageCall): Promise<void> {
  await using passes = await new Program({ ...call, targetUrl: call.warmUpUrl }).passes();
  for (let time = 0; time < 2; time++) await passes.run(WARM_UP_ID);
}

/** A first pass over a source that is slow to answer. */
export async function distantPass(call: StageCall): Promise<Measured[]> {
  await using passes = await new Program(call).passes();
  return [await timed('distant', call.rows, () => passes.run(FORM_ID))];
}
