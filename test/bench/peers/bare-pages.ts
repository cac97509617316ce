import { type Dispatcher, Pool } from 'undici';
import { FORM_ID, WARM_UP_ROWS } from '../source/canned-source.ts';
import { eachPage, PAGE_ROWS } from '../stages/program.ts';
import { type Measured, type StageCall, timed } from '../stages/stage.ts';

/** Reads the pages with undici and `JSON.parse`: the rate of one thread for a client that checks nothing. */
export async function readParsed({ env, rows, inFlight }: StageCall): Promise<Measured[]> {
  const url = new URL(env.FORMS_API_URL);
  const pool = new Pool(url.origin, { connections: inFlight, pipelining: 1 });
  const headers = { authorization: `Bearer ${env.FORMS_API_KEY}` };
  const read = async (page: number): Promise<void> => {
    const path = `${url.pathname}/submissions?formId=${FORM_ID}&page=${page}&limit=${PAGE_ROWS}`;
    const body = await bodyOf(pool, { method: 'GET', path, headers });
    const { items } = JSON.parse(body.toString()) as { items: readonly unknown[] };
    if (items.length === 0) throw new Error(`page ${page} is empty`);
  };
  await eachPage(WARM_UP_ROWS, inFlight, read);
  const measured = await timed('parsed', rows, () => eachPage(rows, inFlight, read));
  await pool.close();
  return [measured];
}

/** With a handler, because a stream for each body would take longer than parsing it. */
function bodyOf(pool: Pool, options: Dispatcher.DispatchOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    pool.dispatch(options, {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData: (_controller, chunk) => void chunks.push(chunk),
      onResponseEnd: () => resolve(Buffer.concat(chunks)),
      onResponseError: (_controller, error) => reject(error),
    });
  });
}
