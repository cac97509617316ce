import { Pool } from 'undici';
import type { FormsClient } from '../../../src/forms/client.ts';
import { FORM_ID, WARM_UP_ROWS } from '../source/canned-source.ts';
import { eachPage, Program } from './program.ts';
import { type Measured, type StageCall, timed } from './stage.ts';

/** Reads the pages and does nothing with them: what undici and this machine give. */
export async function readBytes({ env, rows, inFlight }: StageCall): Promise<Measured[]> {
  const url = new URL(env.FORMS_API_URL);
  const headers = { authorization: `Bearer ${env.FORMS_API_KEY}` };
  const pool = new Pool(url.origin, { connections: inFlight, pipelining: 1 });
  const read = async (page: number): Promise<void> => {
    const path = `${url.pathname}/submissions?formId=${FORM_ID}&page=${page}&limit=100`;
    const { body } = await pool.request({ method: 'GET', path, headers });
    let bytes = 0;
    for await (const chunk of body) bytes += (chunk as Buffer).length;
    if (bytes < 50_000) throw new Error(`page ${page} has ${bytes} bytes`);
  };
  await eachPage(WARM_UP_ROWS, inFlight, read);
  const measured = await timed('bytes', rows, () => eachPage(rows, inFlight, read));
  await pool.close();
  return [measured];
}

/** The same through the typed client: JSON, validation, items. */
export async function readTyped(call: StageCall): Promise<Measured[]> {
  await using client = await new Program(call).client();
  await readPages(client, WARM_UP_ROWS, call.inFlight);
  const read = (): Promise<void> => readPages(client, call.rows, call.inFlight);
  return [await timed('fetch', call.rows, read)];
}

/** Reads the first pages through the typed client and drops them. */
export const readPages = (client: FormsClient, rows: number, inFlight: number): Promise<void> =>
  eachPage(rows, inFlight, async (page) => {
    const { items } = await client.listSubmissions({ formId: FORM_ID, page });
    if (items.length === 0) throw new Error(`page ${page} is empty`);
  });
