import { expect, it } from 'vitest';
import { lagSeconds } from '../../src/health/report.ts';
import { summaryOf } from '../../src/health/pass-summary.ts';
import { before, formOverview, NOW, passRecord } from './fake-source.ts';
import { FORM_A, formOf, healthOf, reading } from './health-of.ts';

const HOUR = 60 * 60_000;

it('L17: what a long pass shows is claimed as of its beginning, and is not overdue when it has just ended', () => {
  const pass = passRecord(5_000, { kind: 'full', startedAt: before(3 * HOUR) });
  const forms = [formOverview(FORM_A, {}, [pass])];
  for (const checkpoint of [
    forms[0]!.checkpoint && {
      ...forms[0]!.checkpoint,
      provenAt: before(3 * HOUR),
      fullProvenAt: before(3 * HOUR),
    },
    null,
  ]) {
    const overview = {
      kind: 'postgres',
      address: 'postgres://db',
      forms: [{ ...forms[0]!, checkpoint }],
    };
    const form = formOf(
      healthOf({}, { targets: [reading({ overview })], summary: () => summaryOf([pass], NOW) }),
    );
    const asOf = before(3 * HOUR);
    expect(form.covers).toMatchObject({ membership: asOf, statuses: asOf, answers: asOf });
    expect(lagSeconds(form.provenAt, NOW)).toBe(3 * 3_600);
    expect(form.overdueSince).toBeNull();
  }
});
