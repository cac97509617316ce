import { describe, expect, it } from 'vitest';
import { jobHandlers } from '../src/cli/service.ts';
import { MirrorError, mistakeText } from '../src/base/errors.ts';
import { expectEnd } from './support/cli-host.ts';
import { openPlace } from './support/cli-sandbox.ts';
import { openParts } from './support/mirrored-form.ts';

const { signal } = new AbortController();

describe('the plan', () => {
  it('L8: keeps a form that is gone from the list until a run has noted it', async () => {
    const { env, sandbox } = await openPlace();
    const [first] = sandbox.store.forms();
    const formId = first?.id ?? '';
    await openParts(env).run({ formId, target: 'default' }, {}, signal);
    sandbox.store.deleteForm(formId);
    // Another process, which never saw the form in the list.
    const app = openParts(env);
    const plan = await app.plan(signal, { waitForTargets: true });
    expect(plan.places.map(({ form }) => form.id)).toContain(formId);
    const report = await app.run({ formId, target: 'default' }, {}, signal);
    expect(report.outcome).toBe('gone');
    // A sheet shows it, too, because each recorded run updates its Mirror tab.
    const { store } = await app.target('default');
    const [stored] = await store.forms(1);
    expect(stored?.runs).toMatchObject([{ outcome: 'gone', code: 'FORM_GONE' }]);
    const after = await app.plan(signal, { waitForTargets: true });
    expect(after.places.map(({ form }) => form.id)).not.toContain(formId);
    const fresh = await openParts(env).plan(signal, { waitForTargets: true });
    expect(fresh.places.map(({ form }) => form.id)).not.toContain(formId);
  });

  it('sends each form to the targets whose TARGET_FORMS names it, and warns of names that match no form', async () => {
    const { env, sandbox } = await openPlace();
    const [first] = sandbox.store.forms();
    const app = openParts({
      ...env,
      TARGETS: 'all,some',
      TARGET_ALL_URL: env['TARGET_URL'],
      TARGET_URL: undefined,
      TARGET_SOME_URL: 'sqlite::memory:',
      TARGET_SOME_FORMS: `customer-feedback,${first?.id},nope`,
    });
    const plan = await app.plan(signal);
    const some = plan.places.filter(({ target }) => target === 'some');
    expect(plan.places).toHaveLength(3 + 2);
    expect(some.map(({ form }) => form.slug).toSorted()).toEqual(
      ['customer-feedback', first?.slug ?? ''].toSorted(),
    );
    expect(plan.unmatched.map(mistakeText)).toEqual([
      expect.stringMatching(
        /^TARGET_SOME_FORMS names nope, and there is no such form: the forms are .*\.$/,
      ),
    ]);
    expect(app.planner.planned).toBe(plan);
  });

  it('L12: is not delayed by a target that is unreachable', async () => {
    const { env } = await openPlace();
    const app = openParts({ ...env, TARGET_URL: 'postgres://nobody@192.0.2.1/x?sslmode=require' });
    expect((await jobHandlers(app).poll(signal)).syncs).toHaveLength(3);
  });
});

