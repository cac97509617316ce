import type { Clock } from '../../base/clock.ts';
import { throwIfAborted } from '../../base/clock.ts';
import { MirrorError } from '../../base/errors.ts';
import type {
  CheckResult,
  FormOverview,
  FormReader,
  FormWriter,
  HeldForm,
  MarkingLock,
  Target,
  TargetKind,
  WriterOptions,
} from '../../mirror/target.ts';
import type { HistoryKind } from '../../mirror/histories.ts';
import type { LookRecord } from '../../mirror/look-record.ts';
import type { Pause } from '../../mirror/pauses.ts';
import type { TargetRelations } from '../../mirror/relations.ts';
import type { FormSnapshot } from '../../mirror/snapshot.ts';
import type { FormIdentity } from '../../mirror/types.ts';
import { type Catalogue, loadForm } from './catalogue.ts';
import { type CataloguePlace, changeCatalogue, healCatalogue } from './catalogue-change.ts';
import { restoreForm } from './catalogue-copy.ts';
import { assertWhole } from './catalogue-repair.ts';
import { hasCatalogue } from './catalogue-version.ts';
import type { SqlDialect } from './dialect.ts';
import { restoreForgotten } from './forgotten.ts';
import { busyForm, type FormLock, takeEpoch } from './form-lock.ts';
import { holdMarkingLock, markingLockName } from './marking-lock.ts';
import { readHeldForms } from './held-forms.ts';
import { SqlFormReader } from './form-reader.ts';
import { formSnapshot, type SqlSnapshot } from './form-snapshot.ts';
import { SqlFormWriter } from './form-writer.ts';
import { LOOKS_LOCK, readLook, saveLook } from './looks.ts';
import { rememberLosses } from './losses.ts';
import { readOverview } from './overview.ts';
import {
  busyPauses,
  endPause,
  PAUSES_LOCK,
  readPauses,
  refusePaused,
  savePause,
} from './pauses.ts';
import { readRelations, type SqlPlaceName } from './relations.ts';
import { endScrub, needsScrub } from './scrubbing.ts';
import { busySlugs, readSlugs, saveSlug, SLUGS_LOCK } from './slugs.ts';
import { translateError } from './sql-errors.ts';
import { standingOf } from './table-standing.ts';
import type { SqlConnection, SqlSession } from './sql-session.ts';
import { syncViews } from './view-sync.ts';

/** A database as {@link SqlTarget} uses it. Its methods reject with the driver's own errors. */
export interface SqlDatabase {
  readonly kind: TargetKind;
  /** For people: no password (L15). */
  readonly address: string;
  readonly dialect: SqlDialect;
  readonly placeName: SqlPlaceName;
  /** Where to read; undefined when there is no database yet. */
  reading(): Promise<SqlSession | undefined>;
  /** A connection of its own that sees the database as it is now, until it is disposed; undefined when there is none yet. */
  snapshot(): Promise<SqlSnapshot | undefined>;
  /** Takes the lock of a form, or one of another name; undefined when another holds it for longer than `waitMs`. */
  lockForm(name: string, options: WriterOptions): Promise<FormLock | undefined>;
  check(signal: AbortSignal | undefined): Promise<CheckResult[]>;
  /** Takes what was deleted out of the files; called where the dialect `scrubs`. */
  scrub?(work: (connection: SqlSession) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** How long keeping a look, or pausing, waits for another process that does the same. */
const CHANGE_WAIT_MS = 10_000;

/** The name of the lock of whoever makes views that passes left: no ID of a form has a space. */
const VIEWS_LOCK = 'views over all forms';

/** A {@link Target} in a SQL database: one table and one view a form, and a catalogue beside them. */
export class SqlTarget implements Target {
  readonly name: string;
  readonly kind: TargetKind;
  readonly address: string;
  readonly batchRows: number;
  readonly #database: SqlDatabase;
  readonly #clock: Clock;
  readonly #place: string;
  /** A pass left the views over all forms for later. */
  #viewsAreLeft = false;
  readonly #keepsVersions: boolean;

  constructor(name: string, database: SqlDatabase, clock: Clock, history: HistoryKind = 'status') {
    this.#keepsVersions = history === 'full';
    this.name = name;
    this.kind = database.kind;
    this.address = database.address;
    this.batchRows = database.dialect.batchRows;
    this.#database = database;
    this.#clock = clock;
    this.#place = `Target ${name} (${database.address})`;
  }

  check(signal?: AbortSignal): Promise<CheckResult[]> {
    return this.#database.check(signal);
  }

  async overview(): Promise<FormOverview[]> {
    return this.#guarded(async () => {
      const catalogue = await this.#catalogue();
      return catalogue === undefined ? [] : readOverview(catalogue, this.#keepsVersions);
    });
  }

  async heldForms(): Promise<HeldForm[]> {
    return this.#guarded(async () => {
      const session = await this.#database.reading();
      return session === undefined ? [] : readHeldForms(session, this.#database.dialect);
    });
  }

