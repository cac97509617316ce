import { join } from 'node:path';
import { API_KEY } from './api.ts';
import type { Plan } from './plan.ts';

/** Where a target is. */
export const databaseOf = (dir: string, target: string): string => join(dir, `${target}.sqlite`);

/** The settings that a history begins with, as in the environment. */
export function plannedSettings(plan: Plan, dir: string): Record<string, string> {
  const url = (target: string): string => `sqlite:${databaseOf(dir, target)}`;
  return {
    FORMS_API_URL: 'http://127.0.0.1:1/api/v1',
    FORMS_API_KEY: API_KEY,
    FORMS_API_CONCURRENCY: String(plan.concurrency),
    DATA_DIR: join(dir, 'data'),
    MAX_DELETE_FRACTION: String(plan.maxDeleteFraction),
    ...(plan.writeBack ? { MARK_STATUS: 'DONE', MARK_FROM: 'NEW' } : {}),
    ...(plan.history ? { TARGET_HISTORY: 'full' } : {}),
    ...(plan.targets === 2
      ? { TARGETS: 'one,two', TARGET_ONE_URL: url('one'), TARGET_TWO_URL: url('two') }
      : { TARGET_URL: url('default') }),
  };
}
