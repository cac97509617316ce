import type { Costs } from '../../../mirror/costs.ts';
import { type Erasure, NOTHING_ERASED } from '../../../mirror/erasure.ts';
import { forgottenHash, idsOfBatch, newSalt, withoutIds } from '../../../mirror/forgotten.ts';
import type { Loss } from '../../../mirror/losses.ts';
import type { MarkingRecord } from '../../../mirror/marking-record.ts';
import { replacesRows } from '../../../mirror/proven-for.ts';
import { sameCounts } from '../../../mirror/status-counts.ts';
import type { TargetNotice } from '../../../mirror/notices.ts';
import type {
  ApplyResult,
  FormWriter,
  PrepareResult,
  Refusal,
  SentMark,
} from '../../../mirror/target.ts';
import type { TimeSpan } from '../../../mirror/time-counts.ts';
import type { PassEnd, PassRecord, PickedField, Rejection, Row } from '../../../mirror/types.ts';
import type { WindowRecord } from '../../../mirror/window.ts';
import { safeText } from '../../../base/errors.ts';
import { cleanText, isStorableId } from '../row-batch.ts';
import { LIMITS } from './answer-values.ts';
import { applyBatch, statusMoment } from './apply-batch.ts';
import { distrustEdited } from './edited-rows.ts';
import { emptyFormFields, eraseForm, purgeForm } from './erase-form.ts';
import { findLosses, type CountedLosses } from './found-losses.ts';
import { removeDoubles } from './doubled-rows.ts';
import { FormColumns } from './form-columns.ts';
import type { FormHold } from './form-hold.ts';
import { BigQueryFormReader, noticesOf } from './form-reader.ts';
import { heldForm } from './table-reads.ts';
import type { FormState } from './form-state.ts';
import { forgottenIn, knownAmong } from './forgotten-notes.ts';
import {
  addPass,
  addStatuses,
  dropForgotten,
  endMarks,
  type Mark,
  completeStatuses,
  prunePasses,
  saveCopies,
  saveForgotten,
  saveMarks,
} from './list-statements.ts';
import { pruneHistories } from './prune-history.ts';
import { joined, splitBatch } from './batch-pieces.ts';
import { monthsOf } from './partitions.ts';
import { markRows, setStatuses } from './row-statements.ts';
import { settleLists } from './settle-lists.ts';
import type { Statement } from './sql-text.ts';
import {
  counted,
  keptPass,
  moved,
  settled,
  withClosedWindows,
  withoutCheckpoint,
  withoutNames,
  withPass,
  withWindow,
} from './state-changes.ts';
import { type HeldForm, idsOf, locate } from './table-reads.ts';
import { syncFormViews } from './view-sync.ts';
import { clearFormVersions, endLostVersions, versionsOfRows } from './row-versions.ts';

/** How often old passes are removed, and how many of a form stay. */
const [PRUNED_EVERY, KEPT_PASSES] = [200, 2_000];

/** What the writer has of its form besides what every reader has. */
export interface WriterSettings {
  /** Whether every version of its rows is to be kept. */
  readonly keepsVersions: boolean;
  /** What its jobs were billed. */
  readonly spent: () => Costs;
}

/** {@link FormWriter} over a dataset: each change is one job, which asserts the lease. */
export class BigQueryFormWriter extends BigQueryFormReader implements FormWriter {
  readonly #hold: FormHold;
  readonly #columns: FormColumns;
  /** What was last found to be lost. */
  #found: CountedLosses | undefined;

  readonly spent: () => Costs;

  constructor(hold: FormHold, { keepsVersions, spent }: WriterSettings) {
    super({
      formId: hold.form.id,
      store: hold.store,
      state: async () => {
        await hold.renewIfDue();
        return hold.state;
      },
      table: () => hold.table(),
    });
    this.spent = spent;
    this.#hold = hold;
    this.#columns = new FormColumns(hold, keepsVersions);
  }

