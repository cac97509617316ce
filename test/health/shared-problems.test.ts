import { expect, it } from 'vitest';
import { readinessOf } from '../../src/health/shared-problems.ts';
import { QUEUE } from './fake-source.ts';

it.each(['incremental', 'full'] as const)(
  'a late %s run is told with the right article',
  (kind) => {
    const schedules = QUEUE.schedules.map((each) => ({ ...each, overdue: each.kind === kind }));
    const readiness = readinessOf({ ...QUEUE, schedules });
    const reason = readiness.ok ? '' : readiness.reason;
    expect(reason).toContain(`${kind} run was due`);
    expect(reason).not.toMatch(/\b(a incremental|an full)\b/i);
  },
);
