import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { PGlite } from '@electric-sql/pglite';
import { createPostgresBackend, runMigrations } from 'bullmq';
import { type Clock, withinTime } from '../../base/clock.ts';
import { MirrorError } from '../../base/errors.ts';
import { makeFolder } from '../../base/private-files.ts';
import { PGlitePool } from './pglite-pool.ts';
import { PrivateFiles } from './private-pglite.ts';
import { lockStore, type StoreLock } from './embedded-lock.ts';
import type { BackendOptions, QueueBackend, StoreFactory } from './backend.ts';

/*
 * The embedded store: a PGlite directory that is a cache. Whatever it holds can be had again from the settings, the
 * Forms API and the targets, so a directory that does not open is moved aside and a new one is made. On disk, because an
 * existing directory opens in a quarter of a second and in half the memory, where one in memory takes two seconds each
 * time; and because the schedules then outlive a restart.
 */

const SCHEMA = 'bullmq';

/** An open directory takes a quarter of a second, a new one two; on a slow disk some more. */
const OPEN_WITHIN_MS = 60_000;

/**
 * Added to PGlite's own parameters. Its memory never shrinks, and PostgreSQL's defaults are those of a server that has the
 * machine to itself: 128 MB of buffers, where the whole store has some 10 MB.
 */
const SMALL = [
  'shared_buffers=4MB',
  'wal_buffers=128kB',
  'maintenance_work_mem=4MB',
  'max_connections=5',
  // BullMQ's statements are the same each time: they are planned once. And nobody asks this server what it is doing.
  'plan_cache_mode=force_generic_plan',
  'track_activities=off',
];

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

/** Options of the store alone, without a queue on it. */
type StoreOptions = Omit<BackendOptions, 'url' | 'workers'>;

/** The open store. */
export interface EmbeddedStore {
  readonly pool: PGlitePool;
  /** Vacuums, closes and unlocks, once. Never rejects. */
  close(): Promise<void>;
}

/** Locks and opens the store of `dataDir`, or makes it. Throws QUEUE_BUSY, SETTINGS, or INTERNAL when even a new one does not open. */
export async function openEmbeddedStore(options: StoreOptions): Promise<EmbeddedStore> {
  const lock = lockStore(options.dataDir);
  try {
    const db = await openOrRebuild(options);
    return serve(db, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openOrRebuild(options: StoreOptions): Promise<PGlite> {
  const directory = join(options.dataDir, 'queue');
  try {
    return await open(directory, options.clock);
  } catch (error) {
    const aside = moveAside(options, directory);
    options.logger.warn(
      { err: error, aside },
      'The embedded queue did not open; it was moved aside and a new one is made. Nothing is lost: schedules start afresh.',
    );
  }
  try {
    return await open(directory, options.clock);
  } catch (error) {
    throw new MirrorError(
      'INTERNAL',
      `The embedded queue cannot be made in ${directory}: is the disk full? Free some room, choose another DATA_DIR, or set QUEUE_URL.`,
      { cause: error },
    );
  }
}

/** Keeps the newest broken directory for inspection, and only that one. */
function moveAside(options: StoreOptions, directory: string): string {
  const aside = `${directory}.broken-${options.clock.now()}`;
  for (const name of readdirSync(options.dataDir)) {
    if (name.startsWith('queue.broken-')) rmSync(join(options.dataDir, name), { recursive: true });
  }
  try {
    renameSync(directory, aside);
  } catch {
    rmSync(directory, { recursive: true, force: true });
  }
  return aside;
}

async function open(directory: string, clock: Clock): Promise<PGlite> {
  makeFolder(directory);
  leaveUnoptimised();
  const startParams = [...PGlite.defaultStartParams, ...SMALL.flatMap((value) => ['-c', value])];
  const opening = PGlite.create({ fs: new PrivateFiles(directory), startParams });
  // Opening a damaged directory may hang.
  const db = await withinTime(opening, OPEN_WITHIN_MS, clock);
  if (db === undefined) {
    opening.then((late) => late.close()).catch(() => undefined);
    throw new Error('the directory did not open in time');
  }
  try {
    const pool = new PGlitePool(db);
    await runMigrations(await pool.connect(), SCHEMA);
    await pool.end();
    await db.exec(`SET search_path TO ${SCHEMA}, public`);
    await requeueActiveJobs(db);
    return db;
  } catch (error) {
    await db.close().catch(() => undefined);
    throw error;
  }
}

/**
 * V8 compiles what is used most of PGlite's nine megabytes of code once more, to run faster: that takes half a gigabyte and
 * seconds of a processor, and the queue, whose jobs take milliseconds, is none the faster for it.
 */
function leaveUnoptimised(): void {
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
}

/**
 * Gives jobs that a killed process held back to the queue at once: as long as we hold the lock no other process can be
 * working on them. BullMQ itself would wait for their locks to run out. Its schema is the same throughout a major version.
 */
async function requeueActiveJobs(db: PGlite): Promise<void> {
  await db.exec(
    `UPDATE ${SCHEMA}.job SET state = 'waiting', lock_token = NULL, locked_until_ms = NULL, stalled_marked = false WHERE state = 'active'`,
  );
}

function serve(db: PGlite, lock: StoreLock, options: StoreOptions): EmbeddedStore {
  const pool = new PGlitePool(db);
  pool.on('error', options.onError);
  const shutting = new AbortController();
  const upkeep = vacuumUntil(shutting.signal, db, options);
  const shut = async (): Promise<void> => {
    shutting.abort();
    await upkeep;
    await pool.end();
    await vacuum(db).catch(options.onError);
    await db.close().catch(options.onError);
    lock.release();
  };
  let closed: Promise<void> | undefined;
  return { pool, close: () => (closed ??= shut()) };
}

/** Vacuums at intervals, one after another however long it takes, until `signal` aborts. */
async function vacuumUntil(signal: AbortSignal, db: PGlite, options: StoreOptions): Promise<void> {
  while (!signal.aborted) {
    await options.clock.sleep(options.upkeepMs, signal).catch(() => undefined);
    if (!signal.aborted) await vacuum(db).catch(options.onError);
  }
}

/**
 * PGlite has no autovacuum and no checkpointer: without this the directory grows with every job. Only BullMQ's tables:
 * they take some milliseconds, the system's hundred, during which the whole process stands still.
 */
async function vacuum(db: PGlite): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1`,
    [SCHEMA],
  );
  await db.exec(`VACUUM (ANALYZE) ${rows.map((row) => row.name).join(', ')}`);
  await db.exec('CHECKPOINT');
}
