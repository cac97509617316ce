import type { Loss } from '../../mirror/losses.ts';
import { replacesRows } from '../../mirror/proven-for.ts';
import { type Erasure, NOTHING_ERASED } from '../../mirror/erasure.ts';
import type { MarkingRecord } from '../../mirror/marking-record.ts';
import type { TargetNotice } from '../../mirror/notices.ts';
import type { FormWriter, PrepareResult, Refusal, SentMark } from '../../mirror/target.ts';
import type { PassEnd, PassRecord, PickedField } from '../../mirror/types.ts';
import type { WindowRecord } from '../../mirror/window.ts';
import { emptyFields } from './emptied-fields.ts';
import {
  accountForgotten,
  eraseFromMessages,
  eraseSubmissions,
  heldTable,
  someDeleted,
} from './erasure.ts';
import { dropForgotten, saveForgotten } from './forgotten.ts';
import { closeWindows, dropWindows, replaceWindows } from './form-windows.ts';
import { addCounts, countUncounted, findLosses, type FoundLosses, settleLosses } from './losses.ts';
import { dropCheckpoint, recordPass, saveCheckpoint, storedFor } from './pass-records.ts';
import { saveMarking, saveRefusals, saveSentMarks, settleSentMarks } from './refused-marks.ts';
import { dropStaleRejections } from './rejected-rows.ts';
import { cleanText, isStorableId } from './row-batch.ts';
import { setRowStatuses } from './row-changes.ts';
import {
  clearVersions,
  endLostVersions,
  idsGone,
  tablesOfVersions,
  pruneVersions,
  recordVersions,
} from './row-history.ts';
import { noteScrub } from './scrubbing.ts';
import type { SqlSession } from './sql-session.ts';
import { syncViews } from './view-sync.ts';
import { completeStatuses, pruneStatuses, recordStatuses } from './status-history.ts';
import { NO_COUNTS, SqlRowWriter, type WriterContext } from './row-writer.ts';
import type { WriterTransaction } from './writer-transactions.ts';

/** One upkeep of a form takes so many steps at most; the next one goes on. */
const MOST_PRUNING_STEPS = 100;

/** {@link FormWriter} over SQL: what concerns the form as a whole, besides storing its rows. */
export class SqlFormWriter extends SqlRowWriter implements FormWriter {
  readonly #context: WriterContext;
  /** What was last found to be lost. */
  #foundLosses: FoundLosses | undefined;

  constructor(context: WriterContext) {
    super(context);
    this.#context = context;
  }

  prepare(fields: readonly PickedField[]): Promise<PrepareResult> {
    return this.transactions.run((transaction) => this.columns.prepare(transaction, fields));
  }

  /** Alone, so that nothing that is being stored falls between what is counted here and what is counted since. */
  override async losses(): Promise<readonly Loss[]> {
    const { dialect, formId } = this.#context;
    const found = await this.transactions.run(async ({ tx }) => {
      const now = await findLosses({ session: tx, dialect }, formId);
      await countUncounted(tx, dialect, formId, now);
      return now;
    });
    this.#foundLosses = found;
    return found.losses;
  }

  async setStatuses(
    statuses: ReadonlyMap<string, string>,
    sent: readonly SentMark[] = [],
  ): Promise<void> {
    const { dialect, formId } = this.#context;
    const byStatus = Map.groupBy(statuses.keys(), (id) => cleanText(statuses.get(id) ?? ''));
    await this.transactions.run(async ({ tx, at }) => {
      const form = this.columns.table;
      if (form === undefined) return;
      const { table } = form;
      await this.ensureHistoryIndex(tx);
      for (const [status, ids] of byStatus) {
        const changed = await setRowStatuses(tx, dialect, table, ids, { status, at });
        await recordStatuses(tx, dialect, { formId, table, at }, changed, { wasLive: true });
        await recordVersions(tx, dialect, form, changed, at);
        await saveSentMarks(tx, dialect, formId, { changed, sent });
      }
    });
  }

  async recordMarking(record: MarkingRecord | null, named: readonly string[] = []): Promise<void> {
    const { dialect, formId } = this.#context;
    await this.transactions.run(({ tx }) => saveMarking(tx, dialect, formId, { record, named }));
  }

