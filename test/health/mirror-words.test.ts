import { describe, expect, it } from 'vitest';
import { exact } from '../../src/base/format.ts';
import { describeForm } from '../../src/health/mirror-words.ts';
import {
  before,
  DAY,
  failed,
  FORM_A,
  type FormChanges,
  HOUR,
  formCopy,
  MINUTE,
  NEW_STATE,
  NOW,
} from './facts.ts';

/** What a sheet shows about a form; `records`: of its target. */
function words(changes: FormChanges = {}, records: Readonly<Record<string, unknown>> = {}) {
  const stored = formCopy(FORM_A, changes);
  return describeForm('sheet', MINUTE, () => true)(
    stored,
    (key) => records[key] ?? null,
    NOW,
    exact,
  );
}

describe('the words of the Mirror tab', () => {
  it('say since when answers are complete, what people have to do, and who paused a form', () => {
    expect(words().message).toBe('Answers as of 2026-05-12 07:30:00 UTC.');
    expect(words({ state: NEW_STATE, runs: [] }).title).toBe('Waiting for the first run');
    const denied = 'No row can be added. Allow a@b to edit C:C.';
    expect(words({ runs: [failed(MINUTE, 'TARGET_DENIED', denied)] })).toMatchObject({
      message: denied,
      remedy: expect.stringMatching(/tell the admin of this mirror/),
    });
    const pause = { formId: null, since: before(HOUR), by: 'ann', reason: 'a new tab' };
    expect(words({}, { pauses: [pause] })).toMatchObject({
      title: 'Paused since 2026-05-12 08:30:00 UTC by ann',
      message: 'a new tab',
    });
    // Nor does a failure hide the pause.
    const refused = failed(MINUTE, 'FORMS_FAILED', 'The Forms API answered 503.');
    expect(words({ runs: [refused] }, { pauses: [{ ...pause, reason: null }] })).toMatchObject({
      state: 'paused',
      message: 'Nothing is written here until a person resumes it.',
    });
  });

  it('L17: do not call a form stale that the settings no longer choose', () => {
    const describe = describeForm('sheet', MINUTE, ({ slug }) => slug !== FORM_A.slug);
    expect(describe(formCopy(FORM_A), () => null, NOW + DAY, exact)).toMatchObject({
      state: 'ended',
      title: 'No longer selected',
      remedy: null,
    });
  });

  it('L17: is as of the last agreement, including that of a poll, and stale by the clock of the sheet', () => {
    const agreed = [{ atMs: NOW - 5_000, statusesAtMs: NOW - 5_000, formIds: ['frm_a'] }];
    expect(words().asOfMs).toBe(NOW - 20_000);
    expect(words({}, { 'poll agreements': agreed }).asOfMs).toBe(NOW - 5_000);
    expect(words().staleAfterMinutes).toBe(45);
    const stored = formCopy(FORM_A);
    const daily = describeForm('sheet', DAY, () => true)(stored, () => null, NOW, exact);
    expect(daily.staleAfterMinutes).toBe(3 * 24 * 60);
  });
});
