import { createPostgresBackend } from 'bullmq';
import type { BackendOptions, QueueBackend, StoreFactory } from '../backends.ts';
import { openEmbeddedStore } from './embedded-store.ts';

/** Opens PGlite in this process. See `openBackend` for what it throws. */
export async function openEmbedded(options: BackendOptions): Promise<QueueBackend> {
  const store = await openEmbeddedStore(options);
  const factory: StoreFactory = (name, opts, extra) =>
    createPostgresBackend(name, { ...opts, connection: store.pool }, extra);
  return {
    kind: 'embedded',
    address: `embedded in ${options.dataDir}`,
    factory,
    queueName: (name) => name,
    close: () => store.close(),
  };
}
