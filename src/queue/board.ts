import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import { fastify } from 'fastify';
import type { AnyQueue } from './queues.ts';

/*
 * Bull Board over the queues of this mirror: to look at, not to act with. It is loaded when someone first asks for it, and asked
 * in process, so that the status page's own rules hold for every address of it.
 */

/** What the board answers. */
export interface BoardAnswer {
  readonly status: number;
  /** The media type. */
  readonly type: string;
  readonly body: Buffer;
}

/** A board that is open. */
export interface QueueBoard {
  /** A GET of an address that begins with {@link BOARD_PATH}. */
  get(path: string): Promise<BoardAnswer>;
  close(): Promise<void>;
}

/** Where the board lives. */
const BOARD_PATH = '/queue';

/** Where the published package has the board's pages. In a checkout the board finds those of its own package. */
const PAGES = join(import.meta.dirname, 'board');

/** Shown in place of a job's payload and result: they are not for readers of this page (L11, L15). */
const HIDDEN = 'not shown';

/** Opens the board. The queues stay the caller's. */
export async function openBoard(queues: readonly AnyQueue[]): Promise<QueueBoard> {
  const server = new FastifyAdapter();
  server.setBasePath(BOARD_PATH);
  createBullBoard({
    queues: queues.map((queue) => {
      const shown = new BullMQAdapter(queue as never, { readOnlyMode: true, allowRetries: false });
      for (const part of ['data', 'returnValue'] as const) shown.setFormatter(part, () => HIDDEN);
      return shown;
    }),
    serverAdapter: server,
    options: {
      ...(existsSync(PAGES) ? { uiBasePath: PAGES } : {}),
      uiConfig: {
        boardTitle: 'forms-mirror: queue',
        favIcon: { default: 'static/images/logo.svg', alternative: 'static/favicon-32x32.png' },
        miscLinks: [{ text: 'Status page', url: '/' }],
        hideDocsLink: true,
        locale: { lng: 'en-US' },
      },
    },
  });
  const app = fastify({ logger: false, routerOptions: { maxParamLength: 2_000 } });
  await app.register(server.registerPlugin(), { prefix: BOARD_PATH });
  return {
    async get(path) {
      const { statusCode, headers, rawPayload } = await app.inject({ method: 'GET', url: path });
      if (statusCode < 500) {
        const type = headers['content-type'] ?? 'application/octet-stream';
        return { status: statusCode, type, body: rawPayload };
      }
      // Its own message would quote the error.
      const body = Buffer.from(JSON.stringify({ error: 'The queue cannot be read just now.' }));
      return { status: 503, type: 'application/json; charset=utf-8', body };
    },
    close: () => app.close(),
  };
}