  async recordRefusals(refusals: readonly Refusal[]): Promise<void> {
    const { dialect, formId } = this.#context;
    const known = refusals.filter(({ submissionId }) => isStorableId(submissionId, dialect));
    await this.transactions.run(({ tx }) => saveRefusals(tx, dialect, formId, known));
  }

  async forget(ids: readonly string[], at: string): Promise<Erasure> {
    const { dialect, formId } = this.#context;
    return this.transactions.run(async ({ tx }) => {
      await saveForgotten(tx, dialect, formId, [...new Set(ids)], at);
      await eraseFromMessages(tx, dialect, formId, ids);
      return this.#erase(tx, at, ids);
    });
  }

  async remember(ids: readonly string[]): Promise<number> {
    const { dialect, formId } = this.#context;
    return this.transactions.run(async ({ tx }) => {
      const dropped = await dropForgotten(tx, dialect, formId, [...new Set(ids)]);
      if (dropped === 0) return 0;
      await dropCheckpoint(tx, dialect, formId);
      await dropWindows(tx, dialect, formId);
      return dropped;
    });
  }

  /** In steps of a bounded size: one that dies in between has removed some, and the next goes on. */
  async purgeDeleted(before: string): Promise<Erasure> {
    const { dialect } = this.#context;
    const all = { ...NOTHING_ERASED };
    for (;;) {
      const { rows, listings, refusals, history } = await this.transactions.run(
        async ({ tx, at }) =>
          this.#erase(tx, at, await someDeleted(tx, dialect, this.columns.table, before)),
      );
      if (rows + history === 0) return all;
      all.rows += rows;
      all.listings += listings;
      all.refusals += refusals;
      all.history += history;
    }
  }

  /** See `pruneHistory` of the port, which is the target's. */
  async pruneHistory(before: string): Promise<number> {
    const { dialect, formId } = this.#context;
    let [after, pruned]: [string | undefined, number] = ['0', 0];
    for (let step = 0; step < MOST_PRUNING_STEPS && after !== undefined; step++) {
      const from: string = after;
      const done = await this.transactions.run(({ tx }) =>
        pruneStatuses(tx, dialect, { formId, before, after: from }),
      );
      pruned += done.pruned;
      after = done.next;
    }
    for (let step = 0; step < MOST_PRUNING_STEPS; step++) {
      const rows = await this.transactions.run(({ tx }) =>
        pruneVersions(tx, dialect, this.columns.table, before),
      );
      if (rows === 0) break;
      pruned += rows;
    }
    return pruned;
  }

  async emptyFields(fieldIds: readonly string[], at: string): Promise<number> {
    const { dialect, formId } = this.#context;
    return this.transactions.run(async ({ tx }) => {
      const { table } = this.columns;
      await dropWindows(tx, dialect, formId);
      return table === undefined ? 0 : emptyFields(tx, dialect, table, fieldIds, at);
    });
  }

  async planWindows(windows: readonly WindowRecord[]): Promise<void> {
    const { dialect, formId } = this.#context;
    await this.transactions.run(({ tx }) => replaceWindows(tx, dialect, formId, windows));
  }

  async finish(pass: PassRecord, changes: PassEnd): Promise<readonly TargetNotice[] | undefined> {
    const { dialect, formId } = this.#context;
    await this.transactions.run(async (transaction) => {
      const { tx, at } = transaction;
      const { table } = await this.columns.written(transaction);
      if (hasReadAll(pass)) {
        await dialect.ensureStatusIndex?.(tx, table);
        await dialect.ensureChangeIndex(tx, table);
        await dialect.ensureHistoryIndex?.(tx);
      }
      await recordPass(tx, dialect, formId, pass);
      if (changes.checkpoint !== undefined) {
        const before = await storedFor(tx, dialect, formId);
        // Rows that were written anew, hashed perhaps, leave what stood there in files of ours (L18).
        const isReplaced = replacesRows(before, changes.checkpoint.provenFor);
        if (dialect.scrubs && isReplaced) await noteScrub(tx, dialect, formId, at);
        await saveCheckpoint(tx, dialect, formId, changes.checkpoint);
        // One that is not proven may have found something to be remembered.
        if (pass.outcome !== 'incomplete')
          await this.#settle(transaction, pass, changes.comparedSince);
        if (isReplaced && this.columns.table !== undefined)
          await clearVersions(tx, dialect, this.columns.table, this.columns.hashed, 'ended');
      }
      if (changes.goneAt !== undefined) {
        await tx.query(
          `UPDATE ${dialect.relation('mirror_forms')} SET gone_at = $1
           WHERE form_id = $2 AND gone_at IS DISTINCT FROM $1`,
          [dialect.timeValue(changes.goneAt), formId],
        );
      }
    });
    return this.#syncViews();
  }

