import { WARM_UP_ROWS } from '../source/canned-source.ts';
import type { SelectedField, Row } from '../../../src/mirror/types.ts';
import { readPages } from './fetch.ts';
import { Program } from './program.ts';
import { BATCH_ROWS, type RowTarget } from './row-target.ts';
import { type Measured, type StageCall, timed } from './stage.ts';

const FORM = { id: 'frm-1', slug: 'orders', name: 'Orders' };
const WARM_UP = { id: 'frm-2', slug: 'warm-up', name: 'Warm-up' };

/** Writes rows that are in memory into a target: a first time, and unchanged. */
export async function writeAlone(call: StageCall): Promise<Measured[]> {
  const program = new Program(call);
  const { rows, fields } = await program.rows(call.rows);
  await using target = await program.target();
  await warmUp(target, rows, fields);
  const measured: Measured[] = [];
  for (const name of ['first', 'unchanged']) {
    measured.push(await timed(name, rows.length, async () => write(target, FORM, rows, fields)));
  }
  return measured;
}

/**
 * Reads all pages, of which nothing is made, while it writes rows that are in memory: what a run would take that had nothing
 * to join and to prove, and in which neither ever waited for the other.
 */
export async function readAndWrite(call: StageCall): Promise<Measured[]> {
  const program = new Program(call);
  const { rows, fields } = await program.rows(call.rows);
  await using client = await program.client();
  await using target = await program.target();
  await warmUp(target, rows, fields);
  const both = (): Promise<unknown> =>
    Promise.all([readPages(client, call.rows, call.inFlight), write(target, FORM, rows, fields)]);
  const measured: Measured[] = [];
  for (const name of ['first', 'unchanged']) measured.push(await timed(name, rows.length, both));
  return measured;
}

async function warmUp(
  target: RowTarget,
  rows: readonly Row[],
  fields: readonly SelectedField[],
): Promise<void> {
  const some = rows.slice(0, WARM_UP_ROWS);
  for (let time = 0; time < 2; time++) await write(target, WARM_UP, some, fields);
}

async function write(
  target: RowTarget,
  form: typeof FORM,
  rows: readonly Row[],
  fields: readonly SelectedField[],
): Promise<void> {
  const batches = Array.from({ length: Math.ceil(rows.length / BATCH_ROWS) }, (_, at) =>
    rows.slice(at * BATCH_ROWS, (at + 1) * BATCH_ROWS),
  );
  await target.write(form, fields, batches);
}
