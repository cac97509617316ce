import { describe, expect, it } from 'vitest';
import { readOverview } from '../../src/health/facts.ts';
import { parsePicks } from '../../src/mirror/picks.ts';
import { provenFor } from '../../src/mirror/proven-for.ts';
import type { Copy, FormOverview } from '../../src/mirror/target.ts';
import { formOverview } from './fake-source.ts';
import { failedPass, FORM_A, FORM_B, formOf, healthOf, reading } from './health-of.ts';

const FIELDS = [{ id: 'field_mail', label: 'Mail' }];
const hashKey = 'hJ2mQ9xT4bN7vK1wR8cF5yL0pZ3sD6gA';
const PLAIN = { picks: parsePicks(['*']), hashKey };
const HASHED = { picks: parsePicks(['*'], ['a:field_mail']), hashKey };

describe('settings that are other than when rows were stored', () => {
  const checkpoint = (of: typeof FORM_A) => ({
    watermark: null,
    total: 100,
    absent: 0,
    withheld: 0,
    provenAt: '2026-05-12T09:00:00.000Z',
    fullProvenAt: '2026-05-12T09:00:00.000Z',
    hidden: 0,
    provenFor: provenFor(of, PLAIN, FIELDS),
    statuses: null,
    unstored: new Map(),
    countsAt: null,
  });
  const held = (changes: Partial<FormOverview> = {}): FormOverview[] =>
    [FORM_A, FORM_B].map((of) =>
      formOverview(of, { checkpoint: checkpoint(of), filledFields: FIELDS, ...changes }),
    );
  const read = async (storing: typeof PLAIN, changes: Partial<FormOverview> = {}) => {
    const target = {
      name: 'db',
      kind: 'postgres',
      address: 'postgres://db',
      overview: async () => held(changes),
      pauses: async () => [],
    };
    const overview = await readOverview(target as unknown as Copy, { marks: false, storing });
    return healthOf({}, { targets: [reading({ overview })] });
  };

  it('L17: a form of which a field is hashed now is not complete; another form is as it was', async () => {
    const health = await read(HASHED);
    expect(formOf(health)).toMatchObject({
      state: 'failed',
      covers: { membership: null, statuses: null, answers: null },
      problems: [{ code: 'SETTINGS_CHANGED', title: 'Stored under other settings' }],
    });
    expect(formOf(health).problems[0]?.message).toContain('plain answers may still be there');
    expect(formOf(health, FORM_B).state).toBe('ok');
    expect((await read(PLAIN)).state).toBe('ok');
  });

  it('a form that is gone is never written again, and no loss; its plain answers are told', async () => {
    const health = await read(HASHED, { goneAt: '2026-01-01T00:00:00.000Z' });
    expect(formOf(health).problems.map(({ code }) => code)).not.toContain('SETTINGS_CHANGED');
    const told = formOf(health).overview?.notices.map(({ code }) => code);
    expect(told).toEqual(['PLAIN_ANSWERS']);
    const before = await read(PLAIN, { goneAt: '2026-01-01T00:00:00.000Z' });
    expect(formOf(before).overview?.notices).toEqual([]);
  });
});

describe('a name that hashes nothing', () => {
  it('is announced once, not for each form that it holds up', () => {
    const unmatched = [
      {
        variable: 'TARGET_HASH_FIELDS',
        name: 'field_1_nope',
        kind: 'field' as const,
        nearest: null,
        targets: ['db'],
      },
    ];
    const failed = [failedPass(20_000, 'SETTINGS')];
    const plan = { at: null, forms: [], problem: null, unmatched, notices: [] };
    const health = healthOf({ 'db frm_a': failed, 'db frm_b': failed }, { plan });
    expect(health.problems).toMatchObject([{ code: 'SETTINGS', level: 'error' }]);
    for (const form of [FORM_A, FORM_B]) {
      expect(formOf(health, form).problems).toMatchObject([{ code: 'SETTINGS', inhibited: true }]);
    }
    const alone = healthOf({ 'db frm_a': failed });
    expect(formOf(alone).problems).toMatchObject([{ code: 'SETTINGS', inhibited: false }]);
  });
});
