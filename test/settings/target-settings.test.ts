import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';

it('what a target may bill a day is its own, else what is unnamed, else without a limit', () => {
  const env = {
    TARGETS: 'ware-house,other',
    TARGET_OTHER_URL: 'sqlite:other.sqlite',
    TARGET_WARE_HOUSE_BIGQUERY_MAX_BYTES_PER_DAY: '200 gb',
  };
  const limits = (more: Record<string, string>): (number | undefined)[] =>
    loadConfig({ ...env, ...more }, () => '').targets.map(({ maxBytesPerDay }) => maxBytesPerDay);
  const GB = 2 ** 30;
  expect(limits({ BIGQUERY_MAX_BYTES_PER_DAY: '1.5TB' })).toEqual([200 * GB, 1_536 * GB]);
  expect(limits({})).toEqual([200 * GB, undefined]);
});
