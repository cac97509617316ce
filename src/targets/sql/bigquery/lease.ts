import { MirrorError } from '../../../base/errors.ts';
import type { WriterOptions } from '../../../mirror/target.ts';
import type { ResultRow } from './bigquery-values.ts';
import {
  CATALOGUE_KEY,
  CATALOGUE_VERSION,
  markingKey,
  PAUSES_KEY,
  STATE,
} from './catalogue-shapes.ts';
import { endHolder, holderText, isDead, newHolder } from './holder.ts';
import { numberParameter, type Statement, textParameter, listParameter } from './sql-text.ts';
import type { Store } from './store.ts';

/*
 * Who writes to a form (L13): a lease in its row of `mirror_state`, by the server's time, with an epoch that counts up. What is safe
 * rests on the epoch, which every script that commits asserts; the lease is how others know that they have to wait. After kill -9
 * they wait for its end, unless the process that held it is known to be gone.
 */

/** For how long others wait for a holder without a sign of life. Renewed with every commit, and when half of it is over. */
export const LEASE_SECONDS = 120;

/** First and longest pause between two tries. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [100, 5_000];

/** A lease that was taken. */
export interface HeldLease {
  /** The key of its row. */
  readonly key: string;
  readonly holder: string;
  readonly epoch: number;
  /** The number of the last commit to the row. */
  readonly commit: number;
  /** What the row holds. */
  readonly text: string | null;
  readonly pauses: string | null;
}

/** A row that another holder has. */
interface Busy {
  readonly holder: string;
  readonly leftMs: number;
}

/**
 * Takes the lease of `key`, a form's or that of its marker; undefined with whoever holds it when that takes longer than may be waited.
 * `first`: the state of a form that has no row yet.
 */
