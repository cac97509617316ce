import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { Events } from '../../src/base/events.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { FormsClient } from '../../src/forms/client.ts';
import { parsePicks } from '../../src/mirror/picks.ts';
import type { Target } from '../../src/mirror/target.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/forms-api/sandbox.ts';
import { FormsStore } from '../../src/sandbox/forms-api/store.ts';
import type { SyncContext } from '../../src/sync/context.ts';
import type { PassReport } from '../../src/sync/events.ts';
import { LabelCache } from '../../src/sync/label-cache.ts';
import type { PassRequest } from '../../src/sync/pass-request.ts';
import { runPass } from '../../src/sync/run-pass.ts';
import { verifyForm, type VerifyReport } from '../../src/sync/verify.ts';
import { dropViews } from './sql-by-hand.ts';
import type { SqlPlace } from './sql-target.ts';

const SUBMISSIONS = 250;
const [FORM, NAME, AGE] = ['frm_1', 'field_1_a', 'field_2_b'];
const PICKS = { picks: parsePicks(['*']), hashKey: undefined };

/** A mirror of a form, and a source that is quiet unless a test changes it. */
export interface DamageStage {
  readonly place: SqlPlace;
  readonly target: Target;
  readonly store: FormsStore;
  /** A statement, as a person would run it; `{name}` is a table. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  pass(wishes?: Partial<PassRequest>): Promise<PassReport>;
  verify(): Promise<VerifyReport>;
  submit(count: number): string[];
  /** Gives the newest submission an answer that no target stores as it is. */
  breakOne(): void;
  /** Gives the second field another label. */
  relabel(): void;
  /** Expects every submission of the source to be there, as it is. */
  expectSame(): Promise<void>;
}

/** A place with {@link SUBMISSIONS} rows that a full pass has proven, for the tests of the `describe` around it. */
export function stageDamage(makePlace: () => Promise<SqlPlace>): DamageStage {
  let place: SqlPlace;
  let target: Target;
  let store: FormsStore;
  let sandbox: Sandbox;
  let client: FormsClient;
  let now = Date.UTC(2026, 2, 1);
  const signal = new AbortController().signal;
  const context = (): SyncContext => ({
    client,
    labels: new LabelCache(client, systemClock),
    clock: systemClock,
    logger: silentLogger,
    events: new Events(),
    maxDeleteFraction: 0.2,
    readAhead: 4,
  });
  const stage: Omit<DamageStage, 'place' | 'target' | 'store'> = {
    sql: (text) =>
      place.query(text.replace(/\{(\w+)\}/g, (_all, name: string) => place.relation(name))),
    pass: (wishes = {}) =>
      runPass(
        context(),
        target,
        { formId: FORM, kind: 'incremental', ...PICKS, waitMs: 0, ...wishes },
        signal,
      ),
    verify: () => verifyForm(context(), target, { formId: FORM, ...PICKS }, signal),
    submit: (count) =>
      Array.from({ length: count }, () => {
        now += 1_000;
        const data = { [NAME]: `Žofie ${now}`, [AGE]: (now / 1_000) % 97 };
        return store.insert({ formId: FORM, data, createdAt: now }).id;
      }),
    breakOne: () => store.distort(store.ids(FORM).at(-1) ?? '', { createdAt: 'last Tuesday' }),
    relabel: () => store.relabelField(FORM, AGE, 'Years'),
    async expectSame() {
      expect(await stage.verify()).toMatchObject({ outcome: 'same' });
      const [form] = await stage.sql('SELECT table_name, view_name FROM {mirror_forms}');
      expect(form?.['view_name']).toBe('contact_form_labelled');
      for (const relation of Object.values(form ?? {})) {
        const rows = await stage.sql(
          `SELECT CAST(count(*) AS text) AS n FROM {${String(relation)}}`,
        );
        expect(rows).toEqual([{ n: String(store.ids(FORM).length) }]);
      }
    },
  };
  beforeEach(async () => {
    place = await makePlace();
    target = await place.open();
    now = Date.UTC(2026, 2, 1);
    store = new FormsStore({ seed: 3, clock: { now: () => now } });
    const fields = [
      { id: NAME, label: 'Full name' },
      { id: AGE, label: 'Age' },
    ];
    store.addForm({ id: FORM, name: 'Contact form', slug: 'contact-form', fields });
    stage.submit(SUBMISSIONS);
    sandbox = await startSandbox({ store });
    client = new FormsClient({
      baseUrl: sandbox.url,
      apiKey: sandbox.apiKey,
      auth: 'bearer',
      concurrency: 4,
      clock: systemClock,
    });
    expect(await stage.pass()).toMatchObject({ outcome: 'ok', inserted: SUBMISSIONS });
  });
  afterEach(async () => {
    await target[Symbol.asyncDispose]();
    await client[Symbol.asyncDispose]();
    await sandbox.stop();
    await place.dispose();
  });
  return {
    ...stage,
    get place() {
      return place;
    },
    get target() {
      return target;
    },
    get store() {
      return store;
    },
  };
}

