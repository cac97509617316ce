import { expect, it } from 'vitest';
import { newFormState, type OutcomeName, runEnded } from '../../src/mirror/form-state.ts';

it('L17: knows since when runs have ended alike, not counting those that were stopped', () => {
  const outcomes: OutcomeName[] = ['ok', 'held', 'held', 'stopped', 'held', 'failed', 'stopped'];
  let state = newFormState({ formId: 'frm', slug: 'form', name: 'Form', place: 'form' });
  const since = outcomes.map((outcome, endedAtMs) => {
    state = runEnded(state, { outcome, code: null, endedAtMs });
    expect(state.outcome).toBe(outcome);
    return state.lately?.sinceMs;
  });
  expect(since).toEqual([0, 1, 1, 1, 1, 5, 5]);
});
