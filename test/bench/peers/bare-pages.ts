import { type Dispatcher, Pool } from 'undici';
import { FORM_ID, WARM_UP_ROWS } from '../source/canned-source.ts';
import { PAGE_ROWS } from '../stages/program.ts';
import { type Measured, type StageCall, timed } from '../stages/stage.ts';
import type { WireRow } from './wire-rows.ts';

/** The source without any code of the program: undici and `JSON.parse`. Dispose of it when done. */
export class BarePages implements AsyncDisposable {
  readonly #call: StageCall;
  readonly #pool: Pool;
  readonly #path: string;

  constructor(call: StageCall) {
    const url = new URL(call.env.FORMS_API_URL);
    this.#call = call;
    this.#pool = new Pool(url.origin, { connections: call.inFlight, pipelining: 1 });
    this.#path = url.pathname;
  }

  /** The first rows, page by page, as many pages asked for at once as the call says. */
  async *read(rows: number): AsyncGenerator<WireRow[]> {
    const pages = Math.ceil(rows / PAGE_ROWS);
    const ahead: Promise<WireRow[]>[] = [];
    for (let next = 1; next <= pages || ahead.length > 0;) {
      while (ahead.length < this.#call.inFlight && next <= pages) ahead.push(this.#page(next++));
      yield await ahead.shift()!;
    }
  }

  async #page(page: number): Promise<WireRow[]> {
    const { FORMS_API_KEY: key } = this.#call.env;
    const path = `${this.#path}/submissions?formId=${FORM_ID}&page=${page}&limit=${PAGE_ROWS}`;
    const headers = { authorization: `Bearer ${key}` };
    const body = await this.#body({ method: 'GET', path, headers });
    return (JSON.parse(body.toString()) as { items: WireRow[] }).items;
  }

  /** By a handler, as a stream for each body would take more than parsing it does. */
  #body(options: Dispatcher.DispatchOptions): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      this.#pool.dispatch(options, {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd: () => resolve(Buffer.concat(chunks)),
        onResponseError: (_controller, error) => reject(error),
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.close();
  }
}

/** Reads the pages and parses them: what one thread gives a client that checks nothing. */
export async function readParsed(call: StageCall): Promise<Measured[]> {
  await using pages = new BarePages(call);
  const read = async (rows: number): Promise<void> => {
    let found = 0;
    for await (const items of pages.read(rows)) found += items.length;
    if (found < rows) throw new Error(`${found} rows of ${rows}`);
  };
  await read(WARM_UP_ROWS);
  return [await timed('parsed', call.rows, () => read(call.rows))];
}
