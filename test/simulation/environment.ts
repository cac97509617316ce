import { join } from 'node:path';
import { API_KEY } from './api.ts';
import type { Plan } from './plan.ts';

/** The place of a target. */
export const databaseOf = (dir: string, target: string): string => join(dir, `${target}.sqlite`);

/** The initial settings of a history, as in the environment; `targets`: addresses by name. */
export function plannedSettings(
  plan: Plan,
  dataDir: string,
  targets: ReadonlyMap<string, string>,
): Record<string, string> {
  const isOne = targets.size === 1;
  const urls = [...targets].map(([name, url]) => [
    isOne ? 'TARGET_URL' : `TARGET_${name.toUpperCase()}_URL`,
    url,
  ]);
  return {
    FORMS_API_KEY: API_KEY,
    FORMS_API_URL: 'http://127.0.0.1:1/api/v1',
    FORMS_API_CONCURRENCY: String(plan.concurrency),
    DATA_DIR: dataDir,
    MAX_DELETE_FRACTION: String(plan.maxDeleteFraction),
    ...(plan.writeBack ? { MARK_STATUS: 'DONE', MARK_FROM: 'NEW' } : {}),
    ...(plan.history && !urls.every(([, url]) => url?.startsWith('sheets:'))
      ? { TARGET_HISTORY: 'full' }
      : {}),
    ...(isOne ? {} : { TARGETS: [...targets.keys()].join(',') }),
    ...(Object.fromEntries(urls) as Record<string, string>),
  };
}
