import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const FORM = 'customer-feedback';

interface Status {
  readonly forms: readonly {
    readonly form: { readonly slug: string };
    readonly state: string;
    readonly goneAt: string | null;
    readonly problems: readonly { readonly code: string }[];
  }[];
}

describe('a form that was emptied, and then deleted', () => {
  it('L17: is gone at the source, also after the next poll, and no deletion is held any more', async () => {
    const { env, sandbox, rows } = await openPlace({ submissions: 250 });
    await runCli(['sync'], env);
    const status = async () => {
      const { forms } = JSON.parse((await runCli(['status', '--json'], env)).stdout) as Status;
      const found = forms.find(({ form }) => form.slug === FORM);
      return { isGone: found?.goneAt !== null, codes: found?.problems.map(({ code }) => code) };
    };
    const { id: formId } = sandbox.store.formBySlug(FORM)!;
    for (const { id } of rows('SELECT id FROM customer_feedback')) sandbox.store.delete(String(id));
    await runCli(['sync'], env);
    expect(await status()).toEqual({ isGone: false, codes: ['DELETIONS_HELD'] });
    sandbox.store.deleteForm(formId);
    for (let polls = 0; polls < 3; polls++) {
      await runCli(['sync'], env);
      expect(await status()).toEqual({ isGone: true, codes: ['FORM_GONE'] });
    }
  });
});
