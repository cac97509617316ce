import { hostname } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { MirrorError } from '../../base/errors.ts';
import type { WriterOptions } from '../../mirror/target.ts';
import type { SqlDialect } from './dialect.ts';
import { numberOf, type SqlConnection, type SqlSession, textOf } from './sql-session.ts';

/** A form that is locked for writing, and the connection to write on. A killed process loses both at once. */
export interface FormLock {
  readonly connection: SqlConnection;
  /** Releases the form and closes the connection. */
  release(): Promise<void>;
}

/** First and longest pause between two tries. */
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 500;

/** Tries until `tryLock` gives a lock; undefined when `waitMs` are over before that. */
export async function waitForLock(
  tryLock: () => Promise<FormLock | undefined>,
  options: WriterOptions,
  clock: Clock,
): Promise<FormLock | undefined> {
  const deadline = clock.now() + options.waitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const lock = await tryLock();
    if (lock !== undefined) return lock;
    const leftMs = deadline - clock.now();
    if (leftMs <= 0) return undefined;
    await clock.sleep(Math.min(pauseMs, leftMs), options.signal);
  }
}

/** Registers a new writer of the form; its epoch is higher than that of every writer before it. */
export async function takeEpoch(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  at: string,
): Promise<number> {
  const table = dialect.relation('mirror_locks');
  const rows = await tx.query(
    `INSERT INTO ${table} (form_id, epoch, holder, taken_at) VALUES ($1, $4, $2, $3)
     ON CONFLICT (form_id) DO UPDATE SET epoch = mirror_locks.epoch + 1, holder = excluded.holder,
       taken_at = excluded.taken_at
     RETURNING epoch`,
    // The first epoch is the time, so that none comes twice where people dropped or emptied the table.
    [formId, `${hostname()}, process ${process.pid}`, dialect.timeValue(at), Date.parse(at)],
  );
  const [row] = rows;
  if (row === undefined) throw new TypeError('no epoch');
  return numberOf(row, 'epoch');
}

/** What a writer rests on: the newest epoch of its form when it opened. */
export interface HeldEpoch {
  readonly formId: string;
  readonly epoch: number;
  /** The target, for messages. */
  readonly place: string;
}

/** Throws TARGET_LOST_LOCK when a newer writer has the form (L13). Where the form was entered, no other can take it until the transaction ends. */
export async function checkEpoch(
  tx: SqlSession,
  dialect: SqlDialect,
  { formId, epoch, place }: HeldEpoch,
): Promise<void> {
  const newest = await epochOf(tx, dialect, formId);
  if (newest === undefined) {
    throw new MirrorError(
      'TARGET_LOST_LOCK',
      `${place}: someone deleted the record of this pass over form ${formId} from mirror_locks; it wrote nothing more. The next pass goes on.`,
    );
  }
  if (newest !== epoch) throw lostLock(place, formId);
}

/** The newest epoch of a lock; undefined where nobody ever took it. */
export async function epochOf(
  tx: SqlSession,
  dialect: SqlDialect,
  name: string,
): Promise<number | undefined> {
  const [row] = await tx.query(
    `SELECT epoch FROM ${dialect.relation('mirror_locks')} WHERE form_id = $1`,
    [name],
  );
  return row && numberOf(row, 'epoch');
}

/** The error of a writer whose lock another one has taken. */
export function lostLock(place: string, formId: string): MirrorError {
  return new MirrorError(
    'TARGET_LOST_LOCK',
    `${place}: another pass took over form ${formId} while this one was stalled; this one wrote nothing more. The next pass goes on.`,
  );
}

/** The error for a form that another process writes to; names its holder where that can be read. */
export async function busyForm(
  session: SqlSession | undefined,
  dialect: SqlDialect,
  formId: string,
  place: string,
): Promise<MirrorError> {
  const holder = session === undefined ? undefined : await readHolder(session, dialect, formId);
  const by = holder === undefined ? '' : ` (${holder})`;
  return new MirrorError(
    'TARGET_BUSY',
    `${place}: another pass is writing to form ${formId}${by}. It is tried again at the next run.`,
  );
}

/** Who took the lock last, for the message; undefined when that can't be read. */
async function readHolder(
  session: SqlSession,
  dialect: SqlDialect,
  name: string,
): Promise<string | undefined> {
  const rows = await session
    .query(
      `SELECT holder, ${dialect.timeText('taken_at')} AS taken_at
       FROM ${dialect.relation('mirror_locks')} WHERE form_id = $1`,
      [name],
    )
    .catch(() => []);
  const [row] = rows;
  if (row === undefined) return undefined;
  return `${textOf(row, 'holder')}, since ${dialect.time(row['taken_at']) ?? 'just now'}`;
}
