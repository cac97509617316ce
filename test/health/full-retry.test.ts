import { describe, expect, it } from 'vitest';
import { QUEUE, before, passRecord } from './fake-source.ts';
import { failedPass, formOf, healthOf } from './health-of.ts';

describe('a full pass that failed on a fault that is over', () => {
  const refused = { ...failedPass(9_000, 'FORMS_UNAUTHORIZED'), kind: 'full' as const };
  const passes = { 'db frm_a': [refused, passRecord(1_000)] };

  it('asks for no new key, and says when it is tried again', () => {
    const retry = { formId: 'frm_a', target: 'db', at: before(-300_000) };
    const queue = { ...QUEUE, retries: [retry] };
    const [problem] = formOf(healthOf(passes, { queue })).problems;
    expect(problem).toMatchObject({ title: 'The last full pass failed' });
    expect(problem?.remedy).toMatch(/^It is tried again by itself at .*09:35/);
    expect(problem?.remedy).not.toContain('FORMS_API_KEY');
  });

  it('says so where no queue is known, too', () => {
    const [problem] = formOf(healthOf(passes)).problems;
    expect(problem?.remedy).toContain('within some minutes while a worker runs');
  });
});
