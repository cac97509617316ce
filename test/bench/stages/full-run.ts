import { FORM_ID, WARM_UP_ID } from '../source/canned-source.ts';
import { Program } from './program.ts';
import { type Measured, type StageCall, timed } from './stage.ts';

/** Full runs over the form: a first run, and a run without changes. */
export async function fullRuns(call: StageCall): Promise<Measured[]> {
  await warmUp(call);
  await using runs = await new Program(call).runs();
  const first = await timed('first', call.rows, () => runs.run(FORM_ID));
  const unchanged = await timed('unchanged', call.rows, () => runs.run(FORM_ID));
  return [first, unchanged];
}

async function warmUp(call: StageCall): Promise<void> {
  await using runs = await new Program({ ...call, targetUrl: call.warmUpUrl }).runs();
  for (let time = 0; time < 2; time++) await runs.run(WARM_UP_ID);
}

/** A first run over a source that is slow to answer. */
export async function distantRun(call: StageCall): Promise<Measured[]> {
  await using runs = await new Program(call).runs();
  return [await timed('distant', call.rows, () => runs.run(FORM_ID))];
}
