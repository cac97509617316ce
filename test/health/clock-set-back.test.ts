import { describe, expect, it } from 'vitest';
import { ago } from '../../src/base/format.ts';
import { summaryOf } from '../../src/health/pass-summary.ts';
import type { PassRecord } from '../../src/mirror/types.ts';
import type { FormOverview } from '../../src/mirror/target.ts';
import { before, formOverview, NOW, passRecord } from './fake-source.ts';
import { failedPass, FORM_A, formOf, healthOf, reading } from './health-of.ts';

const MINUTE = 60_000;
/** What was recorded before the clock was set back by 50 minutes. */
const AHEAD_MS = -50 * MINUTE;
const EARLIER = [passRecord(AHEAD_MS), passRecord(AHEAD_MS - 1_000, { kind: 'full' })];

function judged(
  passes: readonly PassRecord[],
  look: FormOverview['look'] = { at: before(AHEAD_MS - MINUTE), isOpen: false },
) {
  const form = formOverview(FORM_A, {}, EARLIER);
  const checkpoint = form.checkpoint && { ...form.checkpoint, statuses: new Map() };
  const forms = [{ ...form, checkpoint, look }];
  const overview = { kind: 'postgres', address: 'postgres://db', forms } as const;
  const targets = [reading({ overview })];
  return formOf(healthOf({}, { targets, summary: () => summaryOf(passes, NOW) }));
}

describe('after a clock was set back', () => {
  it('L17: a failed pass is not hidden by passes and looks that are dated after now', () => {
    const failed = failedPass(MINUTE, 'FORMS_FAILED');
    const form = judged([...EARLIER, failed]);
    expect(form).toMatchObject({ state: 'failed', since: failed.endedAt });
    expect(form.lastPass).toMatchObject({ outcome: 'failed' });
    expect(ago(form.provenAt, NOW)).not.toBe('just now');
  });

  it('L17: a form is not called well by claims that are dated after now', () => {
    const form = judged(EARLIER);
    expect(form.state).toBe('waiting');
    expect(form.title).toBe('Dated in the future: check the clock');
  });

  it('L17: a look at the time that it is now tells how old a claim is', () => {
    const at = before(MINUTE);
    const form = judged(EARLIER, { at, isOpen: false });
    expect([form.state, form.provenAt]).toEqual(['ok', at]);
  });

  it('L17: a look that found the form to differ dates no claim', () => {
    const form = judged(EARLIER, { at: before(MINUTE), isOpen: true });
    expect(form.state).toBe('waiting');
    expect(ago(form.provenAt, NOW)).toBe('50 min from now (check the clock)');
  });
});
