import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import type { Job } from 'bullmq';
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

/** Shown in place of a job's payload: payloads are not for readers of this page (L11, L15). */
const HIDDEN = 'not shown';

/** Opens the board. The queues stay the caller's. */
export async function openBoard(queues: readonly AnyQueue[]): Promise<QueueBoard> {
  const server = new FastifyAdapter();
  server.setBasePath(BOARD_PATH);
  createBullBoard({
    queues: queues.map(
      (queue) => new HidingAdapter(queue as never, { readOnlyMode: true, allowRetries: false }),
    ),
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

type Schedulers = Awaited<ReturnType<BullMQAdapter['getJobSchedulers']>>;

/** Removes payloads from everything that any part of the board reads. */
class HidingAdapter extends BullMQAdapter {
  override async getJob(id: string): Promise<Job | undefined> {
    const job: Job | undefined = await super.getJob(id);
    return job && hide(job);
  }

  override async getJobs(...which: Parameters<BullMQAdapter['getJobs']>): Promise<Job[]> {
    return (await super.getJobs(...which)).map(hide);
  }

  override async getJobSchedulers(): Promise<Schedulers> {
    const schedulers = await super.getJobSchedulers();
    return schedulers.map((scheduler) => Object.assign({}, scheduler, { template: undefined }));
  }

  override async getJobLogs(): Promise<string[]> {
    return [];
  }
}

/** The job was read for this answer only. */
function hide(job: Job): Job {
  job.data = HIDDEN;
  job.returnvalue = null;
  job.stacktrace = [];
  return job;
}
