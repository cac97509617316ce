import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { looksHashed } from '../../src/mirror/cells.ts';
import type { Cell } from '../../src/mirror/types.ts';
import type { Environment } from '../../src/settings/settings-reader.ts';
import { expectEnd, runIn } from '../support/cli-host.ts';
import { type CliPlace, openPlace } from '../support/cli-sandbox.ts';
import { openParts } from '../support/mirrored-form.ts';

const HASH_KEY = 'hJ2mQ9xT4bN7vK1wR8cF5yL0pZ3sD6gA';
const FORM = 'customer-feedback';
/** Without hashing. */
const PLAIN = { HASH_KEY: undefined };

/** A place, its settings with a key, and the e-mail field of its form. */
async function open(submissions = 30) {
  const place = await openPlace({ submissions });
  const form = place.sandbox.store.formBySlug(FORM);
  const fields = form?.sections.flat() ?? [];
  const mail = fields.find(({ label }) => /mail/i.test(label))?.id ?? '';
  expect(mail).not.toBe('');
  const env: Environment = { ...place.env, TARGET_FORMS: FORM, HASH_KEY };
  return { ...place, env, run: runIn(env), mail, formId: form?.id ?? '' };
}

/** Every value in the answers of the form's rows. */
const cells = ({ rows }: CliPlace): Cell[] =>
  rows(`SELECT * FROM customer_feedback`).flatMap((row) =>
    Object.entries(row)
      .filter(([name, value]) => !/^(id|status|created_at|_.*)$/.test(name) && value !== null)
      .map(([, value]) => value as Cell),
  );

const mails = (place: CliPlace): Cell[] =>
  cells(place).filter((cell) => typeof cell === 'string' && /\S@\S+\.\w/.test(cell));

/** A running worker: runs are jobs, and a failure does not end the process. */
function worker(env: Environment) {
  const app = openParts(env);
  const { signal } = new AbortController();
  const pass = (formId: string) => app.run({ formId, target: 'default' }, {}, signal);
  return { app, pass, plan: () => app.plan(signal) };
}

describe('TARGET_HASH_FIELDS', () => {
  it('L11: a running worker stores nothing of a form that a wrong name may mean', async () => {
    const name = 'custmer-feedback:*';
    const place = await open();
    await place.run('sync --full', { ...PLAIN, TARGET_FIELDS: `${FORM}:*` });
    const before = mails(place).length;
    const { store } = place.sandbox;
    store.insert({ formId: place.formId, data: { [place.mail]: 'new@example.com' } });
    const { app, pass } = worker({ ...place.env, TARGET_HASH_FIELDS: name });
    const report = await pass(place.formId);
    expect(report).toMatchObject({ outcome: 'failed', code: 'SETTINGS' });
    expect(report.error).toContain(`TARGET_HASH_FIELDS names ${name}`);
    expect(report.error).toMatch(/nothing is stored in target default until/);
    expect(mails(place)).toHaveLength(before);
    expect((await app.dataDir.kept()).runs).toMatchObject([{ code: 'SETTINGS' }]);
    await expectEnd(place.run('status', { TARGET_HASH_FIELDS: name }), 1, `names ${name}`);
  });

  it('L11: a form that appears later is hashed from its first row on', async () => {
    const place = await open();
    const env = { ...place.env, TARGET_FORMS: '*', TARGET_HASH_FIELDS: 'later:*' };
    const { pass, plan } = worker(env);
    await plan();
    expect((await pass(place.formId)).code).toBe('SETTINGS');
    const { store } = place.sandbox;
    const field = { id: 'field_9_mail', label: 'Mail' };
    const { id } = store.addForm({ name: 'Later', slug: 'later', fields: [field] });
    store.insert({ formId: id, data: { field_9_mail: 'late@example.com' } });
    await plan();
    expect((await pass(id)).outcome).toBe('ok');
    const [row] = place.rows('SELECT mail FROM later');
    expect(looksHashed((row?.['mail'] ?? null) as Cell)).toBe(true);
    // Now that the name is known, it concerns no other form.
    expect((await pass(place.formId)).outcome).toBe('ok');
  });
});

describe('hashing that is enabled for a plain copy', () => {
  it('L17: status and check report plain answers until a run has replaced them, and verify names the columns', async () => {
    const place = await open(60);
    await expectEnd(place.run('sync', PLAIN), 0);
    const [plain = ''] = mails(place) as string[];
    expect(plain).toContain('@');
    const run = runIn({ ...place.env, TARGET_HASH_FIELDS: place.mail });
    await expectEnd(run('status'), 1, 'plain answers, may still be there');
    await expectEnd(run('check'), 1, /✗ copies: .*must be read again/);
    // A pause hides nothing.
    await run('pause');
    await expectEnd(run('check'), 1, /✗ copies: .*Paused/);
    await run('resume');
    await expectEnd(run('verify'), 1, /in Email: 12 rows/);
    const changed = `${mails(place).length} changed`;
    await expectEnd(run('sync'), 0, 'hashed fields, or the way to hash them', changed);
    expect(mails(place)).toEqual([]);
    for (const path of [place.file, `${place.file}-wal`].filter((one) => existsSync(one))) {
      expect(readFileSync(path).includes(plain)).toBe(false);
    }
    await expectEnd(run('verify'), 0);
    await expectEnd(run('check'), 0);
  });

  it.each(['no longer selected', 'gone at the source'])(
    'L11, L17: status reports plain answers of a form that is %s, and purge --unselected empties them',
    async (what) => {
      const place = await open();
      const { mail, formId, run } = place;
      const all = { TARGET_FORMS: '*' };
      await expectEnd(run('sync', { ...all, ...PLAIN }), 0);
      const isGone = what === 'gone at the source';
      const other = place.sandbox.store.forms().find(({ id }) => id !== formId)?.slug ?? '';
      if (isGone) {
        await run('sync --full', { ...all, ...PLAIN });
        place.sandbox.store.deleteForm(formId);
        await run('sync --full', { ...all, ...PLAIN });
      }
      const settings = { TARGET_FORMS: isGone ? '*' : other, TARGET_HASH_FIELDS: '*' };
      await run('sync --full', settings);
      expect(mails(place)).not.toEqual([]);
      const told = await run('status', settings);
      expect(told.stdout).toContain(`(${mail})`);
      expect(told.stdout).toContain('may still hold answers');
      const purge = 'purge --unselected --form customer-feedback --target default';
      expect(told.stdout).toContain(purge);
      await expectEnd(run(`${purge} --yes`, settings), 0, mail);
      expect(cells(place).filter((cell) => !looksHashed(cell))).toEqual([]);
      const after = await run('status', settings);
      expect(after.stdout).not.toContain('customer-feedback → default: Columns may still hold');
    },
  );

  it('L18: purge --unselected does not change a form that is no longer selected if it has hashes, or plain text on purpose', async () => {
    const place = await open();
    const { mail, run } = place;
    await expectEnd(run('sync', { TARGET_FORMS: '*', TARGET_HASH_FIELDS: mail }), 0);
    const before = cells(place);
    const other = place.sandbox.store.forms().find(({ id }) => id !== place.formId)?.slug ?? '';
    // The same fields under another name: only the rows can show that they are hashed.
    const settings = { TARGET_FORMS: other, TARGET_HASH_FIELDS: `${FORM}:${mail}` };
    await expectEnd(run('sync', settings), 0);
    await expectEnd(run('purge --unselected --yes', settings), 0, 'nothing to do');
    expect(cells(place)).toEqual(before);
  });
});