  /** What is to be said once the views were made, or were not; undefined where that is what was said before. */
  async #syncViews(): Promise<readonly TargetNotice[] | undefined> {
    const { clock, dialect, formId, lock, onViewsLeft } = this.#context;
    const at = new Date(clock.now()).toISOString();
    const asked = { formId, when: 'in time', at } as const;
    const { isLeft, toldOf } = await syncViews(lock.connection, dialect, asked);
    if (isLeft) onViewsLeft?.();
    // The pass has been recorded: that this can't be read is no failure of it.
    return toldOf ? super.notices().catch(() => undefined) : undefined;
  }

  /** Without views that could not be made: {@link finish} tries them, and tells of them. */
  override notices(): Promise<readonly TargetNotice[]> {
    return this.allNotices(async () => () => []);
  }

  /** What a transaction that fails has to take back. */
  protected override keep(): () => void {
    const restore = super.keep();
    const found = this.#foundLosses;
    return () => {
      restore();
      this.#foundLosses = found;
    };
  }

  async #erase(tx: SqlSession, at: string, ids: readonly string[]): Promise<Erasure> {
    const { dialect, formId } = this.#context;
    if (ids.length === 0) return NOTHING_ERASED;
    const held = await heldTable(tx, dialect, this.columns.table);
    const versions = await tablesOfVersions(tx, dialect, this.columns.table);
    if (versions.keyless !== undefined) throw idsGone(dialect, versions.keyless);
    const where = {
      formId,
      table: held?.table,
      versions: versions.tables,
      present: held?.present ?? new Set<string>(),
    };
    const { live, ...erased } = await eraseSubmissions(tx, dialect, where, ids, at);
    const change = { rows: -erased.rows, live: -live.length, rejections: -erased.listings };
    await addCounts(tx, dialect, formId, change);
    await accountForgotten(tx, dialect, formId, live);
    return erased;
  }

  /**
   * After a proven pass that has met everything, or is the last of those that did: what they did not meet is no longer
   * listed. After a full one what was lost is there again.
   */
  async #settle(
    { tx, at }: WriterTransaction,
    pass: PassRecord,
    comparedSince?: string,
  ): Promise<void> {
    const isFull = pass.kind === 'full';
    if (!isFull && comparedSince === undefined) return;
    const { startedAt, withheld } = pass;
    const { dialect, epoch, formId } = this.#context;
    const metLast = comparedSince === undefined ? { epoch } : { since: comparedSince };
    const ended = await dropStaleRejections(tx, dialect, formId, metLast);
    await addCounts(tx, dialect, formId, { ...NO_COUNTS, rejections: -ended });
    // Which rows were not met is not known here; and what was dropped meanwhile, the next pass says.
    const found = await heldTable(tx, dialect, this.columns.table);
    const held = withheld === 0 ? found : undefined;
    if (held !== undefined && ['status', '_deleted_at'].every((name) => held.present.has(name))) {
      const compared = { formId, table: held.table, since: comparedSince ?? startedAt };
      await settleSentMarks(tx, dialect, compared);
      await completeStatuses(tx, dialect, compared);
    }
    if (!isFull) return;
    await closeWindows(tx, dialect, formId);
    if (this.#foundLosses === undefined) return;
    const { table } = this.columns;
    if (found !== undefined && table !== undefined && this.#foundLosses.losses.length > 0)
      await endLostVersions(tx, dialect, table, at);
    await settleLosses(tx, dialect, formId, this.#foundLosses);
    this.#foundLosses = undefined;
  }
}

/** A full pass to its end, proven or not. One that failed for want of room, say, must be recorded all the same. */
const hasReadAll = ({ kind, outcome }: PassRecord): boolean =>
  kind === 'full' && ['ok', 'withheld', 'incomplete'].includes(outcome);
