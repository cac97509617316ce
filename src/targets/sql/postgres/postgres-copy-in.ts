import { type Client, Query, type QueryResult } from 'pg';

/** What pg hands to a query whose COPY … FROM STDIN the server is ready for. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

/**
 * Runs statements of which one is a COPY … FROM STDIN, which takes `texts`; how many rows it stored. Rejects with the error
 * of the server, or with that of `texts`, where nothing is stored.
 */
export async function copyIn(
  client: Client,
  sql: string,
  texts: Iterable<string>,
  timeoutMs: number,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const query = new CopyQuery(sql, texts, timeoutMs, (error, result) => {
    if (error === undefined || error === null) resolve(result);
    else reject(error);
  });
  client.query(query);
  const results = await promise.catch((error: unknown) => {
    throw query.failure ?? error;
  });
  const all = (Array.isArray(results) ? results : [results]) as QueryResult[];
  return all.find(({ command }) => command === 'COPY')?.rowCount ?? 0;
}

/** A query of pg's that has texts to copy. pg sends what it is given at once and holds what the network is too slow for. */
class CopyQuery extends Query {
  readonly query_timeout: number;
  /** What `texts` threw. */
  failure: unknown;
  readonly #texts: Iterable<string>;

  constructor(
    sql: string,
    texts: Iterable<string>,
    timeoutMs: number,
    done: (error: Error | null | undefined, result: unknown) => void,
  ) {
    super(sql, done);
    this.query_timeout = timeoutMs;
    this.#texts = texts;
  }

  /** Called by pg. */
  handleCopyInResponse(connection: CopyConnection): void {
    try {
      for (const text of this.#texts) connection.sendCopyFromChunk(Buffer.from(text));
      connection.endCopyFrom();
    } catch (error) {
      this.failure = error;
      connection.sendCopyFail('the rows could not be written');
    }
  }
}
