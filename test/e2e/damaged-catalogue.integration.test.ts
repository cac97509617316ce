import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { App } from '../../src/app.ts';
import { jobHandlers } from '../../src/cli/job-handlers.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { CATALOGUE_TABLES } from '../../src/targets/sql/catalogue-tables.ts';
import { LOOKS } from '../../src/targets/sql/looks.ts';
import { PAUSES } from '../../src/targets/sql/pauses.ts';
import { runCli, startCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { createDatabase, postgresMissing } from '../support/servers.ts';
import { load } from '../support/settings.ts';

/*
 * People drop tables of the catalogue. The program promises that the next pass makes them again: so it does as a command
 * and as a worker, which read the target before they write.
 */

/** The tables that say something of rows. */
const TABLES = [...CATALOGUE_TABLES].filter((table) => table !== LOOKS && table !== PAUSES);
const FORM = 'customer-feedback';
const SUBMISSIONS = 30;
const SOON = { timeout: 120_000, interval: 100 };

const KINDS = [
  { kind: 'SQLite', isMissing: false },
  { kind: 'PostgreSQL', isMissing: postgresMissing() },
] as const;

/** A mirror of one form, proven by a full pass; `sql`: a statement on the target, as a person would run it. */
async function mirrored(kind: 'SQLite' | 'PostgreSQL') {
  const place = await openPlace({ submissions: SUBMISSIONS });
  const url = kind === 'SQLite' ? undefined : await createDatabase(await lentPostgres());
  const env = {
    ...place.env,
    TARGET_FORMS: FORM,
    ...(url === undefined ? {} : { TARGET_URL: url }),
  };
  const sql = async (text: string): Promise<void> => {
    if (url === undefined) {
      using database = new DatabaseSync(place.file, { timeout: 10_000 });
      database.exec(text);
      return;
    }
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      // PostgreSQL drops no table that a view of ours reads, but with it.
      await client.query(text.startsWith('DROP TABLE') ? `${text} CASCADE` : text);
    } finally {
      await client.end();
    }
  };
  const first = await runCli(['sync'], env);
  expect(first.code).toBe(0);
  const form = place.sandbox.store.formBySlug(FORM);
  if (form === undefined) throw new TypeError(`no form ${FORM}`);
  return { ...place, env, sql, formId: form.id };
}

describe.each(KINDS)('L17: a catalogue in $kind', ({ kind, isMissing }) => {
  describe.skipIf(isMissing).each(TABLES)('that lost %s', (table) => {
    it('is healed by `sync`, as every surface promised', async () => {
      const { env, sql } = await mirrored(kind);
      await sql(`DROP TABLE ${table}`);
      const promise = /The next pass creates it again and reads everything/;
      const before = await runCli(['status'], env);
      expect([before.code, before.stdout]).toEqual([1, expect.stringMatching(promise)]);
      const { code, stdout, stderr } = await runCli(['sync'], env);
      expect(stdout).toMatch(
        new RegExp(`The table \\S*${table} was gone; .*everything is read again`),
      );
      expect(`${stdout}${stderr}`).toContain('proven complete: submissions, statuses and answers');
      expect([code, stdout]).toEqual([0, expect.stringContaining('0 new, 0 changed, 0 deleted')]);
      for (const command of ['verify', 'sync', 'status', 'check']) {
        expect([command, (await runCli([command], env)).code]).toEqual([command, 0]);
      }
    });

    it('is healed by the first pass of a worker', async () => {
      const { env, sql, formId } = await mirrored(kind);
      await sql(`DROP TABLE ${table}`);
      const app = new App(load(env), { clock: systemClock, logger: silentLogger });
      onTestFinished(() => app[Symbol.asyncDispose]());
      const { signal } = new AbortController();
      await jobHandlers(app).plan(signal, 'incremental');
      const pass = await app.pass({ formId, target: 'default', kind: 'incremental' }, signal);
      expect(pass).toMatchObject({ kind: 'full', outcome: 'ok', inserted: 0, updated: 0 });
      expect((await runCli(['status'], env)).code).toBe(0);
    });
  });

  it.skipIf(isMissing).each([LOOKS, PAUSES])(
    'that lost %s is healed by `sync`, which reads no more for it',
    async (table) => {
      const { env, sql } = await mirrored(kind);
      await sql(`DROP TABLE ${table}`);
      const promise = 'The next pass creates it again; nothing else is to be done.';
      const before = await runCli(['status'], env);
      expect([before.code, before.stdout]).toEqual([1, expect.stringContaining(promise)]);
      const { code, stdout } = await runCli(['sync'], env);
      expect([code, stdout]).toEqual([0, expect.stringContaining('0 new, 0 changed, 0 deleted')]);
      expect(stdout).not.toContain('everything is read again');
      for (const command of ['verify', 'sync', 'status', 'check']) {
        expect([command, (await runCli([command], env)).code]).toEqual([command, 0]);
      }
    },
  );

  it.skipIf(isMissing).each(['mirror_forms', 'mirror_checkpoints'])(
    'that lost %s, and the form itself is gone: a pass is planned all the same, and says so',
    async (table) => {
      const { env, sql, formId, sandbox } = await mirrored(kind);
      await sql(`DROP TABLE ${table}`);
      sandbox.store.deleteForm(formId);
      const { stdout } = await runCli(['sync'], env);
      expect(stdout).toMatch(/gone|no longer exists|was deleted/);
      expect(stdout).not.toMatch(/The next pass creates it again/);
      expect((await runCli(['check'], env)).stdout).not.toMatch(/of the catalogue is gone/);
    },
  );

  it.skipIf(isMissing)(
    'that lost mirror_forms before `start`: the first tick heals it',
    async () => {
      const { env, sql, sandbox, formId } = await mirrored(kind);
      await sql('DROP TABLE mirror_forms');
      const late = sandbox.store.insert({ formId, data: {} }).id;
      const running = startCli(['start'], { ...env, PORT: '0', SYNC_EVERY: '1s' });
      onTestFinished(async () => {
        running.send('SIGTERM');
        await running.done;
      });
      await vi.waitFor(async () => {
        const { stdout } = await runCli(['explain', late], env);
        expect(stdout).toContain('default: stored, the same as the source');
        expect(running.stderr.text).toContain('"outcome":"ok"');
      }, SOON);
    },
  );

  it.skipIf(isMissing)(
    'L18: that lost the notes of what was forgotten: it stays away',
    async () => {
      const { env, sql, formId, sandbox } = await mirrored(kind);
      const [id = ''] = sandbox.store.ids(formId);
      expect((await runCli(['forget', id, '--yes'], env)).code).toBe(0);
      await sql('DROP TABLE mirror_forgotten');
      for (const args of [['sync'], ['sync', '--full']]) {
        const { code, stdout } = await runCli(args, env);
        expect([code, stdout]).toEqual([0, expect.stringContaining('0 new, 0 changed')]);
      }
      expect((await runCli(['explain', id], env)).stdout).toMatch(/forgotten/);
    },
  );
});
