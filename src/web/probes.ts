import type { FastifyInstance, FastifyReply } from 'fastify';
import type { HealthState, QueueState } from '../health/report.ts';

/** A process that supervisors ask. */
export interface Probed {
  /** The queue, without which it can do nothing. Never rejects. */
  readonly queue: () => Promise<Pick<QueueState, 'isReachable' | 'trouble'>>;
  /** Of `start`: whether it has read the targets, and the state of the copy. */
  readonly mirror?: () => { readonly hasRead: boolean; readonly state: HealthState };
}

/**
 * `/live`: whether this process answers; a restart helps with nothing else. `/health`: whether it can do its work.
 * `/ready`: whether it has also read the targets. `ok` is about this process; `mirror` is the state of the copy, which a restart
 * does not change.
 */
export function addProbes(app: FastifyInstance, { queue, mirror }: Probed): void {
  const answer = async (reply: FastifyReply, isStarting: boolean): Promise<FastifyReply> => {
    const reason = isStarting ? 'Starting.' : (await queue()).trouble?.message;
    const ok = reason === undefined;
    return reply.code(ok ? 200 : 503).send({ ok, reason, mirror: mirror?.().state });
  };
  app.get('/live', async () => ({ ok: true }));
  app.get('/health', async (_request, reply) => answer(reply, false));
  app.get('/ready', async (_request, reply) => answer(reply, mirror?.().hasRead === false));
}
