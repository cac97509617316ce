import { once } from 'node:events';
import type { ExitCode } from '../base/exit-codes.ts';
import type { CommandCall } from './command-spec.ts';
import { openApp, openQueue } from './open-app.ts';
import { recordThisProcess } from './process-record.ts';
import { requirePicks } from './selection.ts';

/** `worker`: takes jobs from the queue, and nothing else. */
export async function run({ host }: CommandCall): Promise<ExitCode> {
  const { signal } = host.stop;
  await using app = await openApp(host, { source: true, logLevel: 'info' });
  await requirePicks(host, app);
  const queue = await openQueue(host, app, 'worker');
  try {
    await using _record = await recordThisProcess(app, host.clock, 'worker', queue);
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    await queue.stop();
  }
  return 0;
}