  async reader(formId: string): Promise<FormReader | undefined> {
    return this.#guarded(async () => {
      const catalogue = await this.#catalogue();
      if (catalogue === undefined) return undefined;
      const form = await loadForm(catalogue.session, catalogue.dialect, formId);
      return form && new SqlFormReader(this.#context(formId));
    });
  }

  async relations(): Promise<TargetRelations> {
    return this.#guarded(async () => {
      const catalogue = await this.#catalogue();
      const relations = catalogue === undefined ? [] : await readRelations(catalogue);
      return { ...this.#database.placeName, relations };
    });
  }

  async snapshot(formId: string): Promise<FormSnapshot | undefined> {
    const snapshot = await this.#guarded(() => this.#database.snapshot());
    if (snapshot === undefined) return undefined;
    try {
      return await this.#guarded(() => this.#snapshotOf(formId, snapshot));
    } catch (error) {
      await snapshot[Symbol.asyncDispose]();
      throw error;
    }
  }

  openWriter(form: FormIdentity, options: WriterOptions): Promise<FormWriter> {
    return this.#openWriter(form, options);
  }

  async #openWriter(form: FormIdentity, options: WriterOptions): Promise<SqlFormWriter> {
    const { dialect } = this.#database;
    throwIfAborted(options.signal);
    return this.#guarded(async () => {
      const lock = await this.#database.lockForm(form.id, options);
      if (lock === undefined) {
        const session = await this.#database.reading();
        throw await busyForm(session, dialect, form.id, this.#place);
      }
      try {
        if (options.whilePaused !== true && (await hasCatalogue(lock.connection, dialect)))
          await refusePaused(lock.connection, dialect, form, this.name);
        return await this.#writer(form, lock);
      } catch (error) {
        await lock.release().catch(() => {});
        throw error;
      }
    });
  }

  async pruneHistory(form: FormIdentity, before: string, options: WriterOptions): Promise<number> {
    await using writer = await this.#openWriter(form, options);
    return await writer.pruneHistory(before);
  }

  async lockMarking(formId: string, signal?: AbortSignal): Promise<MarkingLock | undefined> {
    const { dialect } = this.#database;
    const place = this.#place;
    throwIfAborted(signal);
    return this.#guarded(async () => {
      const name = markingLockName(formId);
      const lock = await this.#database.lockForm(name, { waitMs: 0, signal });
      if (lock === undefined) return undefined;
      try {
        // Refuses one of another schema.
        await hasCatalogue(lock.connection, dialect);
        return await holdMarkingLock(lock, { dialect, formId, place, clock: this.#clock });
      } catch (error) {
        await lock.release().catch(() => {});
        throw error;
      }
    });
  }

  async lastLook(): Promise<LookRecord | null> {
    return this.#guarded(async () => {
      const session = await this.#mirror();
      return session === undefined ? null : readLook(session, this.#database.dialect);
    });
  }

  async recordLook(look: LookRecord): Promise<void> {
    const { dialect } = this.#database;
    await this.#guarded(async () => {
      const lock = await this.#database.lockForm(LOOKS_LOCK, { waitMs: CHANGE_WAIT_MS });
      // Another process keeps one that is as new.
      if (lock === undefined) return;
      const save = (tx: SqlSession): Promise<void> => saveLook(tx, dialect, look);
      // A tick in which no form differs has no pass that could make what the last ones left.
      await changeCatalogue(lock, this.#where(), save, (each) => this.#syncViews(each));
    });
  }

  async pauses(): Promise<Pause[]> {
    return this.#guarded(async () => {
      const session = await this.#mirror();
      return session === undefined ? [] : readPauses(session, this.#database.dialect);
    });
  }

  pause(pause: Pause): Promise<Pause> {
    return this.#changePauses((tx) => savePause(tx, this.#database.dialect, pause));
  }

  async resume(formId: string | null): Promise<Pause | undefined> {
    if ((await this.pauses()).length === 0) return undefined;
    return this.#changePauses((tx) => endPause(tx, this.#database.dialect, formId));
  }

  #changePauses<T>(change: (tx: SqlSession) => Promise<T>): Promise<T> {
    return this.#guarded(async () => {
      const lock = await this.#database.lockForm(PAUSES_LOCK, { waitMs: CHANGE_WAIT_MS });
      if (lock === undefined) throw busyPauses(this.#place);
      return changeCatalogue(lock, this.#where(), change);
    });
  }

  async slugs(): Promise<ReadonlyMap<string, string>> {
    const { dialect } = this.#database;
    return this.#guarded(async () => {
      const session = await this.#database.reading();
      return session === undefined ? new Map<string, string>() : readSlugs(session, dialect);
    });
  }

  async bindSlug(slug: string, formId: string): Promise<string> {
    const { dialect } = this.#database;
    return this.#guarded(async () => {
      const lock = await this.#database.lockForm(SLUGS_LOCK, { waitMs: CHANGE_WAIT_MS });
      if (lock === undefined) throw busySlugs(this.#place);
      return changeCatalogue(lock, this.#where(), (tx) => saveSlug(tx, dialect, slug, formId));
    });
  }

  async scrub(): Promise<void> {
    const database = this.#database;
    const { dialect } = database;
    await this.#guarded(async () => {
      if (database.scrub === undefined) return;
      const catalogue = await this.#catalogue();
      if (catalogue === undefined) return;
      if (!(await needsScrub(catalogue.session, dialect))) return;
      await database.scrub((connection) => endScrub(connection, dialect));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#viewsAreLeft) await this.#makeViews().catch(() => {});
    await this.#database.close();
  }

  /** Makes the views over all forms that passes left while further forms came. */
  async #makeViews(): Promise<void> {
    this.#viewsAreLeft = false;
    const lock = await this.#database.lockForm(VIEWS_LOCK, { waitMs: 0 });
    // Another process is at it.
    if (lock === undefined) return;
    try {
      await this.#syncViews(lock.connection);
    } finally {
      await lock.release();
    }
  }

  #syncViews(connection: SqlConnection): Promise<unknown> {
    const at = new Date(this.#clock.now()).toISOString();
    return syncViews(connection, this.#database.dialect, { formId: undefined, when: 'now', at });
  }

  async #snapshotOf(formId: string, snapshot: SqlSnapshot): Promise<FormSnapshot | undefined> {
    const { dialect } = this.#database;
    const catalogue = await this.#catalogueOf(snapshot.session);
    const form = catalogue && (await loadForm(snapshot.session, dialect, formId));
    if (form === undefined) {
      await snapshot[Symbol.asyncDispose]();
      return undefined;
    }
    const present = await dialect.columnsOf(snapshot.session, form.table);
    if (present === undefined || standingOf(present) !== 'ours') {
      const table = dialect.shownRelation(form.table);
      throw new MirrorError(
        'TARGET_FAILED',
        `${this.#place}: the table ${table} is not there any more, or has lost its columns. The next pass makes it again and reads everything.`,
      );
    }
    const guarded = <T>(read: () => Promise<T>): Promise<T> => this.#guarded(read);
    return formSnapshot({ dialect, snapshot, form, present: new Set(present), guarded });
  }

  async #writer(form: FormIdentity, lock: FormLock): Promise<SqlFormWriter> {
    const { dialect, at } = this.#where();
    await healCatalogue(lock.connection, this.#where());
    const open = async (tx: SqlSession): Promise<SqlFormWriter> => {
      // A writer that has lost its lock has ended its batch, and writes no other.
      await dialect.enterForm?.(tx, form.id);
      const restored = await restoreForm(tx, dialect, form.id, at);
      const losses = restored.map(
        (name) => ({ what: 'records', name: `content of ${name}` }) as const,
      );
      await rememberLosses(tx, dialect, form.id, losses);
      await restoreForgotten(tx, dialect, form.id);
      const epoch = await takeEpoch(tx, dialect, form.id, at);
      const known = await loadForm(tx, dialect, form.id);
      return new SqlFormWriter({
        ...this.#context(form.id),
        form,
        lock,
        epoch,
        known,
        clock: this.#clock,
        onViewsLeft: () => (this.#viewsAreLeft = true),
        keepsVersions: this.#keepsVersions,
      });
    };
    return lock.connection.transaction(open, 'first');
  }

  #where(): CataloguePlace {
    const at = new Date(this.#clock.now()).toISOString();
    return { dialect: this.#database.dialect, place: this.#place, at };
  }

  #context(formId: string) {
    return {
      formId,
      dialect: this.#database.dialect,
      place: this.#place,
      session: async (): Promise<SqlSession> => {
        const session = await this.#database.reading();
        if (session !== undefined) return session;
        throw new MirrorError(
          'TARGET_UNREACHABLE',
          `${this.#place}: the database is gone. The next pass creates it again.`,
        );
      },
    };
  }

  /** Where to read a mirror; undefined when there is none yet. */
  async #mirror(): Promise<SqlSession | undefined> {
    const session = await this.#database.reading();
    const isThere = session && (await hasCatalogue(session, this.#database.dialect));
    return isThere === true ? session : undefined;
  }

  /** The catalogue; undefined when there is none. */
  async #catalogue(): Promise<Catalogue | undefined> {
    const session = await this.#database.reading();
    return session && this.#catalogueOf(session);
  }

  async #catalogueOf(session: SqlSession): Promise<Catalogue | undefined> {
    const { dialect } = this.#database;
    if (!(await hasCatalogue(session, dialect))) return undefined;
    await assertWhole(session, dialect, this.#place);
    return { session, dialect };
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw translateError(error, this.#database.dialect.describeError, this.#place);
    }
  }
}
