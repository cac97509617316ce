import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
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
import { runPass } from '../../src/sync/run-pass.ts';
import { verifyForm } from '../../src/sync/verify.ts';
import { CATALOGUE_VERSION } from '../../src/targets/sql/catalogue-version.ts';
import { MIGRATIONS } from '../../src/targets/sql/migrations.ts';
import { changeSource, FORMS, makeSource, STORE_OPTIONS } from '../fixtures/last-release/source.ts';
import { Child } from '../support/child.ts';
import { AT_ONCE } from './target-harness.ts';
import type { SqlPlace } from './sql-target.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/last-release');

/** The fixture with a version of the catalogue. */
const fixtureOf = (version: number, extension: 'sqlite' | 'sql'): string =>
  join(FOLDER, `catalogue-${version}.${extension}`);

/** The version that a store's catalogue has. */
async function versionOf(place: SqlPlace): Promise<unknown> {
  const sql = `SELECT value FROM ${place.relation('mirror_meta')} WHERE "key" = 'catalogue_version'`;
  return (await place.query(sql))[0]?.['value'];
}

/** The columns of the tables that versions 2, 3 and 4 gave some more. */
async function changedColumns(place: SqlPlace): Promise<string[]> {
  const columns = ['mirror_passes', 'mirror_forms', 'mirror_fields'].map(async (table) => {
    const sql = `SELECT * FROM ${place.relation(table)} LIMIT 1`;
    return Object.keys((await place.query(sql))[0] ?? {});
  });
  return (await Promise.all(columns)).flat();
}

const PICKS = { picks: parsePicks(['*']), hashKey: undefined };
const VIEWS = ['people_open', 'people_ratings'];
const CATALOGUE = {
  // What is counted of the rows is new with version 3.
  mirror_forms: 'form_id, slug, name, table_name, view_name, first_seen_at, gone_at',
  // Where texts stand among numbers is new with version 4.
  mirror_fields:
    'form_id, field_id, column_name, label, position, type, first_seen_at, removed_at, ordinal, stored_in, number_column, view_label, number_view_label',
  mirror_label_history: '*',
  mirror_refusals: '*',
  // Each pass notes when it last met what can't be stored.
  mirror_rejected: 'form_id, submission_id, reason, stored, first_seen_at',
};

