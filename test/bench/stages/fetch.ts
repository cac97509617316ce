import { WARM_UP_ROWS } from '../source/canned-source.ts';
import { eachPage, type FormReader, Program } from './program.ts';
import { type Measured, type StageCall, timed } from './stage.ts';

/** Reads the pages through the typed client: JSON, validation, items. */
export async function readTyped(call: StageCall): Promise<Measured[]> {
  await using reader = await new Program(call).reader();
  await readPages(reader, WARM_UP_ROWS, call.inFlight);
  const read = (): Promise<void> => readPages(reader, call.rows, call.inFlight);
  return [await timed('fetch', call.rows, read)];
}

/** Reads the first pages through the typed client and drops them. */
export const readPages = (reader: FormReader, rows: number, inFlight: number): Promise<void> =>
  eachPage(rows, inFlight, async (page) => {
    const { items } = await reader.page(page);
    if (items.length === 0) throw new Error(`page ${page} is empty`);
  });
