import type { FastifyInstance } from 'fastify';
import { type Clock, withinTime } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';

/** A board that shows the jobs of the queue: answers GETs of addresses that begin with `/queue`. */
export interface JobBoard {
  get(path: string): Promise<{
    readonly status: number;
    readonly type: string;
    readonly body: Buffer;
  }>;
}

/** See {@link addQueueRoute}. */
export interface QueueRouteOptions {
  /** Undefined: there is no board. */
  readonly board: JobBoard | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A store that is away may leave a request waiting for ever. */
const LIMIT_MS = 5_000;

/** What the board needs of its own: scripts and styles of this address, and nothing from elsewhere, such as the fonts that it names. */
const BOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';');

/** The jobs of the queue, to look at, behind the same rules as the pages. Nothing but GET is answered. */
export function addQueueRoute(app: FastifyInstance, options: QueueRouteOptions): void {
  const { board, clock, logger } = options;
  if (board === undefined) return;
  const answer = async (path: string) => {
    try {
      return await withinTime(board.get(path), LIMIT_MS, clock);
    } catch (error) {
      logger.warn({ err: error }, 'The page of the queue cannot be shown.');
      return undefined;
    }
  };
  for (const url of ['/queue', '/queue/*']) {
    app.get(url, async (request, reply) => {
      reply.header('content-security-policy', BOARD_POLICY);
      const found = await answer(request.url);
      if (found !== undefined) return reply.code(found.status).type(found.type).send(found.body);
      const text = 'The queue does not answer. The status page says more.';
      return reply.code(503).type('text/plain').send(text);
    });
  }
}
