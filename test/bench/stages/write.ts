import { WARM_UP_ROWS } from '../source/canned-source.ts';
import type { Store } from '../../../src/mirror/port.ts';
import type { FormIdentity, SelectedField, Row } from '../../../src/mirror/types.ts';
import { readPages } from './fetch.ts';
import { Program } from './program.ts';
import { type Measured, type StageCall, timed } from './stage.ts';

/** Rows that a run stores in one batch. */
const BATCH_ROWS = 2_000;

const FORM = { id: 'frm-1', slug: 'orders', name: 'Orders' };
const WARM_UP = { id: 'frm-2', slug: 'warm-up', name: 'Warm-up' };

/** Writes rows that are in memory into a target: once new, and once unchanged. */
export async function writeAlone(call: StageCall): Promise<Measured[]> {
  const program = new Program(call);
  const { rows, fields } = await program.rows(call.rows);
  await using store = await program.store();
  await warmUp(store, rows, fields);
  const measured: Measured[] = [];
  for (const name of ['first', 'unchanged']) {
    measured.push(await timed(name, rows.length, async () => write(store, FORM, rows, fields)));
  }
  return measured;
}

/**
 * Reads and drops all pages while it writes rows that are in memory: the time of a run that had nothing to join and to
 * prove, and in which reading and writing never waited for each other.
 */
export async function readAndWrite(call: StageCall): Promise<Measured[]> {
  const program = new Program(call);
  const { rows, fields } = await program.rows(call.rows);
  await using reader = await program.reader();
  await using store = await program.store();
  await warmUp(store, rows, fields);
  const both = (): Promise<unknown> =>
    Promise.all([readPages(reader, call.rows, call.inFlight), write(store, FORM, rows, fields)]);
  const measured: Measured[] = [];
  for (const name of ['first', 'unchanged']) measured.push(await timed(name, rows.length, both));
  return measured;
}

async function warmUp(
  store: Store,
  rows: readonly Row[],
  fields: readonly SelectedField[],
): Promise<void> {
  const some = rows.slice(0, WARM_UP_ROWS);
  for (let time = 0; time < 2; time++) await write(store, WARM_UP, some, fields);
}

async function write(
  store: Store,
  form: FormIdentity,
  rows: readonly Row[],
  fields: readonly SelectedField[],
): Promise<void> {
  await using open = await store.open(form);
  await open.prepare({ ...form, fields: fields.map(({ id, label }) => ({ id, label })) }, fields);
  for (let at = 0; at < rows.length; at += BATCH_ROWS) {
    await open.commit({ rows: rows.slice(at, at + BATCH_ROWS) });
  }
  await open.finish();
}