describe('a job', () => {
  it('L11: copies only what the settings select, into a target that they name', async () => {
    const { env, sandbox } = await openPlace();
    const [first, second] = sandbox.store.forms();
    const app = openParts({ ...env, TARGET_FORMS: `${first?.slug}` });
    const { sync } = jobHandlers(app);
    const order = (formId = '', target = 'default') =>
      sync({ formId, target, isComparison: false }, signal, () => {});
    await expect(order(second?.id)).rejects.toMatchObject({ code: 'USAGE' });
    await expect(order(first?.id, 'other')).rejects.toMatchObject({ code: 'USAGE' });
    await expect(order('nobody')).rejects.toMatchObject({ code: 'USAGE' });
    expect(await order(first?.id)).toBe('ok');
    const { store } = await app.target('default');
    expect((await store.states()).map(({ state }) => state.formId)).toEqual([first?.id]);
    // It is not a problem of the form.
    expect((await app.dataDir.kept()).runs).toEqual([]);
  });

  it('L18: a poll removes old rows of forms that get no runs, and `sync` those of all, but of no paused form', async () => {
    const { env, sandbox, run, rows, change } = await openPlace({ submissions: 30 });
    const [kept, gone, left] = sandbox.store.forms().map(({ id, slug }) => {
      return { id, slug, table: slug.replaceAll('-', '_') };
    });
    if (!kept || !gone || !left) throw new Error('The sandbox has three forms.');
    await expectEnd(run('sync'), 0);
    for (const { id } of [kept, gone, left]) sandbox.store.delete(sandbox.store.ids(id)[0] ?? '');
    await expectEnd(run('sync'), 0);
    for (const { table } of [kept, gone, left])
      change(
        `UPDATE ${table} SET _deleted_at = '2026-01-01T00:00:00.000Z' WHERE _deleted_at IS NOT NULL`,
      );
    sandbox.store.deleteForm(gone.id);
    const fewer = { ...env, TARGET_FORMS: `${kept.slug},${gone.slug}` };
    await expectEnd(run('sync', fewer), 1);
    await expectEnd(run(`pause --form ${gone.slug}`), 0);
    const poll = (name = 'PURGE_DELETED_AFTER') =>
      jobHandlers(openParts({ ...fewer, [name]: '1d' })).poll(signal);
    const deleted = () =>
      [kept, gone, left].flatMap(({ table }) =>
        rows(`SELECT '${table}' AS t FROM ${table} WHERE _deleted_at IS NOT NULL`).map(
          ({ t }) => t,
        ),
      );
    await poll();
    expect(deleted()).toEqual([kept.table, gone.table]);
    await expectEnd(run(`resume --form ${gone.slug}`), 0);
    await poll();
    expect(deleted()).toEqual([kept.table]);
    await expectEnd(run('sync --full', { ...fewer, PURGE_DELETED_AFTER: '1d' }), 0);
    expect(deleted()).toEqual([]);
    change(`DROP TABLE ${left.table}`);
    await poll('PURGE_HISTORY_AFTER');
    expect(rows(`SELECT name FROM sqlite_schema WHERE name = '${left.table}'`)).toEqual([]);
  });

  it("L11: does not select a field that appeared after the plan, nor a form that since got another form's slug", async () => {
    const { env, sandbox } = await openPlace();
    const field = { id: 'known', label: 'Known' };
    const form = sandbox.store.addForm({ name: 'One', slug: 'one', fields: [field] });
    const other = sandbox.store.addForm({ name: 'Other', slug: 'other', fields: [field] });
    const app = openParts({ ...env, TARGET_FORMS: 'one', TARGET_FIELDS: 'one:known' });
    await app.plan(signal);
    form.sections[0]?.push({
      id: 'new',
      label: 'New',
      required: false,
      answer: () => '',
    });
    [form.slug, other.slug] = ['two', 'one'];
    for (const { id: formId } of [form, other])
      sandbox.store.insert({ formId, data: { known: 'selected', new: 'not selected' } });
    const { sync } = jobHandlers(app);
    const order = (formId: string) =>
      sync({ formId, target: 'default', isComparison: false }, signal, () => {});
    await expect(order(other.id)).rejects.toMatchObject({ code: 'SLUG_REUSED' });
    expect(await order(form.id)).toBe('ok');
    const { store } = await app.target('default');
    expect((await store.states()).map(({ state }) => state.formId)).toEqual([form.id]);
    await using held = await store.read(form.id);
    const answers: unknown[] = [];
    for await (const rows of held?.rows({}, true) ?? [])
      for (const { cells } of rows) answers.push(...cells.values());
    expect(answers).toEqual(['selected']);
  });
});

describe('write-back', () => {
  it('L7: does not write back a form that no target mirrors', async () => {
    const patches: string[] = [];
    const { env, sandbox } = await openPlace({
      submissions: 30,
      onRequest: ({ method, path }) => void (method === 'PATCH' && patches.push(path)),
    });
    const [first, second] = sandbox.store.forms();
    const app = openParts({ ...env, MARK_STATUS: 'DONE', TARGET_FORMS: second?.id });
    expect(await app.writeBack(first?.id ?? '', { waitMs: 0, signal })).toBeUndefined();
    expect(patches).toEqual([]);
  });

  it('L16: leaves a form to a waiting run after a batch', async () => {
    const { env, sandbox } = await openPlace({ submissions: 300 });
    const app = openParts({ ...env, MARK_STATUS: 'DONE' });
    const formId = sandbox.store.forms()[0]?.id ?? '';
    for (const id of sandbox.store.ids(formId)) sandbox.store.setStatus(id, 'NEW');
    await app.run({ formId, target: 'default' }, {}, signal);
    const written = async (isAwaited: boolean): Promise<number | undefined> =>
      (await app.writeBack(formId, { waitMs: 0, signal }, async () => isAwaited))?.written;
    expect([await written(true), await written(false)]).toEqual([50, 100]);
  });

  it('is not reported as done if it was stopped', async () => {
    const { env, sandbox } = await openPlace({ submissions: 30 });
    const app = openParts({ ...env, MARK_STATUS: 'DONE' });
    const stopped = AbortSignal.abort(new MirrorError('CANCELLED', 'Stopped on request.'));
    const { writeBack } = jobHandlers(app);
    const formId = sandbox.store.forms()[0]?.id ?? '';
    await expect(writeBack(formId, stopped, async () => false)).rejects.toMatchObject({
      code: 'CANCELLED',
    });
  });
});
