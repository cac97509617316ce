import type { Writable } from 'node:stream';
import { type Client, Query, type QueryResult } from 'pg';

/** What pg hands to a query whose COPY … FROM STDIN the server is ready for. */
interface CopyConnection {
  readonly stream: Pick<Writable, 'write'>;
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

/**
 * A query of pg's that has texts to copy. The next one is made once the one before is with the system: so the server takes
 * in one while the next is made, and one that is slow holds up no memory here.
 */
class CopyQuery extends Query {
  readonly query_timeout: number;
  /** What `texts` threw. */
  failure: unknown;
  readonly #texts: Iterable<string>;
  /** True once the server has ended it: what is sent then may be taken for a part of the next one. */
  #isOver = false;

  constructor(
    sql: string,
    texts: Iterable<string>,
    timeoutMs: number,
    done: (error: Error | null | undefined, result: unknown) => void,
  ) {
    super(sql, (error: Error | null | undefined, result: unknown) => {
      this.#isOver = true;
      done(error, result);
    });
    this.query_timeout = timeoutMs;
    this.#texts = texts;
  }

  /** Called by pg. */
  handleCopyInResponse(connection: CopyConnection): void {
    void this.#send(connection);
  }

  async #send(connection: CopyConnection): Promise<void> {
    try {
      for (const text of this.#texts) {
        if (!(await isWritten(connection, copyData(text))) || this.#isOver) return;
      }
    } catch (error) {
      if (this.#isOver) return;
      this.failure = error;
      connection.sendCopyFail('the rows could not be written');
      return;
    }
    connection.endCopyFrom();
  }
}

/** The message CopyData, https://www.postgresql.org/docs/current/protocol-message-formats.html, in one piece. */
function copyData(text: string): Buffer {
  const bytes = Buffer.byteLength(text);
  const message = Buffer.allocUnsafe(5 + bytes);
  message.write('d', 0, 'latin1');
  message.writeInt32BE(4 + bytes, 1);
  message.write(text, 5, 'utf8');
  return message;
}

/** Whether the system took it; of a connection that is lost pg tells. */
const isWritten = ({ stream }: CopyConnection, message: Buffer): Promise<boolean> =>
  new Promise((done) => stream.write(message, (error) => done((error ?? null) === null)));