  prepare(fields: readonly PickedField[]): Promise<PrepareResult> {
    return this.#hold.run(async () => {
      const result = await this.#columns.prepare(fields);
      await syncFormViews(this.#hold, 'own');
      return result;
    });
  }

  override losses(): Promise<readonly Loss[]> {
    return this.#hold.run(() => this.#findLosses());
  }

  async #findLosses(): Promise<readonly Loss[]> {
    const hold = this.#hold;
    const count = async (): Promise<CountedLosses> =>
      findLosses(hold.store, hold.form.id, hold.state, await hold.table());
    let found = await count();
    const held = await this.#held();
    const isMore = found.held.rows > hold.state.counts.rows;
    if (held !== undefined && isMore && (await removeDoubles(hold, held))) found = await count();
    this.#found = found;
    const statuses = [...found.statuses];
    const shown = found.losses.filter(({ what }) => what !== 'place' && what !== 'column');
    // People may have dated rows anew: where they are not looked for, they would be stored a second time.
    const months = [...new Set(found.groups.flatMap((group) => group.months))].toSorted();
    const isCounted = sameCounts(found.statuses, new Map(hold.state.statuses));
    const counted = { found: shown, months };
    const known = { found: hold.state.found, months: hold.state.months };
    if (!isCounted || JSON.stringify(counted) !== JSON.stringify(known))
      await hold.commit({ ...hold.state, ...counted, statuses });
    return found.losses;
  }

  apply(rows: readonly Row[], rejections: readonly Rejection[]): Promise<ApplyResult> {
    const hold = this.#hold;
    return hold.run(async () => {
      await hold.renewIfDue();
      await this.#columns.ensureTable();
      const forgotten = await forgottenIn(hold, idsOfBatch(rows, rejections));
      const results: ApplyResult[] = [];
      for (const piece of splitBatch(rows, rejections)) {
        results.push(await applyBatch(hold, this.#columns, piece, forgotten));
      }
      return joined(results);
    });
  }

  distrustEdited(spans: readonly TimeSpan[] | 'all'): Promise<boolean> {
    const hold = this.#hold;
    return hold.run(async () => {
      const held = await this.#held();
      if (held === undefined) return false;
      const { hasEdited, moved: isMoved } = await distrustEdited(hold, held, this.#columns, spans);
      if (isMoved) await this.#findLosses();
      return hasEdited || isMoved;
    });
  }

  markDeleted(
    ids: readonly string[],
    deletedAt: string,
    { again = false }: { readonly again?: boolean } = {},
  ): Promise<number> {
    const hold = this.#hold;
    return hold.run(async () => {
      const held = await this.#held();
      const found = held === undefined ? [] : await locate(hold.store, held, ids);
      const live = found.filter(({ isDeleted }) => !isDeleted);
      const liveIds = idsOf(live);
      const statements: Statement[] = [];
      if (held !== undefined && live.length > 0) {
        const at = hold.now();
        const known = { ...held, ids: liveIds, months: monthsOf(live) };
        statements.push(
          markRows(known, deletedAt, at),
          ...versionsOfRows(hold, known, at, again ? 'retracted' : 'changed'),
        );
      }
      // Also where there is nothing to mark: whoever was overtaken is to know.
      if (statements.length > 0 || ids.length > 0)
        await hold.commit(
          moved(
            counted(hold.state, { live: -liveIds.length }),
            live.map(({ status }) => [status, -1]),
          ),
          statements,
        );
      return liveIds.length;
    });
  }

  saveWindow(window: WindowRecord): Promise<void> {
    return this.#change((state) => withWindow(state, window));
  }

  setStatuses(
    statuses: ReadonlyMap<string, string>,
    sent: readonly SentMark[] = [],
  ): Promise<void> {
    const hold = this.#hold;
    const { store, form } = hold;
    return hold.run(async () => {
      const held = await this.#held();
      const ids = [...statuses.keys()];
      const found = held === undefined ? [] : await locate(store, held, ids);
      const wanted = new Map([...statuses].map(([id, status]) => [id, cleanText(status)]));
      const changed = found.filter(({ id, status }) => wanted.get(id) !== status);
      if (held === undefined || changed.length === 0) return hold.commit(hold.state);
      const at = hold.now();
      const changedIds = idsOf(changed);
      const known = { ...held, ids: changedIds, months: monthsOf(changed) };
      const isChanged = new Set(changedIds);
      const marks = sent
        .filter(({ submissionId }) => isChanged.has(submissionId))
        .map((mark): Mark => Object.assign({}, mark, { reason: '' }));
      const listed = await this.listedAmong(changedIds);
      const seen = changedIds.map((id) => {
        return { id, status: wanted.get(id) ?? '', isProven: !listed.has(id) };
      });
      const hasMarks = hold.state.counts.refusals > 0;
      const moves = changed.flatMap(({ id, status, isDeleted }) =>
        isDeleted ? [] : [[status, -1] as const, [wanted.get(id) ?? '', 1] as const],
      );
      await hold.commit(moved(counted(hold.state, { refusals: marks.length }), moves), [
        setStatuses(known, wanted, at),
        addStatuses(store.relation, this.#moment(at), seen),
        ...versionsOfRows(hold, known, at, 'changed'),
        ...(hasMarks ? [endMarks(store.relation, form.id, changedIds, 'all')] : []),
        ...(marks.length > 0 ? [saveMarks(store.relation, form.id, marks)] : []),
      ]);
    });
  }

  recordMarking(record: MarkingRecord | null, named: readonly string[] = []): Promise<void> {
    const hold = this.#hold;
    return hold.run(async () => {
      const gone = await forgottenIn(hold, named);
      const marking = record && {
        ...record,
        error: record.error && cleanText(withoutIds(record.error, gone)),
      };
      await hold.commit({ ...hold.state, marking });
    });
  }

  recordRefusals(refusals: readonly Refusal[]): Promise<void> {
    const hold = this.#hold;
    const known = refusals.filter(({ submissionId }) => isStorableId(submissionId, LIMITS));
    return hold.run(async () => {
      const gone = await forgottenIn(
        hold,
        known.map(({ submissionId }) => submissionId),
      );
      const marks = known
        .filter(({ submissionId }) => !gone.has(submissionId))
        .map((one): Mark => Object.assign({}, one, { reason: safeText(one.reason) }));
      await hold.commit(
        counted(hold.state, { refusals: marks.length }),
        marks.length > 0 ? [saveMarks(hold.store.relation, hold.form.id, marks)] : [],
      );
    });
  }

  forget(ids: readonly string[], at: string): Promise<Erasure> {
    const hold = this.#hold;
    const { form, store } = hold;
    return hold.run(async () => {
      const salt = hold.state.salt ?? newSalt();
      const known = await knownAmong(hold, ids);
      const fresh = [...new Set(ids)].filter((id) => !known.has(id));
      const notes = fresh.map((id) => ({ hash: forgottenHash(salt, form.id, id), at }));
      const noted: FormState = {
        ...withoutNames(hold.state, ids),
        salt: notes.length > 0 ? salt : hold.state.salt,
      };
      const statements =
        notes.length === 0
          ? []
          : [
              saveForgotten(store.relation, form.id, notes),
              saveCopies(store.relation, form.id, salt, notes),
            ];
      return eraseForm(hold, await this.#held(), ids, {
        state: counted(noted, { forgotten: notes.length }),
        statements,
        names: ids,
      });
    });
  }

  remember(ids: readonly string[]): Promise<number> {
    const hold = this.#hold;
    return hold.run(async () => {
      const { salt } = hold.state;
      const known = await knownAmong(hold, ids);
      if (salt === null || known.size === 0) return 0;
      const hashes = [...known].map((id) => forgottenHash(salt, hold.form.id, id));
      const next = withoutCheckpoint({ ...hold.state, windows: [] });
      const statements = dropForgotten(hold.store.relation, hold.form.id, hashes);
      await hold.commit(counted(next, { forgotten: -hashes.length }), statements);
      return hashes.length;
    });
  }

  async purgeDeleted(before: string): Promise<Erasure> {
    const all = { ...NOTHING_ERASED };
    for (;;) {
      const some = await this.#hold.run(async () =>
        purgeForm(this.#hold, await this.#held(), before),
      );
      if (some.rows + some.history === 0) return all;
      all.rows += some.rows;
      all.listings += some.listings;
      all.refusals += some.refusals;
      all.history += some.history;
    }
  }

  /** See `pruneHistory` of the port, which is the target's. */
  pruneHistory(before: string): Promise<number> {
    return this.#hold.run(() => pruneHistories(this.#hold, before));
  }

  emptyFields(fieldIds: readonly string[], at: string): Promise<number> {
    return this.#hold.run(async () =>
      emptyFormFields(this.#hold, await this.#held(), fieldIds, at),
    );
  }

  planWindows(windows: readonly WindowRecord[]): Promise<void> {
    return this.#change((state) => ({ ...state, windows }));
  }

  finish(pass: PassRecord, changes: PassEnd): Promise<readonly TargetNotice[] | undefined> {
    const hold = this.#hold;
    const { form, store } = hold;
    return hold.run(async () => {
      await this.#columns.ensureTable();
      const before = hold.state.checkpoint;
      const kept = keptPass(pass);
      let next = withPass(hold.state, kept);
      const statements = [addPass(store.relation, form.id, next.passes.number, kept)];
      if (next.passes.number % PRUNED_EVERY === 0)
        statements.push(prunePasses(store.relation, form.id, next.passes.number - KEPT_PASSES));
      const { checkpoint, comparedSince, goneAt } = changes;
      let hasSettled = false;
      if (checkpoint !== undefined) {
        next = { ...next, checkpoint };
        const isFull = pass.kind === 'full';
        if (pass.outcome !== 'incomplete' && (isFull || comparedSince !== undefined)) {
          const lists = await settleLists(hold, await this.#held(), pass, comparedSince);
          statements.push(...lists.statements);
          next = counted(next, lists.counts);
          const since = comparedSince ?? pass.startedAt;
          if (lists.canTell && next.statusesSince === null && next.table !== null) {
            const moment = { formId: form.id, at: since, entry: hold.entry };
            statements.push(completeStatuses(store.relation, moment, next.table));
            next = { ...next, statusesSince: since };
          }
          if (isFull) {
            next = withClosedWindows(next);
            hasSettled = true;
            if (this.#found !== undefined) {
              if (this.#found.losses.length > 0)
                statements.push(...endLostVersions(hold, hold.now()));
              next = { ...settled(next, this.#found), found: [] };
            }
          }
        }
        const wasFor = before === null ? undefined : before.provenFor;
        if (replacesRows(wasFor, checkpoint.provenFor))
          statements.push(...(await clearFormVersions(hold, this.#columns.hashed)));
      }
      if (goneAt !== undefined) next = { ...next, goneAt };
      await hold.commit(next, statements);
      if (hasSettled) this.#found = undefined;
      await syncFormViews(hold, 'all');
      return noticesOf(store, hold.state);
    });
  }

  /** Waits for writes in progress. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#hold.release();
  }

  #change(change: (state: FormState) => FormState): Promise<void> {
    return this.#hold.run(() => this.#hold.commit(change(this.#hold.state)));
  }

  async #held(): Promise<HeldForm | undefined> {
    const hold = this.#hold;
    return heldForm(hold.store, hold.state, await hold.table());
  }

  #moment(at: string) {
    return statusMoment(this.#hold, at);
  }
}
