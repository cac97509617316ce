import type { RowsAsStored } from '../../../mirror/as-stored.ts';
import type { Traces } from '../../../mirror/erasure.ts';
import { forgottenHash } from '../../../mirror/forgotten.ts';
import type { Loss } from '../../../mirror/losses.ts';
import type { MarkingRecord } from '../../../mirror/marking-record.ts';
import type { TargetNotice } from '../../../mirror/notices.ts';
import { sameCounts, type StatusCounts } from '../../../mirror/status-counts.ts';
import type {
  FormReader,
  ListedRejection,
  RecentRefusals,
  Refusal,
  StoredField,
  StoredRow,
} from '../../../mirror/target.ts';
import type { TimeCount, TimeGrain, TimeSpan } from '../../../mirror/time-counts.ts';
import type { Checkpoint, PassRecord, Row } from '../../../mirror/types.ts';
import type { WindowRecord } from '../../../mirror/window.ts';
import { besideNotices } from '../beside-notice.ts';
import { cleanText } from '../row-batch.ts';
import { behindNotices } from '../view-failures.ts';
import { asStoredRows } from './as-stored.ts';
import type { HeldTable } from './bigquery-tables.ts';
import { REJECTED } from './catalogue-shapes.ts';
import type { CountedForms } from './counted-forms.ts';
import { tablesToErase } from './erased-tables.ts';
import { countDeleted, countFilled, countTraces } from './erasure-counts.ts';
import { findLosses } from './found-losses.ts';
import type { FormState } from './form-state.ts';
import { readPasses } from './pass-reads.ts';
import { monthsOf } from './partitions.ts';
import { markOf } from './present-tables.ts';
import { listParameter, timeParameter, textParameter } from './sql-text.ts';
import type { Store } from './store.ts';
import {
  heldForm,
  type HeldForm,
  idChunks,
  idsOf,
  isLive,
  isWithinSpan,
  locate,
  readRows,
  timeOf,
} from './table-reads.ts';

/** Where a reader's form is. `state`: as it is now; `table`: as REST tells of it. */
export interface FormPlace {
  readonly formId: string;
  readonly store: Store;
  readonly state: () => Promise<FormState | undefined>;
  readonly table: (state: FormState) => Promise<HeldTable | undefined>;
  /** Gets the form where its rows are found to be as stored. */
  readonly counted?: CountedForms;
}

/** {@link FormReader} over a dataset: each method reads what is committed when it is called. */
export class BigQueryFormReader implements FormReader {
  readonly #place: FormPlace;
  /** Live rows by status, where losses were looked for. */
  #statuses: StatusCounts | undefined;

  constructor(place: FormPlace) {
    this.#place = place;
  }

  async checkpoint(): Promise<Checkpoint | undefined> {
    return (await this.#state())?.checkpoint ?? undefined;
  }

  async windows(): Promise<readonly WindowRecord[]> {
    return (await this.#state())?.windows ?? [];
  }

  async losses(): Promise<readonly Loss[]> {
    return this.#guarded(async () => {
      const state = await this.#place.state();
      if (state === undefined) return [];
      const { store, formId, counted } = this.#place;
      const table = await this.#place.table(state);
      const listed = state.counts.rejected > 0 ? await store.jobs.table(REJECTED) : undefined;
      const { losses, statuses } = await findLosses(store, formId, state, table);
      this.#statuses = statuses;
      if (losses.length === 0 && sameCounts(statuses, new Map(state.statuses))) {
        const found = new Map([table, listed].flatMap((one) => (one ? [[one.name, one]] : [])));
        const marks = (name: string): string | undefined => {
          const one = found.get(name);
          return one && markOf(one);
        };
        counted?.add(formId, state, marks);
      }
      return losses;
    });
  }

