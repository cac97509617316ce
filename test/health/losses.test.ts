import { describe, expect, it } from 'vitest';
import type { FormHealth } from '../../src/health/form-health.ts';
import type { Loss } from '../../src/mirror/losses.ts';
import { formOverview } from './fake-source.ts';
import { FORM_A, FORM_B, formOf, healthOf, reading } from './health-of.ts';

describe('a form in a target', () => {
  it('L17: that lost rows is not well, and nothing of it is covered, however well its passes went', () => {
    const damaged = (losses: readonly Loss[]): FormHealth => {
      const target = reading({
        overview: {
          kind: 'postgres',
          address: 'postgres://db',
          forms: [formOverview(FORM_A, { losses }), formOverview(FORM_B)],
        },
      });
      return formOf(healthOf({}, { targets: [target] }));
    };
    expect(damaged([{ what: 'rows', missing: 4 }])).toMatchObject({
      state: 'failed',
      covers: { membership: null, statuses: null, answers: null },
      problems: [
        {
          code: 'COPY_DAMAGED',
          message:
            '4 rows that were mirrored are missing in the target. The copy is not complete until a pass has read everything again.',
        },
      ],
    });
    expect(damaged([{ what: 'uncounted' }]).state).toBe('ok');
  });
});
