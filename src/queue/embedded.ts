import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PGlite } from '@electric-sql/pglite';
import { createPostgresBackend, runMigrations } from 'bullmq';
import { type Clock, withinTime } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import { lockFile } from '../targets/sql/sqlite/file-lock.ts';
import type { BackendOptions, QueueBackend } from './backends.ts';
import { PGlitePool } from './pglite-pool.ts';

/*
 * The embedded store: a PGlite directory that is a cache. The settings, the Forms API and the targets can supply all of it again,
 * so a directory that does not open is removed and made again. It is on disk, because an existing directory opens in a quarter of a
 * second and with half the memory, while a store in memory takes two seconds each time; and because the runs that people asked for
 * then outlive a restart.
 */

const SCHEMA = 'bullmq';

/** Opening an existing directory takes a quarter of a second, making a new one two; on a slow disk, more. */
const OPEN_WITHIN_MS = 60_000;

/**
 * Added to PGlite's own parameters. Its memory never shrinks, and PostgreSQL's defaults are meant for a server with a machine of
 * its own: 128 MB of buffers, while the whole store has about 10 MB.
 */
const SMALL = [
  'shared_buffers=4MB',
  'wal_buffers=128kB',
  'maintenance_work_mem=4MB',
  'max_connections=5',
  // BullMQ's statements are always the same, so they are planned once. No one reads this server's activity.
  'plan_cache_mode=force_generic_plan',
  'track_activities=off',
];

/** Opens PGlite in this process. Throws as `openBackend` does, and INTERNAL if even a new directory does not open. */
export async function openEmbedded(options: BackendOptions): Promise<QueueBackend> {
  const unlock = lockStore(options.dataDir);
  const db = await openOrRebuild(options).catch((error: unknown) => {
    unlock();
    throw error;
  });
  const pool = new PGlitePool(db);
  const closing = new AbortController();
  const upkeep = vacuumUntil(closing.signal, db, options);
  return {
    kind: 'embedded',
    address: `embedded in ${options.dataDir}`,
    factory: (name, opts, extra) =>
      createPostgresBackend(name, { ...opts, connection: pool }, extra),
    close: async () => {
      closing.abort();
      await upkeep;
      await db.close().catch(options.onError);
      unlock();
    },
  };
}

async function openOrRebuild({ dataDir, clock, logger }: BackendOptions): Promise<PGlite> {
  const directory = join(dataDir, 'queue');
  try {
    return await open(directory, clock);
  } catch (err) {
    const message = 'The embedded queue did not open, so it is created again. Nothing is lost.';
    logger.warn({ err, directory }, message);
  }
  try {
    rmSync(directory, { recursive: true, force: true });
    return await open(directory, clock);
  } catch (cause) {
    throw new MirrorError(
      'INTERNAL',
      `The embedded queue cannot be made in ${directory}: is the disk full? Free some room, choose another DATA_DIR, or set QUEUE_URL.`,
      { cause },
    );
  }
}

async function open(directory: string, clock: Clock): Promise<PGlite> {
  // Here, not by PGlite, which makes its files readable and writable for everyone, regardless of this process's umask.
  mkdirSync(directory, { recursive: true });
  const isNew = !existsSync(join(directory, 'PG_VERSION'));
  leaveUnoptimised();
  const startParams = [...PGlite.defaultStartParams, ...SMALL.flatMap((value) => ['-c', value])];
  const opening = PGlite.create({ dataDir: directory, startParams });
  // Opening a damaged directory may hang.
  const db = await withinTime(opening, OPEN_WITHIN_MS, clock);
  if (db === undefined) {
    opening.then((late) => late.close()).catch(() => undefined);
    throw new Error('the directory did not open in time');
  }
  try {
    await runMigrations(await new PGlitePool(db).connect(), SCHEMA);
    await db.exec(`SET search_path TO ${SCHEMA}, public`);
    if (isNew) await collectGarbage();
    return db;
  } catch (error) {
    await db.close().catch(() => undefined);
    throw error;
  }
}

/**
 * Keeps V8 from optimizing the most-used parts of PGlite's nine megabytes of code a second time. That takes half a gigabyte and
 * seconds of a processor, and the queue gains nothing, because its jobs take milliseconds.
 */
function leaveUnoptimised(): void {
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
}

/**
 * Making the store leaves about 300 MB behind outside of V8's heap. V8 would notice them only when the heap itself has grown, which
 * may take hours in an idle process.
 */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 2; turn++) {
    await new Promise((done) => setImmediate(done));
    collect();
  }
}

/** Vacuums at once and then at intervals, one after the other, until `signal` aborts. */
async function vacuumUntil(
  signal: AbortSignal,
  db: PGlite,
  { clock, upkeepMs, onError }: BackendOptions,
): Promise<void> {
  while (!signal.aborted) {
    await vacuum(db).catch(onError);
    await clock.sleep(upkeepMs, signal).catch(() => undefined);
  }
}

/**
 * PGlite has no autovacuum and no checkpointer; without this, the directory grows with every job. Only BullMQ's tables: they take
 * some milliseconds, the system's a hundred, during which the whole process stops.
 */
async function vacuum(db: PGlite): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1`,
    [SCHEMA],
  );
  await db.exec(`VACUUM (ANALYZE) ${rows.map((row) => row.name).join(', ')}`);
  await db.exec('CHECKPOINT');
}

/**
 * Makes this process the only user of the embedded queue in `dataDir` until the result is called or the process ends. PGlite itself
 * lets two processes open one directory, and each then loses the other's rows. Throws QUEUE_FAILED, or SETTINGS if the directory
 * cannot be written.
 */
function lockStore(dataDir: string): () => void {
  let unlock: (() => void) | null;
  try {
    mkdirSync(dataDir, { recursive: true });
    unlock = lockFile(join(dataDir, 'queue.lock'));
  } catch (cause) {
    throw new MirrorError(
      'SETTINGS',
      `DATA_DIR ${dataDir} cannot be written: the embedded queue keeps its files there. Make it writable, choose another, or set QUEUE_URL.`,
      { cause },
    );
  }
  if (unlock !== null) return unlock;
  throw new MirrorError(
    'QUEUE_FAILED',
    `Another forms-mirror is running with the data directory ${dataDir}: stop it, give this one another DATA_DIR, or set QUEUE_URL so that several can share a queue.`,
    { retryable: false },
  );
}
