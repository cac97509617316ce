import { describe, expect, it } from 'vitest';
import { exact } from '../../src/base/format.ts';
import { describeForm } from '../../src/health/mirror-words.ts';
import type { FormHealthText } from '../../src/mirror/health-text.ts';
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

const pauses = [{ formId: null, since: before(HOUR), by: 'ann', reason: null }];
const because = [{ ...pauses[0], reason: 'a new tab' }];
const refused = failed(MINUTE, 'FORMS_FAILED', 'The Forms API answered 503.');

const CASES: Readonly<Record<string, readonly [FormChanges, object, Partial<FormHealthText>]>> = {
  'nothing is wrong': [
    {},
    {},
    {
      state: 'ok',
      title: 'Up to date',
      message: 'Answers as of 2026-05-12 07:30:00 UTC.',
      remedy: null,
    },
  ],
  'it was never read': [
    { state: NEW_STATE, runs: [] },
    {},
    { state: 'waiting', title: 'Waiting for the first run' },
  ],
  'the key is refused, for all forms': [
    { runs: [failed(MINUTE, 'FORMS_UNAUTHORIZED', 'The Forms API answered 401.')] },
    {},
    { state: 'failed', title: 'The Forms API refuses the key' },
  ],
  'people protected a range': [
    { runs: [failed(MINUTE, 'TARGET_DENIED', 'No row can be added. Allow a@b to edit C:C.')] },
    {},
    { state: 'failed', remedy: expect.stringMatching(/^Do what the details say\./) },
  ],
  'people paused it': [
    {},
    { pauses: because },
    { state: 'paused', title: 'Paused since 2026-05-12 08:30:00 UTC by ann', message: 'a new tab' },
  ],
  'it is paused, and a run failed': [
    { runs: [refused] },
    { pauses },
    { state: 'paused', message: 'Nothing is written here until a person resumes it.' },
  ],
};

describe('the words of the Mirror tab', () => {
  it.each(Object.entries(CASES))('%s', (_name, [changes, records, expected]) => {
    const health = words(changes, { ...records });
    expect(health).toMatchObject(expected);
    // Office users have no command line, but they know whom to ask.
    const text = Object.values(health).join(' ');
    expect(text).not.toMatch(/forms-mirror|--\w|[A-Z]{3,}_[A-Z]+ ?=/);
    const isWell = health.state === 'ok' || health.state === 'waiting';
    expect(health.remedy?.includes('admin') ?? false).toBe(!isWell);
    // L17: a sheet is not written while nothing changes. Its text stays true until its own clock calls it stale.
    const [stored, later] = [formCopy(FORM_A, changes), NOW + 30 * MINUTE];
    const recordOf = (key: string): unknown =>
      Object.entries(records).find(([of]) => of === key)?.[1];
    const again = describeForm('sheet', MINUTE, () => true)(stored, recordOf, later, exact);
    expect(again).toEqual(health);
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
    const agreed = { atMs: NOW - 5_000, onStatuses: true, formIds: ['frm_a'] };
    expect(words().asOfMs).toBe(NOW - 20_000);
    expect(words({}, { 'poll agreement': agreed }).asOfMs).toBe(NOW - 5_000);
    expect(words().staleAfterMinutes).toBe(45);
    const stored = formCopy(FORM_A);
    const daily = describeForm('sheet', DAY, () => true)(stored, () => null, NOW, exact);
    expect(daily.staleAfterMinutes).toBe(3 * 24 * 60);
  });
});
