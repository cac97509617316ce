import { expect, it } from 'vitest';
import { newFormState, type OutcomeName, runEnded } from '../../src/mirror/form-state.ts';

it('L17: knows since when runs have ended alike, although some failed or were stopped in between', () => {
  const outcomes: OutcomeName[] = [
    'ok',
    'held',
    'stopped',
    'failed',
    'failed',
    'held',
    'ok',
    'held',
  ];
  let state = newFormState({ formId: 'frm', slug: 'form', name: 'Form', place: 'form' });
  const since = outcomes.map((outcome, endedAtMs) => {
    state = runEnded(state, { outcome, endedAtMs });
    expect(state.outcome).toBe(outcome);
    return state.since[outcome];
  });
  expect(since).toEqual([0, 1, undefined, 3, 3, 1, 6, 7]);
});