/** The stores of earlier releases under the present program: `restore` makes a place of a fixture. */
export function describeEarlierReleases(
  name: string,
  extension: 'sqlite' | 'sql',
  restore: (file: string) => Promise<SqlPlace>,
): void {
  const versions = readdirSync(FOLDER)
    .map((file) => /^catalogue-(\d+)\.sqlite$/.exec(file)?.[1])
    .filter((version) => version !== undefined)
    .map(Number);

  it('every version but the present one is kept as a fixture', () => {
    const earlier = MIGRATIONS.map(({ version }) => version).filter(
      (version) => version < CATALOGUE_VERSION,
    );
    expect(earlier.filter((version) => !existsSync(fixtureOf(version, extension)))).toEqual([]);
  });

  describe.each(versions)(`${name}: a store with version %d of the catalogue`, (version) => {
    let place: SqlPlace;
    let target: Target;
    let sandbox: Sandbox;
    let client: FormsClient;
    beforeEach(async () => {
      place = await restore(fixtureOf(version, extension));
      target = await place.open();
      const store = new FormsStore(STORE_OPTIONS);
      makeSource(store);
      changeSource(store);
      sandbox = await startSandbox({ store });
      client = new FormsClient({
        baseUrl: sandbox.url,
        apiKey: sandbox.apiKey,
        auth: 'bearer',
        concurrency: 4,
        clock: systemClock,
      });
    });
    afterEach(async () => {
      await target[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      await sandbox.stop();
      await place.dispose();
    });

    const context = (): SyncContext => ({
      client,
      labels: new LabelCache(client, systemClock),
      clock: systemClock,
      logger: silentLogger,
      events: new Events(),
      maxDeleteFraction: 0.2,
      readAhead: 4,
    });
    const signal = new AbortController().signal;
    const fullPass = (formId: string): Promise<PassReport> =>
      runPass(context(), target, { formId, kind: 'full', ...PICKS, waitMs: 0 }, signal);

    const tables = async (): Promise<string[]> => {
      const forms = await place.query(`SELECT table_name FROM ${place.relation('mirror_forms')}`);
      return forms.map((form) => String(form['table_name']));
    };
    /** All rows, with what shows a rewrite to the same values; the catalogue; what people's views show. */
    const snapshot = async (): Promise<unknown> => {
      const all: Record<string, unknown> = {};
      const mark = place.product === 'PostgreSQL' ? ', ctid::text AS at, xmin::text AS by' : '';
      for (const table of await tables()) {
        all[table] = await place.query(`SELECT t.*${mark} FROM ${place.relation(table)} AS t`);
      }
      for (const [table, columns] of Object.entries(CATALOGUE)) {
        // Items without an ID had another name.
        const named = table === 'mirror_rejected' ? "WHERE submission_id NOT LIKE 'no-id:%'" : '';
        all[table] = await place.query(
          `SELECT ${columns} FROM ${place.relation(table)} ${named} ORDER BY 1, 2, 3`,
        );
      }
      for (const view of VIEWS) {
        all[view] = await place.query(`SELECT * FROM ${place.relation(view)} ORDER BY 1`);
      }
      return all;
    };
    /** SQLite leaves no trace of an update to the same values: there every update fails. */
    const forbidUpdates = async (): Promise<void> => {
      if (place.product !== 'SQLite') return;
      for (const table of await tables()) {
        await place.query(
          `CREATE TRIGGER keep_${table} BEFORE UPDATE ON "${table}" BEGIN SELECT RAISE(ABORT, 'rewritten'); END`,
        );
      }
    };

    it('L1, L4: a full pass migrates it, finds all that is there and rewrites nothing', async () => {
      await forbidUpdates();
      const before = await snapshot();
      const oldPasses = await (await target.reader(FORMS.contact))?.passes(100);
      for (const formId of [FORMS.contact, FORMS.survey]) {
        for (let pass = 0; pass < 2; pass++) {
          const report = await fullPass(formId);
          expect(report).toMatchObject({ outcome: 'ok', inserted: 0, updated: 0, deleted: 0 });
          expect(report.unchanged).toBeGreaterThan(20);
        }
        const reader = await target.reader(formId);
        const ids: string[] = [];
        for await (const chunk of reader?.liveIds() ?? []) ids.push(...chunk);
        const stored = sandbox.store.ids(formId).filter((id) => id !== 'survey_broken');
        expect(ids.toSorted()).toEqual(stored.toSorted());
        const request = { formId, ...PICKS };
        expect((await verifyForm(context(), target, request, signal)).outcome).toBe('same');
      }
      expect(await fullPass(FORMS.gone)).toMatchObject({ outcome: 'gone', code: 'FORM_GONE' });
      expect(await snapshot()).toEqual(before);
      expect(await versionOf(place)).toBe(String(CATALOGUE_VERSION));
      const passes = (await (await target.reader(FORMS.contact))?.passes(100)) ?? [];
      expect(passes.slice(2)).toEqual(oldPasses);
      const [goneAtLast] = (await (await target.reader(FORMS.gone))?.passes(1)) ?? [];
      expect(goneAtLast).toMatchObject({ outcome: 'gone', code: 'FORM_GONE' });
    });

    it.skipIf(version > 2)(
      'L11: loses the listings under plain digests of answers, of forms without further passes too',
      async () => {
        const rejected = place.relation('mirror_rejected');
        const values = `'odd', ${place.product === 'SQLite' ? 0 : 'false'}, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 1`;
        await place.query(
          `INSERT INTO ${rejected} (form_id, submission_id, reason, stored, first_seen_at, last_seen_at, last_epoch)
         VALUES ('${FORMS.gone}', 'no-id:${'5f'.repeat(16)}', ${values})`,
        );
        for (const formId of [FORMS.contact, FORMS.survey]) await fullPass(formId);
        const listed = await place.query(
          `SELECT submission_id FROM ${rejected} WHERE submission_id LIKE 'no-id:%'`,
        );
        expect(listed).toHaveLength(1);
        expect(listed[0]?.['submission_id']).toMatch(/^no-id:k/);
      },
    );

    it('is read as it is: a look changes nothing, and shows all that the version holds', async () => {
      const before = [await snapshot(), await changedColumns(place)];
      // Later releases keep beside the target that the source refused the key.
      const keepsRefusedKeys = version < 3;
      const overview = await target.overview();
      const shown = overview.map(({ formId, rows, deletedRows, lastPass }) => [
        formId,
        rows,
        deletedRows,
        lastPass?.outcome,
      ]);
      expect(shown).toEqual([
        [FORMS.contact, 40, 1, keepsRefusedKeys ? 'failed' : 'ok'],
        [FORMS.gone, 3, 0, 'gone'],
        [FORMS.survey, 22, 0, 'ok'],
      ]);
      const reader = await target.reader(FORMS.contact);
      const refused = { outcome: 'failed', error: expect.stringContaining('the key was refused') };
      expect(await reader?.passes(1)).toMatchObject([
        keepsRefusedKeys ? refused : { outcome: 'ok' },
      ]);
      expect((await (await target.reader(FORMS.survey))?.rejections(10))?.total).toBeGreaterThan(1);
      const verified = await verifyForm(
        context(),
        target,
        { formId: FORMS.contact, ...PICKS },
        signal,
      );
      expect(verified.outcome).toBe('same');
      expect((await target.check()).every(({ ok }) => ok)).toBe(true);
      expect([await snapshot(), await changedColumns(place)]).toEqual(before);
      expect(await versionOf(place)).toBe(String(version));
    });

    it('is still read by one who looked before it was migrated', async () => {
      const reader = await target.reader(FORMS.contact);
      const before = await reader?.passes(10);
      await using _writer = await target.openWriter(
        { id: FORMS.survey, slug: 'survey', name: 'Survey' },
        AT_ONCE,
      );
      expect(await versionOf(place)).toBe(String(CATALOGUE_VERSION));
      expect(await reader?.passes(10)).toEqual(before);
    });

    it('takes writers that begin together', async () => {
      const forms = [FORMS.contact, FORMS.survey, FORMS.gone, 'frm_new'];
      const opening = forms.map(async (id) => {
        await using one = await place.open();
        await using writer = await one.openWriter({ id, slug: id, name: id }, { waitMs: 10_000 });
        return (await writer.passes(100)).length;
      });
      expect(await Promise.all(opening)).toEqual([version < 3 ? 4 : 3, 3, 2, 0]);
      expect(await versionOf(place)).toBe(String(CATALOGUE_VERSION));
    });
  });
}

const WRITER = join(import.meta.dirname, '../support/target-child.ts');
const MIGRATION = join(import.meta.dirname, '../support/migration-child.ts');

/**
 * Keeps a migration of PostgreSQL waiting in its first statement, until so many processes wait for it or for its lock:
 * then none has missed the others. SQLite lets one begin and the others try again.
 */
async function holdMigration(place: SqlPlace): Promise<(waiting: number) => Promise<void>> {
  if (place.product !== 'PostgreSQL') return async () => {};
  await place.query('BEGIN');
  await place.query(`LOCK TABLE ${place.relation('mirror_fields')} IN ACCESS SHARE MODE`);
  return async (waiting) => {
    const sql = `SELECT DISTINCT pid FROM pg_locks JOIN pg_database AS d ON d.oid = database
      WHERE NOT granted AND datname = current_database()`;
    await expect.poll(() => place.query(sql), { timeout: 60_000 }).toHaveLength(waiting);
    await place.query('COMMIT');
  };
}

/** The same with processes of their own. */
export function describeMigratingProcesses(
  extension: 'sqlite' | 'sql',
  restore: (file: string) => Promise<SqlPlace>,
): void {
  describe('processes that meet a store of an earlier release', () => {
    let place: SqlPlace;
    beforeEach(async () => {
      place = await restore(fixtureOf(CATALOGUE_VERSION - 1, extension));
    });
    afterEach(() => place.dispose());

    it('migrate it once when they begin together', async ({ onTestFinished }) => {
      const forms = ['one', 'two', 'three', 'four'];
      const letThemGo = await holdMigration(place);
      const children = forms.map((form) =>
        new Child(WRITER, [place.url, form, '2', '10']).killedAfter(onTestFinished),
      );
      await letThemGo(forms.length);
      const ends = await Promise.all(children.map((child) => child.ended));
      expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
      expect(await versionOf(place)).toBe(String(CATALOGUE_VERSION));
      await using target = await place.open();
      const rows = (await target.overview()).map((form) => [form.formId, form.rows]);
      expect(rows).toEqual(expect.arrayContaining(forms.map((form) => [form, 20])));
    });

    it('L5: leave the old version when one is killed in the middle; the next one migrates', async ({
      onTestFinished,
    }) => {
      const before = await changedColumns(place);
      const child = new Child(MIGRATION, [place.url]).killedAfter(onTestFinished);
      await child.shows(/^in the middle$/m);
      expect(await child.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
      expect([await versionOf(place), await changedColumns(place)]).toEqual([
        String(CATALOGUE_VERSION - 1),
        before,
      ]);
      await using target = await place.open();
      expect(await target.overview()).toHaveLength(3);
      await using _writer = await target.openWriter(
        { id: FORMS.contact, slug: 'contact', name: 'Contact us' },
        { waitMs: 10_000 },
      );
      expect(await versionOf(place)).toBe(String(CATALOGUE_VERSION));
    });
  });
}
