import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { runMigrations } from 'bullmq';
import type { Clock } from '../../base/clock.ts';
import { MirrorError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { PGlitePool } from './pglite-pool.ts';
import { type StoreLock, lockStore } from './embedded-lock.ts';
import type { FaultLog } from '../fault-log.ts';

/*
 * The embedded store: a PGlite directory that is a cache. Whatever it holds can be had again from the settings, the
 * Forms API and the targets, so a directory that does not open is moved aside and made anew. On disk, because an
 * existing directory opens in a quarter of a second and in half the memory, where one in memory takes two seconds each
 * time; and because the schedules then outlive a restart.
 */

const SCHEMA = 'bullmq';

/** An open directory takes a quarter of a second, a new one two; on a slow disk some more. */
const OPEN_WITHIN_MS = 60_000;

/** What opening takes. */
export interface EmbeddedStoreOptions {
  readonly dataDir: string;
  readonly upkeepMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly faults: FaultLog;
}

/** The open store. */
export interface EmbeddedStore {
  readonly pool: PGlitePool;
  /** Vacuums, closes and unlocks, once. Never rejects. */
  close(): Promise<void>;
}

/** Locks and opens the store of `dataDir`, or makes it. Throws QUEUE_BUSY, SETTINGS, or INTERNAL when even a new one does not open. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const lock = lockStore(options.dataDir);
  try {
    const db = await openOrRebuild(options);
    return serve(db, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openOrRebuild(options: EmbeddedStoreOptions): Promise<PGlite> {
  const directory = join(options.dataDir, 'queue');
  try {
    return await open(directory, options.clock);
  } catch (error) {
    const aside = moveAside(options, directory);
    options.logger.warn(
      { err: error, aside },
      'The embedded queue did not open; it was moved aside and made anew. Nothing is lost: schedules start afresh.',
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

/** Keeps the newest broken directory for whoever wants to look, and only that one. */
function moveAside(options: EmbeddedStoreOptions, directory: string): string {
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
  const opening = PGlite.create(directory);
  const db = await withinTime(opening, clock);
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

/** A torn directory may also hang. */
async function withinTime(opening: Promise<PGlite>, clock: Clock): Promise<PGlite> {
  const timer = new AbortController();
  const late = clock.sleep(OPEN_WITHIN_MS, timer.signal).then(() => {
    opening.then((db) => db.close()).catch(() => undefined);
    throw new Error('the directory did not open in time');
  });
  try {
    return await Promise.race([opening, late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
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

function serve(db: PGlite, lock: StoreLock, options: EmbeddedStoreOptions): EmbeddedStore {
  const pool = new PGlitePool(db);
  pool.on('error', options.faults);
  const shutting = new AbortController();
  const upkeep = tidyUntil(shutting.signal, db, options);
  const shut = async (): Promise<void> => {
    shutting.abort();
    await upkeep;
    await pool.end();
    await tidy(db).catch(options.faults);
    await db.close().catch(options.faults);
    lock.release();
  };
  let closed: Promise<void> | undefined;
  return { pool, close: () => (closed ??= shut()) };
}

/** Tidies in between, one after another however long it takes, until `signal` aborts. */
async function tidyUntil(
  signal: AbortSignal,
  db: PGlite,
  options: EmbeddedStoreOptions,
): Promise<void> {
  while (!signal.aborted) {
    await options.clock.sleep(options.upkeepMs, signal).catch(() => undefined);
    if (!signal.aborted) await tidy(db).catch(options.faults);
  }
}

/**
 * PGlite has no autovacuum and no checkpointer: without this the directory grows with every job. Only BullMQ's tables:
 * they take some milliseconds, the system's hundred, during which the whole process stands still.
 */
async function tidy(db: PGlite): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1`,
    [SCHEMA],
  );
  await db.exec(`VACUUM (ANALYZE) ${rows.map((row) => row.name).join(', ')}`);
  await db.exec('CHECKPOINT');
}
