import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import { fastify, type FastifyInstance } from 'fastify';
import type { AnyQueue } from './queues.ts';

/*
 * Bull Board over the queues of this mirror, for looking only. It is loaded at the first request, and called within the process, so
 * that the status page's own rules apply to all of its addresses.
 */

const BOARD_PATH = '/queue';

/** Where the published package has the board's pages. In a checkout, the board finds those of its own package. */
const PAGES = join(import.meta.dirname, 'board');

/** Shown in place of a job's payload and result, which are not for readers of this page (L11, L15). */
const HIDDEN = 'not shown';

/** Opens the board, for addresses that begin with {@link BOARD_PATH}. The caller keeps the queues. */
export async function openBoard(queues: readonly AnyQueue[]): Promise<FastifyInstance> {
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
  return app;
}