  async fields(): Promise<StoredField[]> {
    const fields = (await this.#state())?.fields ?? [];
    return fields.map(({ id, label, position, column, removedAt }) => {
      return { id, label, position, column, removedAt };
    });
  }

  async rows(ids: readonly string[]): Promise<Map<string, StoredRow>> {
    return this.#held(async (held) => {
      const found = await locate(this.#place.store, held, ids);
      return readRows(this.#place.store, held, idsOf(found), monthsOf(found));
    }, new Map());
  }

  async asStored(rows: readonly Row[], fieldIds: readonly string[]): Promise<RowsAsStored> {
    return asStoredRows((await this.#state())?.fields ?? [], rows, fieldIds);
  }

  async confirm(ids: readonly string[]): Promise<Set<string>> {
    return this.#held(async (held) => {
      // Without its column nothing says which rows are deleted.
      if (!held.present.has('_deleted_at')) return new Set();
      const found = await locate(this.#place.store, held, ids);
      const live = idsOf(found.filter(({ isDeleted }) => !isDeleted));
      const listed = await this.#listed(held.state, live);
      return new Set(live.filter((id) => !listed.has(id)));
    }, new Set());
  }

  liveIds(): AsyncIterable<string[]> {
    return this.#ids(isLive);
  }

  deletedIds(): AsyncIterable<string[]> {
    return this.#ids((held) => `NOT (${isLive(held)})`);
  }

  liveIdsWithin(span: TimeSpan, status?: string): AsyncIterable<string[]> {
    const isOf = status === undefined ? '' : ` AND COALESCE(t.status, '') = @status`;
    return this.#ids(
      (held) => `${isLive(held)} AND ${isWithinSpan(span)}${isOf}`,
      status === undefined ? {} : { status: textParameter(cleanText(status)) },
    );
  }

  /** As counted by {@link losses}; else as last counted by a pass, and moved by whatever was written since. Reads no row. */
  async statusCounts(): Promise<StatusCounts> {
    return this.#statuses ?? this.#held(async ({ state }) => new Map(state.statuses), new Map());
  }

  async timeCounts(span: TimeSpan, grain: TimeGrain): Promise<readonly TimeCount[]> {
    return this.#held(async (held) => {
      const rows = await this.#place.store.query({
        sql: `SELECT TIMESTAMP_TRUNC(t.created_at, ${grain.toUpperCase()}) AS start, COALESCE(t.status, '') AS status, COUNT(*) AS n
          FROM ${held.relation} AS t WHERE ${isLive(held)} AND ${isWithinSpan(span)} GROUP BY 1, 2 ORDER BY 1, 2`,
        parameters: {},
      });
      return rows.flatMap((row) => {
        const start = timeOf(row, 'start');
        return start === null
          ? []
          : [{ start, status: row['status'] ?? '', rows: Number(row['n']) }];
      });
    }, []);
  }

  markCandidates(statuses: readonly string[], refused: RecentRefusals): AsyncIterable<string[]> {
    const { formId, store } = this.#place;
    const wanted = [...new Set(statuses.map(cleanText))];
    if (wanted.length === 0) return NOTHING;
    return this.#ids(
      ({ state, ...held }) => {
        const listed =
          state.counts.rejected === 0
            ? ''
            : ` AND t.id NOT IN (SELECT r.submission_id FROM ${store.relation('mirror_rejected')} AS r WHERE r.form_id = @form)`;
        const refusals =
          state.counts.refusals === 0
            ? ''
            : ` AND NOT EXISTS (SELECT 1 FROM ${store.relation('mirror_refusals')} AS f WHERE f.form_id = @form AND f.reason <> ''
                 AND f.wanted = @wanted AND f.refused_at >= @since AND f.submission_id = t.id AND f.status = t.status)`;
        return `${isLive({ state, ...held })} AND t.status IN UNNEST(@statuses)${listed}${refusals}`;
      },
      {
        statuses: listParameter(wanted),
        form: textParameter(formId),
        wanted: textParameter(cleanText(refused.wanted)),
        since: timeParameter(refused.since),
      },
    );
  }

  async countRefused({ wanted, since }: RecentRefusals): Promise<number> {
    return this.#held(async (held) => {
      const { formId, store } = this.#place;
      if (held.state.counts.refusals === 0) return 0;
      const listed =
        held.state.counts.rejected === 0
          ? ''
          : ` AND t.id NOT IN (SELECT r.submission_id FROM ${store.relation('mirror_rejected')} AS r WHERE r.form_id = @form)`;
      const [row] = await store.query({
        sql: `SELECT COUNT(*) AS n FROM ${held.relation} AS t JOIN ${store.relation('mirror_refusals')} AS f
            ON f.submission_id = t.id AND f.status = t.status
          WHERE ${isLive(held)} AND f.form_id = @form AND f.reason <> '' AND f.wanted = @wanted AND f.refused_at >= @since${listed}`,
        parameters: {
          form: textParameter(formId),
          wanted: textParameter(cleanText(wanted)),
          since: timeParameter(since),
        },
      });
      return Number(row?.['n'] ?? 0);
    }, 0);
  }

  async triedBefore(ids: readonly string[], wanted: string): Promise<Set<string>> {
    const state = await this.#state();
    if (state === undefined || state.counts.refusals === 0 || ids.length === 0) return new Set();
    const { formId, store } = this.#place;
    const rows = await this.#guarded(() =>
      store.query({
        sql: `SELECT DISTINCT submission_id FROM ${store.relation('mirror_refusals')}
          WHERE form_id = @form AND wanted = @wanted AND submission_id IN UNNEST(@ids)`,
        parameters: {
          form: textParameter(formId),
          wanted: textParameter(cleanText(wanted)),
          ids: listParameter(ids.map(cleanText)),
        },
      }),
    );
    return new Set(rows.map((row) => row['submission_id'] ?? ''));
  }

  async rejections(limit: number): Promise<{ total: number; items: ListedRejection[] }> {
    const total = (await this.#state())?.counts.rejected ?? 0;
    if (total === 0) return { total, items: [] };
    const { formId, store } = this.#place;
    const rows = await this.#guarded(() =>
      store.query({
        sql: `SELECT submission_id, reason, stored, first_seen_at, last_seen_at, COUNT(*) OVER () AS total
          FROM ${store.relation('mirror_rejected')} WHERE form_id = @form
          ORDER BY first_seen_at DESC, submission_id, reason LIMIT ${Math.max(0, Math.trunc(limit))}`,
        parameters: { form: textParameter(formId) },
      }),
    );
    const items = rows.map((row) => ({
      submissionId: row['submission_id'] ?? '',
      reason: row['reason'] ?? '',
      stored: row['stored'] === 'true',
      firstSeenAt: timeOf(row, 'first_seen_at') ?? '',
      lastSeenAt: timeOf(row, 'last_seen_at') ?? '',
    }));
    return { total: Number(rows[0]?.['total'] ?? total), items };
  }

  async marking(): Promise<MarkingRecord | null> {
    return (await this.#state())?.marking ?? null;
  }

  async refusals(submissionId: string): Promise<Refusal[]> {
    const state = await this.#state();
    if (state === undefined || state.counts.refusals === 0) return [];
    const { formId, store } = this.#place;
    const rows = await this.#guarded(() =>
      store.query({
        sql: `SELECT submission_id, status, wanted, reason, refused_at FROM ${store.relation('mirror_refusals')}
          WHERE form_id = @form AND submission_id = @id AND reason <> '' ORDER BY refused_at DESC, status, wanted`,
        parameters: { form: textParameter(formId), id: textParameter(cleanText(submissionId)) },
      }),
    );
    return rows.map((row) => ({
      submissionId: row['submission_id'] ?? '',
      status: row['status'] ?? '',
      wanted: row['wanted'] ?? '',
      reason: row['reason'] ?? '',
      at: timeOf(row, 'refused_at') ?? '',
    }));
  }

  async forgotten(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const state = await this.#state();
    const salt = state?.salt ?? null;
    if (state === undefined || salt === null || ids.length === 0) return new Map();
    const { formId, store } = this.#place;
    const byHash = new Map(ids.map((id) => [forgottenHash(salt, formId, id), id]));
    const rows = await this.#guarded(() =>
      store.query({
        sql: `SELECT id_hash, MIN(forgotten_at) AS forgotten_at FROM ${store.relation('mirror_forgotten')}
          WHERE form_id = @form AND id_hash IN UNNEST(@hashes) GROUP BY id_hash`,
        parameters: { form: textParameter(formId), hashes: listParameter([...byHash.keys()]) },
      }),
    );
    return new Map(
      rows.map((row) => [
        byHash.get(row['id_hash'] ?? '') ?? '',
        timeOf(row, 'forgotten_at') ?? '',
      ]),
    );
  }

  async traces(ids: readonly string[]): Promise<Traces> {
    const { formId, store } = this.#place;
    const none = { rows: 0, listings: 0, refusals: 0, history: 0 };
    return this.#guarded(async () => {
      const state = await this.#place.state();
      if (state === undefined || ids.length === 0) return none;
      const others = await tablesToErase(store, state);
      const held = await this.#heldOf(state);
      const { traces, isOfForm } = await countTraces(store, formId, held, others, ids);
      // Each form would say so, and be asked to forget them.
      return isOfForm ? traces : none;
    });
  }

  async countDeleted(before: string): Promise<number> {
    return this.#held((held) => countDeleted(this.#place.store, held, before), 0);
  }

  async countFilled(fieldIds: readonly string[]): Promise<number> {
    return this.#held((held) => countFilled(this.#place.store, held, fieldIds), 0);
  }

  async passes(limit: number): Promise<PassRecord[]> {
    const state = await this.#state();
    if (state === undefined || state.passes.number === 0) return [];
    const { formId, store } = this.#place;
    return this.#guarded(() => readPasses(store, formId, limit));
  }

  async notices(): Promise<readonly TargetNotice[]> {
    const state = await this.#state();
    return state === undefined ? [] : noticesOf(this.#place.store, state);
  }

  /** The same of the form as it is now. */
  protected async listedAmong(ids: readonly string[]): Promise<Set<string>> {
    const state = await this.#place.state();
    return state === undefined ? new Set() : this.#listed(state, ids);
  }

  /** Of these IDs those that are listed as rejected. */
  async #listed(state: FormState, ids: readonly string[]): Promise<Set<string>> {
    if (state.counts.rejected === 0 || ids.length === 0) return new Set();
    const { formId, store } = this.#place;
    const rows = await store.query({
      sql: `SELECT DISTINCT submission_id FROM ${store.relation('mirror_rejected')} WHERE form_id = @form AND submission_id IN UNNEST(@ids)`,
      parameters: { form: textParameter(formId), ids: listParameter(ids) },
    });
    return new Set(rows.map((row) => row['submission_id'] ?? ''));
  }

  async *#ids(
    condition: (held: HeldForm) => string,
    parameters: Parameters<typeof idChunks>[3] = {},
  ): AsyncGenerator<string[]> {
    const held = await this.#held(async (one) => one, undefined);
    if (held === undefined) return;
    const chunks = idChunks(this.#place.store, held, condition(held), parameters);
    for (;;) {
      const next = await this.#guarded(() => chunks.next());
      if (next.done === true) return;
      yield next.value;
    }
  }

  #state(): Promise<FormState | undefined> {
    return this.#guarded(() => this.#place.state());
  }

  /** What `read` gives of the form's table; `none` where there is none. */
  #held<T>(read: (held: HeldForm) => Promise<T>, none: T): Promise<T> {
    return this.#guarded(async () => {
      const state = await this.#place.state();
      const held = state && (await this.#heldOf(state));
      return held === undefined ? none : read(held);
    });
  }

  async #heldOf(state: FormState): Promise<HeldForm | undefined> {
    return heldForm(this.#place.store, state, await this.#place.table(state));
  }

  #guarded<T>(work: () => Promise<T>): Promise<T> {
    return this.#place.store.guarded(work);
  }
}

/** What there is to say of a form's table. */
export const noticesOf = (store: Store, state: FormState): TargetNotice[] =>
  state.table === null
    ? []
    : [
        ...besideNotices(
          store,
          { table: state.table, view: state.view ?? '' },
          state.fields.filter(({ isEmptied }) => !isEmptied),
        ),
        ...behindNotices(store, Object.values(state.viewFailures), 'pass of the form'),
      ];

/** No chunks. */
const NOTHING: AsyncIterable<string[]> = {
  async *[Symbol.asyncIterator]() {},
};
