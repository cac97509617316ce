import type { Clock } from '../../src/base/clock.ts';
import { type Agreement, type FormState, wholeRead } from '../../src/mirror/form-state.ts';
import {
  AGREEMENTS_RECORD,
  type Run,
  type Store,
  type TargetNotice,
} from '../../src/mirror/port.ts';
import type { Cell, SelectedField, Row } from '../../src/mirror/types.ts';
import { NOTHING_APPLIED } from '../../src/sync/sink.ts';

/* Fields, rows and a clock for the tests of the SQL store. */

export const NAME: SelectedField = {
  id: 'f_name',
  label: 'Full name',
  position: 0,
  inSchema: true,
  hashed: false,
};
export const AGE: SelectedField = { ...NAME, id: 'f_age', label: 'Age', position: 1 };

export const formOf = (slug: string, fields: readonly SelectedField[]) => ({
  id: `form_${slug}`,
  slug,
  name: slug,
  fields: fields.map(({ id, label }) => ({ id, label })),
});

export const row = (id: string, cells: Record<string, Cell>, status = 'NEW'): Row => ({
  id,
  status,
  createdAt: '2026-01-01T00:00:00.123456Z',
  cells: new Map(Object.entries(cells)),
});

/** A run of a minute that stored three rows. */
export const RUN: Run = {
  ...NOTHING_APPLIED,
  startedAtMs: Date.UTC(2026, 2, 5),
  endedAtMs: Date.UTC(2026, 2, 5, 0, 1),
  outcome: 'ok',
  code: null,
  error: null,
  requests: 3,
  inserted: 3,
  held: 0,
  isWhole: true,
};

let nowMs = Date.UTC(2026, 0, 2);
/** Each call is a second after the one before, so that no two commits have the same time. */
export const clock: Clock = { now: () => (nowMs += 1_000), sleep: async () => {} };

export const messagesOf = (notices: readonly TargetNotice[]): string[] =>
  notices.map(({ message }) => message);

const [AT_MS, LATER_MS, BEFORE_MS] = [0, 60_000, -60_000].map(
  (ms) => Date.UTC(2026, 0, 1) + ms,
) as [number, number, number];

/** A state that claims submissions and statuses as of 2026. */
export const claimed = (state: FormState): FormState => ({
  ...state,
  submissionsAsOfMs: AT_MS,
  statusesAsOfMs: AT_MS,
});

/** The same after a later run that read every answer, and failed. */
export const claimedAndRead = (state: FormState): FormState => wholeRead(claimed(state), LATER_MS);

/**
 * The result of the view \`freshness\` for a form that was {@link claimedAndRead}, after each of several polls, as
 * milliseconds: from its last run, or from a later poll that agrees about the form. Answers are never newer than submissions.
 */
export async function freshnessAfterPolls(
  open: () => Promise<Store>,
  formId: string,
  ask: () => Promise<readonly [submissionsMs: number, statusesMs: number, answersMs: number]>,
): Promise<{ shown: (readonly number[])[]; expected: number[][] }> {
  const later = (statusesAtMs: number | null, ...formIds: string[]): Agreement => {
    return { atMs: LATER_MS, statusesAtMs, formIds };
  };
  const polls = [
    { agreements: [later(LATER_MS, 'another')], expected: [AT_MS, AT_MS, AT_MS] },
    { agreements: [later(null, 'another', formId)], expected: [LATER_MS, AT_MS, LATER_MS] },
    {
      agreements: [{ ...later(null, 'another'), atMs: Date.now() }, later(LATER_MS, formId)],
      expected: [LATER_MS, LATER_MS, LATER_MS],
    },
    {
      agreements: [{ ...later(BEFORE_MS, formId), atMs: BEFORE_MS }],
      expected: [AT_MS, AT_MS, AT_MS],
    },
  ];
  const shown: (readonly number[])[] = [];
  for (const { agreements } of polls) {
    await using store = await open();
    const kept = await store.record(AGREEMENTS_RECORD);
    await store.putRecord(AGREEMENTS_RECORD, agreements, kept?.revision ?? null);
    shown.push(await ask());
  }
  return { shown, expected: polls.map(({ expected }) => expected) };
}
