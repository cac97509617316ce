import { describe, expect, it, onTestFinished } from 'vitest';
import { App, mirrorWork, noticesOf } from '../src/app.ts';
import { systemClock } from '../src/base/clock.ts';
import { silentLogger } from '../src/base/logger.ts';
import type { Environment } from '../src/settings/variables.ts';
import { openPlace } from './support/cli-sandbox.ts';
import { load } from './support/settings.ts';

const { signal } = new AbortController();

function open(env: Environment): App {
  const app = new App(load(env), { clock: systemClock, logger: silentLogger });
  onTestFinished(() => app[Symbol.asyncDispose]());
  return app;
}

describe('the plan', () => {
  it('L8: keeps a form that is gone from the list until a pass has noted it', async () => {
    const { env, sandbox } = await openPlace();
    const [first] = sandbox.store.forms();
    const formId = first?.id ?? '';
    await open(env).pass({ formId, target: 'default', kind: 'full' }, signal);
    sandbox.store.deleteForm(formId);
    // Another process, which never saw the form in the list.
    const app = open(env);
    const plan = await app.plan(signal, { patient: true });
    expect(plan.forms.map(({ form }) => form.id)).toContain(formId);
    const report = await app.pass({ formId, target: 'default', kind: 'full' }, signal);
    expect(report.outcome).toBe('gone');
    const after = await app.plan(signal, { patient: true });
    expect(after.forms.map(({ form }) => form.id)).not.toContain(formId);
    const fresh = await open(env).plan(signal, { patient: true });
    expect(fresh.forms.map(({ form }) => form.id)).not.toContain(formId);
  });

  it('sends each form where TARGET_FORMS wants it, and tells names that no form has', async () => {
    const { env, sandbox } = await openPlace();
    const [first] = sandbox.store.forms();
    const app = open({
      ...env,
      TARGETS: 'all,some',
      TARGET_ALL_URL: env['TARGET_URL'],
      TARGET_URL: undefined,
      TARGET_SOME_URL: 'sqlite::memory:',
      TARGET_SOME_FORMS: `customer-feedback,${first?.id},nope`,
    });
    const plan = await app.plan(signal);
    const some = plan.forms.filter(({ targets }) => targets.includes('some'));
    expect(plan.forms).toHaveLength(3);
    expect(some.map(({ form }) => form.slug).toSorted()).toEqual(
      ['customer-feedback', first?.slug ?? ''].toSorted(),
    );
    expect(noticesOf(plan)).toEqual(['TARGET_SOME_FORMS names nope, and there is no such form.']);
    expect(app.planned.plan).toBe(plan);
  });

  it('L12: is not held up by a target that is away', async () => {
    const { env } = await openPlace();
    const app = open({ ...env, TARGET_URL: 'postgres://nobody@192.0.2.1:5432/nowhere' });
    expect((await mirrorWork(app).plan(signal)).length).toBe(3);
  });

  it('remembers why it failed', async () => {
    const { env } = await openPlace();
    const app = open({ ...env, FORMS_API_KEY: 'wrong' });
    await expect(app.plan(signal)).rejects.toMatchObject({ code: 'FORMS_UNAUTHORIZED' });
    expect(app.planned).toMatchObject({
      plan: null,
      at: null,
      problem: { error: { code: 'FORMS_UNAUTHORIZED' } },
    });
  });
});

describe('marking', () => {
  it('L7: asks every target that mirrors the form, whichever was synchronised', async () => {
    const { env, sandbox, file } = await openPlace({ submissions: 30 });
    const [first] = sandbox.store.forms();
    const order = { formId: first?.id ?? '', kind: 'full' as const };
    const app = open({
      ...env,
      MARK_STATUS: 'DONE',
      TARGETS: 'one,two',
      TARGET_ONE_URL: `sqlite:${file}`,
      TARGET_TWO_URL: `sqlite:${file}.two`,
    });
    await app.pass({ ...order, target: 'one' }, signal);
    expect((await app.mark(order.formId, signal))?.marked).toBe(0);
    await app.pass({ ...order, target: 'two' }, signal);
    expect((await app.mark(order.formId, signal))?.marked).toBeGreaterThan(0);
  });

  it('leaves a form alone that is gone', async () => {
    const { env } = await openPlace();
    expect(await open({ ...env, MARK_STATUS: 'DONE' }).mark('form_nope', signal)).toBeUndefined();
  });
});
