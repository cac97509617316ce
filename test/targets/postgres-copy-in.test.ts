import type { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { copyIn } from '../../src/targets/sql/postgres/postgres-copy-in.ts';

/** What pg does with a query that it runs. */
interface RunningQuery {
  handleCopyInResponse(connection: unknown): void;
  handleCommandComplete(message: { readonly text: string }, connection: unknown): void;
  handleError(error: Error, connection: unknown): void;
  handleReadyForQuery(connection: unknown): void;
}

describe('texts for COPY', () => {
  /** A connection whose system takes a message when it is told to. */
  function stage() {
    const sent: string[] = [];
    let taken: ((error?: Error) => void) | undefined;
    const connection = {
      stream: {
        write: (message: Buffer, done: (error?: Error) => void) => {
          expect(message.readInt32BE(1)).toBe(message.length - 1);
          sent.push(message.toString('latin1', 0, 1) + message.toString('utf8', 5));
          taken = done;
        },
      },
      endCopyFrom: () => sent.push('end'),
      sendCopyFail: () => sent.push('fail'),
    };
    let query: RunningQuery | undefined;
    const client = { query: (one: RunningQuery) => (query = one) } as unknown as Client;
    const settled = async (): Promise<void> => {
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    };
    return {
      client,
      connection,
      sent,
      query: () => query!,
      take: async (error?: Error): Promise<void> => {
        taken?.(error);
        await settled();
      },
    };
  }

  it('are made one after the other, each once the one before is with the system', async () => {
    const { client, connection, sent, query, take } = stage();
    const made: string[] = [];
    const texts = function* () {
      for (const text of ['a\n', 'é\n']) {
        made.push(text);
        yield text;
      }
    };
    const copied = copyIn(client, 'COPY t FROM STDIN', texts(), 1_000);
    query().handleCopyInResponse(connection);
    await take();
    expect([sent, made]).toEqual([
      ['da\n', 'dé\n'],
      ['a\n', 'é\n'],
    ]);
    await take();
    expect(sent.at(-1)).toBe('end');
    query().handleCommandComplete({ text: 'COPY 2' }, connection);
    query().handleReadyForQuery(connection);
    expect(await copied).toBe(2);
  });

  it('end when the server refuses: the next COPY would take what comes later for its own', async () => {
    const { client, connection, sent, query, take } = stage();
    const copied = copyIn(client, 'COPY t FROM STDIN', ['a\n', 'b\n'], 1_000);
    query().handleCopyInResponse(connection);
    query().handleError(new Error('refused'), connection);
    await expect(copied).rejects.toThrow('refused');
    await take();
    expect(sent).toEqual(['da\n']);
  });

  it('end with the connection, of which pg tells', async () => {
    const { client, connection, sent, query, take } = stage();
    const copied = copyIn(client, 'COPY t FROM STDIN', ['a\n', 'b\n'], 1_000);
    query().handleCopyInResponse(connection);
    await take(new Error('lost'));
    query().handleError(new Error('lost'), connection);
    await expect(copied).rejects.toThrow('lost');
    expect(sent).toEqual(['da\n']);
  });

  it('that cannot be made take the whole statement back, and their error is its error', async () => {
    const { client, connection, sent, query, take } = stage();
    const texts = function* (): Generator<string> {
      yield 'a\n';
      throw new TypeError('a defect');
    };
    const copied = copyIn(client, 'COPY t FROM STDIN', texts(), 1_000);
    query().handleCopyInResponse(connection);
    await take();
    expect(sent).toEqual(['da\n', 'fail']);
    query().handleError(new Error('COPY failed'), connection);
    await expect(copied).rejects.toThrow('a defect');
  });
});