export async function takeLease(
  store: Store,
  { formId, key }: { readonly formId: string; readonly key: string },
  first: string,
  { waitMs, signal }: WriterOptions,
): Promise<HeldLease | Busy> {
  const deadline = store.clock.now() + waitMs;
  const holder = newHolder();
  let dead: string | null = null;
  let pauseMs = FIRST_PAUSE_MS;
  try {
    for (;;) {
      const rows = await tryOnce(store, key, { holder, dead }, signal);
      const [row, double] = rows.filter((one) => one['form_id'] === key);
      if (double !== undefined) throw doubledState(store, formId);
      if (row === undefined) {
        await makeRow(store, formId, first, signal);
        continue;
      }
      if (row['holder'] === holder) return heldLease(key, holder, row, rows);
      const by = row['holder'] ?? '';
      if (isDead(by) && dead !== by) {
        dead = by;
        continue;
      }
      const leftMs = Number(row['left_ms'] ?? 0);
      const waitLeftMs = deadline - store.clock.now();
      if (waitLeftMs <= 0) {
        endHolder(holder);
        return { holder: by, leftMs };
      }
      await store.clock.sleep(Math.max(1, Math.min(pauseMs, waitLeftMs)), signal);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  } catch (error) {
    endHolder(holder);
    throw error;
  }
}

/** Whether it was taken. */
export const isHeld = (lease: HeldLease | Busy): lease is HeldLease => 'epoch' in lease;

/** One job: takes the lease where it is free, and reads the row. */
async function tryOnce(
  store: Store,
  key: string,
  { holder, dead }: { readonly holder: string; readonly dead: string | null },
  signal: AbortSignal | undefined,
): Promise<readonly ResultRow[]> {
  const state = store.relation(STATE);
  try {
    const { rows } = await store.change(
      `UPDATE ${state} SET epoch = epoch + 1, holder = @holder,
         leased_until = TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL ${LEASE_SECONDS} SECOND)
       WHERE form_id = @key AND (holder IS NULL OR leased_until IS NULL OR leased_until <= CURRENT_TIMESTAMP() OR holder = @dead)
         AND NOT EXISTS (SELECT 1 FROM ${state} AS c WHERE c.form_id = '${CATALOGUE_KEY}' AND c.state <> '${CATALOGUE_VERSION}');
       SELECT form_id, epoch, holder, commit_number, state,
         TIMESTAMP_DIFF(leased_until, CURRENT_TIMESTAMP(), MILLISECOND) AS left_ms
       FROM ${state} WHERE form_id IN (@key, '${PAUSES_KEY}', '${CATALOGUE_KEY}')`,
      { holder: textParameter(holder), key: textParameter(key), dead: textParameter(dead) },
      [STATE],
      signal,
    );
    store.requireSchema(rows);
    if (rows.length > 0) return rows;
  } catch (error) {
    if (!(error instanceof MirrorError) || !('fault' in error) || error.fault !== 'absent')
      throw error;
  }
  await store.makeCatalogue();
  return [];
}

/** Makes the rows of a form: both, as one without the other would be made twice. In a transaction that no other one passes. */
async function makeRow(
  store: Store,
  formId: string,
  first: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const state = store.relation(STATE);
  await store.change(
    `BEGIN TRANSACTION;
     UPDATE ${state} SET commit_number = commit_number + 1 WHERE form_id = '${CATALOGUE_KEY}';
     INSERT INTO ${state} (form_id, epoch, commit_number, state)
     SELECT k, UNIX_MILLIS(CURRENT_TIMESTAMP()), 0, IF(k = @form, @first, NULL) FROM UNNEST(@keys) AS k
     WHERE k NOT IN (SELECT form_id FROM ${state});
     COMMIT TRANSACTION;`,
    {
      form: textParameter(formId),
      first: textParameter(first),
      keys: listParameter([formId, markingKey(formId)]),
    },
    [STATE],
    signal,
  );
}

function heldLease(
  key: string,
  holder: string,
  row: ResultRow,
  rows: readonly ResultRow[],
): HeldLease {
  return {
    key,
    holder,
    epoch: Number(row['epoch']),
    commit: Number(row['commit_number']),
    text: row['state'] ?? null,
    pauses: rows.find((one) => one['form_id'] === PAUSES_KEY)?.['state'] ?? null,
  };
}

/** Prolongs the lease; false when another one has taken it. */
export async function renewLease(
  store: Store,
  { key, holder, epoch }: Pick<HeldLease, 'key' | 'holder' | 'epoch'>,
): Promise<boolean> {
  const { rows } = await store.change(
    `UPDATE ${store.relation(STATE)} SET leased_until = TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL ${LEASE_SECONDS} SECOND)
     WHERE form_id = @key AND epoch = @epoch AND holder = @holder;
     SELECT form_id FROM ${store.relation(STATE)} WHERE form_id = @key AND epoch = @epoch AND holder = @holder`,
    { key: textParameter(key), epoch: numberParameter(epoch), holder: textParameter(holder) },
    [STATE],
  );
  return rows.length > 0;
}

/** Lets others have it at once. Where that fails it ends by itself. */
export async function endLease(
  store: Store,
  { key, holder, epoch }: Pick<HeldLease, 'key' | 'holder' | 'epoch'>,
): Promise<void> {
  try {
    await store.change(
      `UPDATE ${store.relation(STATE)} SET holder = NULL, leased_until = NULL
       WHERE form_id = @key AND epoch = @epoch AND holder = @holder`,
      { key: textParameter(key), epoch: numberParameter(epoch), holder: textParameter(holder) },
      [STATE],
    );
  } catch {
    // It ends by itself; the process may be ending, too.
  } finally {
    endHolder(holder);
  }
}

/** A script that asserts that the lease is held, saves the state, prolongs the lease and does the rest, all or nothing. */
export function commitScript(
  store: Store,
  { key, holder, epoch, commit }: Pick<HeldLease, 'key' | 'holder' | 'epoch' | 'commit'>,
  text: string,
  statements: readonly Statement[],
): Statement & { readonly tables: readonly string[] } {
  const parameters: Record<string, Statement['parameters'][string]> = {
    state: textParameter(text),
    key: textParameter(key),
    epoch: numberParameter(epoch),
    holder: textParameter(holder),
    commit: numberParameter(commit),
  };
  for (const statement of statements) {
    for (const [name, value] of Object.entries(statement.parameters)) {
      const known = parameters[name];
      if (known !== undefined && known.value !== value.value)
        throw new TypeError(`two parameters @${name} in one script`);
      parameters[name] = value;
    }
  }
  const tables = statements.map(({ mutates }) => mutates).filter((table) => table !== undefined);
  const body = [
    `UPDATE ${store.relation(STATE)} SET state = @state, commit_number = commit_number + 1,
       leased_until = TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL ${LEASE_SECONDS} SECOND)
     WHERE form_id = @key AND epoch = @epoch AND holder = @holder AND commit_number = @commit`,
    `ASSERT @@row_count = 1 AS 'forms_mirror_lost_lock'`,
    ...statements.map(({ sql }) => sql),
  ];
  return {
    sql: `BEGIN TRANSACTION;\n${body.join(';\n')};\nCOMMIT TRANSACTION;`,
    parameters,
    tables: [...new Set([STATE, ...tables])],
  };
}

/** Who holds a form, for the message of a writer that could not have it. */
export const busyForm = (
  place: string,
  formId: string,
  { holder }: { holder: string },
): MirrorError =>
  new MirrorError(
    'TARGET_BUSY',
    `${place}: another pass is writing to form ${formId} (${holderText(holder)}). It is tried again at the next run.`,
  );

/** People restored what is kept of a form beside what is there: no commit could tell which of them it follows. */
const doubledState = (store: Store, formId: string): MirrorError =>
  new MirrorError(
    'TARGET_FAILED',
    `${store.place}: ${store.shownRelation(STATE)} has several rows of form ${formId}, of which it takes one, so nothing was written. Delete all but the one with the greatest commit_number.`,
    { retryable: false },
  );

/** The error of a writer whose lease another one has taken. */
export const lostLock = (place: string, formId: string): MirrorError =>
  new MirrorError(
    'TARGET_LOST_LOCK',
    `${place}: another pass took over form ${formId} while this one was stalled; this one wrote nothing more. The next pass goes on.`,
  );
