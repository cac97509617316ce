import type { Events } from '../base/events.ts';
import type { QueueEventMap } from '../queue/events.ts';
import type { JobFeed } from '../web/process-metrics.ts';

/** What the queue of this process tells, as its metrics count it. */
export function jobFeed(events: Events<QueueEventMap>): JobFeed {
  return ({ ended, recovered, queueFailed }) => {
    const unsubscribe = [
      events.on('job.completed', (job) => ended({ ...job, code: null })),
      events.on('job.failed', (job) => ended({ ...job, outcome: 'failed' })),
      events.on('job.recovered', recovered),
      events.on('queue.error', queueFailed),
    ];
    return () => {
      for (const end of unsubscribe) end();
    };
  };
}
