import type { Clock } from '../../base/clock.ts';
import { throwIfAborted } from '../../base/clock.ts';
import { MirrorError } from '../../base/errors.ts';
import type {
  CheckFinding,
  FormOverview,
  FormReader,
  FormWriter,
  Target,
  TargetKind,
  WriterOptions,
} from '../../mirror/target.ts';
import type { FormIdentity } from '../../mirror/types.ts';
import { loadForm } from './catalogue.ts';
import { ensureCatalogue, hasCatalogue } from './catalogue-tables.ts';
import type { SqlDialect } from './dialect.ts';
import { busyForm, type FormLock, takeEpoch } from './form-lock.ts';
import { SqlFormReader } from './form-reader.ts';
import { SqlFormWriter } from './form-writer.ts';
import { readOverview } from './overview.ts';
import { translateError } from './sql-errors.ts';
import type { SqlSession } from './sql-session.ts';

/** A database as {@link SqlTarget} uses it. Its methods reject with the driver's own errors. */
export interface SqlDatabase {
  readonly kind: TargetKind;
  /** For people: no password (L15). */
  readonly address: string;
  readonly dialect: SqlDialect;
  /** Where to read; undefined when there is no database yet. */
  reading(): Promise<SqlSession | undefined>;
  /** Takes the lock on a form; undefined when another holds it for longer than `waitMs`. */
  lockForm(formId: string, options: WriterOptions): Promise<FormLock | undefined>;
  check(signal: AbortSignal | undefined): Promise<CheckFinding[]>;
  close(): Promise<void>;
}

/** A {@link Target} in a SQL database: one table and one view a form, and a catalogue beside them. */
export class SqlTarget implements Target {
  readonly name: string;
  readonly kind: TargetKind;
  readonly address: string;
  readonly batchRows = 1_000;
  readonly #database: SqlDatabase;
  readonly #clock: Clock;
  readonly #place: string;

  constructor(name: string, database: SqlDatabase, clock: Clock) {
    this.name = name;
    this.kind = database.kind;
    this.address = database.address;
    this.#database = database;
    this.#clock = clock;
    this.#place = `Target ${name} (${database.address})`;
  }

  check(signal?: AbortSignal): Promise<CheckFinding[]> {
    return this.#database.check(signal);
  }

  async overview(): Promise<FormOverview[]> {
    return this.#guarded(async () => {
      const session = await this.#catalogued();
      return session === undefined ? [] : readOverview(session, this.#database.dialect);
    });
  }

  async reader(formId: string): Promise<FormReader | undefined> {
    const { dialect } = this.#database;
    return this.#guarded(async () => {
      const session = await this.#catalogued();
      if (session === undefined) return undefined;
      const form = await loadForm(session, dialect, formId);
      return form && new SqlFormReader(this.#context(formId));
    });
  }

  async openWriter(form: FormIdentity, options: WriterOptions): Promise<FormWriter> {
    const { dialect } = this.#database;
    throwIfAborted(options.signal);
    return this.#guarded(async () => {
      const lock = await this.#database.lockForm(form.id, options);
      if (lock === undefined) {
        const session = await this.#database.reading();
        throw await busyForm(session, dialect, form.id, this.#place);
      }
      try {
        return await this.#writer(form, lock);
      } catch (error) {
        await lock.release().catch(() => {});
        throw error;
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.close();
  }

  async #writer(form: FormIdentity, lock: FormLock): Promise<FormWriter> {
    const { dialect } = this.#database;
    const at = new Date(this.#clock.now()).toISOString();
    if (!(await hasCatalogue(lock.connection, dialect))) {
      await lock.connection.transaction((tx) => ensureCatalogue(tx, dialect));
    }
    return lock.connection.transaction(async (tx) => {
      const epoch = await takeEpoch(tx, dialect, form.id, at);
      const known = await loadForm(tx, dialect, form.id);
      return new SqlFormWriter({
        ...this.#context(form.id),
        form,
        lock,
        epoch,
        known,
        clock: this.#clock,
      });
    });
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
          `${this.#place}: the database is gone. The next pass makes it anew.`,
        );
      },
    };
  }

  /** Where to read, when there is a catalogue. */
  async #catalogued(): Promise<SqlSession | undefined> {
    const session = await this.#database.reading();
    if (session === undefined) return undefined;
    return (await hasCatalogue(session, this.#database.dialect)) ? session : undefined;
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw translateError(error, this.#database.dialect.explain, this.#place);
    }
  }
}