/** What people do to tables and columns, and the ordinary passes after it (L1, L17). */
export function describeDamage(name: string, makePlace: () => Promise<SqlPlace>): void {
  describe(`what passes say of damaged tables in ${name}`, () => {
    const stage = stageDamage(makePlace);
    const sql = (text: string): Promise<Record<string, unknown>[]> => stage.sql(text);
    const store = (): FormsStore => stage.store;
    const isSqlite = (): boolean => stage.place.product === 'SQLite';
    const dropOurs = (): Promise<void> => dropViews(stage.place);

    it('L4: nothing is read again when nobody touched it', async () => {
      expect(await stage.pass()).toMatchObject({
        kind: 'incremental',
        outcome: 'ok',
        reason: null,
      });
      stage.submit(3);
      const { kind, inserted, reason } = await stage.pass();
      expect([kind, inserted, reason]).toEqual(['incremental', 3, null]);
      expect(await stage.pass()).toMatchObject({ kind: 'incremental', inserted: 0 });
    });

    const rowsOf = (rows: number): string =>
      `${rows} rows that were mirrored are missing in the target; everything is read again.`;
    const someRows = `id IN (SELECT id FROM (SELECT id FROM {contact_form} ORDER BY id LIMIT 4) AS f)`;
    const CASES: readonly [string, () => Promise<unknown>, RegExp | string][] = [
      [
        'the table dropped',
        async () => {
          await dropOurs();
          await sql('DROP TABLE {contact_form}');
        },
        /^The table .*contact_form was gone; everything is read again\.$/,
      ],
      [
        'the table renamed, its view left',
        () => sql('ALTER TABLE {contact_form} RENAME TO old_one'),
        /^The table .*contact_form was gone; everything is read again\.$/,
      ],
      ['all rows deleted', () => sql('DELETE FROM {contact_form}'), rowsOf(SUBMISSIONS)],
      ['some rows deleted', () => sql(`DELETE FROM {contact_form} WHERE ${someRows}`), rowsOf(4)],
      [
        'some rows marked deleted',
        () => sql(`UPDATE {contact_form} SET _deleted_at = '2026-03-02' WHERE ${someRows}`),
        '4 rows are marked deleted that the mirror did not mark; everything is read again.',
      ],
      [
        'a column dropped',
        async () => {
          await dropOurs();
          await sql('ALTER TABLE {contact_form} DROP COLUMN age');
        },
        'The column Age was gone; everything is read again.',
      ],
      [
        'two system columns dropped',
        async () => {
          await dropOurs();
          await sql('ALTER TABLE {contact_form} DROP COLUMN _first_seen_at');
          if (isSqlite()) await sql('DROP INDEX contact_form_dates');
          await sql('ALTER TABLE {contact_form} DROP COLUMN created_at');
        },
        'The columns created_at, _first_seen_at were gone; everything is read again.',
      ],
      [
        'the table renamed, and another put in its place',
        async () => {
          await dropOurs();
          await sql('ALTER TABLE {contact_form} RENAME TO old_one');
          await sql('CREATE TABLE {contact_form} (mine text)');
        },
        /^The table .*contact_form was gone; everything is read again\.$/,
      ],
      [
        'the table renamed, and a part of it put in its place',
        async () => {
          if (isSqlite()) await dropOurs();
          await sql('ALTER TABLE {contact_form} RENAME TO old_one');
          await sql(
            `CREATE TABLE {contact_form} AS SELECT * FROM {old_one} AS t WHERE ${someRows.replace('{contact_form}', '{old_one}')}`,
          );
        },
        rowsOf(SUBMISSIONS - 4),
      ],
    ];
    describe.each(CASES)('%s', (_, harm, reason) => {
      const matching = typeof reason === 'string' ? reason : expect.stringMatching(reason);

      it('an ordinary pass reads everything, says why, and what it claims is true', async () => {
        await harm();
        const report = await stage.pass();
        expect(report).toMatchObject({ kind: 'full', outcome: 'ok', reason: matching });
        await stage.expectSame();
        expect((await stage.target.overview())[0]?.losses).toEqual([]);
        expect(await stage.pass()).toMatchObject({ kind: 'incremental', reason: null });
        await stage.expectSame();
      });

      it('so it does when as many were submitted in the meantime', async () => {
        await harm();
        stage.submit(4);
        expect(await stage.pass()).toMatchObject({ kind: 'full', outcome: 'ok', reason: matching });
        await stage.expectSame();
        expect(await stage.pass()).toMatchObject({ kind: 'incremental', outcome: 'ok' });
      });

      it('until then verify, status and a dry run say what is there, and change nothing', async () => {
        await harm();
        const before = await stage.target.overview();
        expect(before[0]?.losses).not.toEqual([]);
        expect(await stage.verify()).toMatchObject({ outcome: 'different' });
        const dry = await stage.pass({ dryRun: true });
        expect(dry).toMatchObject({ kind: 'full', outcome: 'ok', reason: matching });
        expect(dry.inserted + dry.updated).toBeGreaterThan(0);
        expect(await stage.target.overview()).toEqual(before);
      });
    });

    it('the mark of deleted rows taken away: is set again, once the source has said that they are gone', async () => {
      const gone = store().ids(FORM).slice(0, 5);
      for (const id of gone) store().delete(id);
      expect(await stage.pass({ kind: 'full' })).toMatchObject({ outcome: 'ok', deleted: 5 });
      await sql(`UPDATE {contact_form} SET _deleted_at = NULL WHERE id <> '${gone[0]}'`);
      const report = await stage.pass();
      const reason =
        '4 rows that the mirror marked deleted are no longer marked; everything is read again.';
      expect(report).toMatchObject({ kind: 'full', outcome: 'ok', reason, deleted: 4 });
      const counts = { rows: SUBMISSIONS - 5, deletedRows: 5, losses: [] };
      expect((await stage.target.overview())[0]).toMatchObject(counts);
      expect(await stage.pass()).toMatchObject({ kind: 'incremental', reason: null });
    });

    it('rows marked deleted, then purged or forgotten: are still missing, until a pass stores them again', async () => {
      await sql(`UPDATE {contact_form} SET _deleted_at = '2026-03-02' WHERE ${someRows}`);
      const form = { id: FORM, slug: 'contact-form', name: 'Contact form' };
      {
        await using writer = await stage.target.openWriter(form, { waitMs: 0 });
        expect(await writer.purgeDeleted('2026-03-03')).toMatchObject({ rows: 4 });
      }
      expect(await stage.pass()).toMatchObject({ kind: 'full', outcome: 'ok', inserted: 4 });
      await stage.expectSame();
      expect(await stage.pass()).toMatchObject({ kind: 'incremental', reason: null });
    });

    /** SQLite drops no column that an index or a view mentions. */
    const dropColumn = async (column: string): Promise<void> => {
      await dropOurs();
      if (isSqlite()) await sql('DROP INDEX contact_form_status');
      if (isSqlite()) await sql('DROP INDEX contact_form_dates');
      if (isSqlite()) await sql('DROP INDEX contact_form_changed');
      await sql(`ALTER TABLE {contact_form} DROP COLUMN ${column}`);
    };

    describe.each(['status', 'created_at', '_first_seen_at', '_changed_at', '_deleted_at'])(
      'the column %s dropped',
      (column) => {
        it('is repaired with what the source has, and the pass says so', async () => {
          await stage.pass({ kind: 'full' });
          const gone = store().ids(FORM).slice(0, 5);
          for (const id of gone) store().delete(id);
          await stage.pass({ kind: 'full' });
          await dropColumn(column);
          expect(await stage.verify()).toMatchObject({
            outcome: column === '_first_seen_at' || column === '_changed_at' ? 'same' : 'different',
          });
          const report = await stage.pass();
          const reason = `The column ${column} was gone; everything is read again.`;
          expect(report).toMatchObject({ kind: 'full', outcome: 'ok', reason });
          expect(await stage.verify()).toMatchObject({ outcome: 'same' });
          const counts = { rows: SUBMISSIONS - 5, deletedRows: 5, losses: [] };
          expect((await stage.target.overview())[0]).toMatchObject(counts);
          const [empty] = await sql(
            'SELECT CAST(count(*) AS text) AS n FROM {contact_form} WHERE _first_seen_at IS NULL OR _changed_at < _first_seen_at',
          );
          expect(empty).toEqual({ n: '0' });
          expect(await stage.pass()).toMatchObject({ kind: 'incremental', outcome: 'ok' });
        });
      },
    );

    it('the column id dropped: fails with what to do, and goes on once that is done', async () => {
      await dropOurs();
      if (isSqlite()) {
        await sql(
          'CREATE TABLE copy AS SELECT status, created_at, full_name, age, _first_seen_at, _changed_at, _deleted_at FROM {contact_form}',
        );
        await sql('DROP TABLE {contact_form}');
        await sql('ALTER TABLE copy RENAME TO contact_form');
      } else await sql('ALTER TABLE {contact_form} DROP COLUMN id');
      const before = await stage.target.overview();
      expect(before[0]?.losses).toEqual([{ what: 'column', name: 'id' }]);
      const failed = await stage.pass();
      expect(failed).toMatchObject({ outcome: 'failed', code: 'TARGET_FAILED' });
      expect(failed.error).toMatch(
        /contact_form has lost its column id: .* drop the table or give it another name/,
      );
      expect(await stage.verify()).toMatchObject({
        outcome: 'different',
        missing: { count: SUBMISSIONS },
      });
      await sql('DROP TABLE {contact_form}');
      expect(await stage.pass()).toMatchObject({ kind: 'full', outcome: 'ok' });
      await stage.expectSame();
    });

    /** Takes the key from the table, as a copy of it has none. */
    const dropKey = async (): Promise<void> => {
      if (!isSqlite()) {
        await sql(
          stage.place.product === 'PostgreSQL'
            ? 'ALTER TABLE {contact_form} DROP CONSTRAINT contact_form_pkey'
            : 'ALTER TABLE {contact_form} DROP PRIMARY KEY',
        );
        return;
      }
      await dropOurs();
      await sql('CREATE TABLE copy AS SELECT * FROM contact_form');
      await sql('DROP TABLE contact_form');
      await sql('ALTER TABLE copy RENAME TO contact_form');
    };

    it('the primary key dropped: is made again', async () => {
      await dropKey();
      stage.submit(2);
      expect(await stage.pass()).toMatchObject({ outcome: 'ok', inserted: 2 });
      await stage.expectSame();
      await expect(sql('INSERT INTO {contact_form} SELECT * FROM {contact_form}')).rejects.toThrow(
        /unique|UNIQUE|Duplicate/,
      );
    });

    it('the primary key dropped, and rows doubled: fails with what to do', async () => {
      await dropKey();
      await sql(`INSERT INTO {contact_form} SELECT * FROM {contact_form} WHERE ${someRows}`);
      const failed = await stage.pass();
      expect(failed).toMatchObject({ outcome: 'failed', code: 'TARGET_FAILED' });
      expect(failed.error).toMatch(
        /lost its primary key, and rows in it share an ID: .* drop the table/,
      );
      await sql(`DELETE FROM {contact_form}`);
      expect(await stage.pass()).toMatchObject({ kind: 'full', outcome: 'ok' });
      await stage.expectSame();
    });

    it('the view dropped: is made again, and nothing is read for it', async () => {
      await dropOurs();
      expect((await stage.target.overview())[0]?.losses).toEqual([]);
      expect(await stage.pass()).toMatchObject({
        kind: 'incremental',
        outcome: 'ok',
        reason: null,
      });
      await stage.expectSame();
    });
  });
}
