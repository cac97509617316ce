import { describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { costHints } from '../../src/settings/cost-hints.ts';

const noFile = vi.fn<(path: string) => string>(() => {
  throw Object.assign(new Error('none'), { code: 'ENOENT' });
});

/** The settings of a target of BigQuery under a schedule. */
const settings = (schedule: Record<string, string>) =>
  loadConfig(
    { TARGET_FIELDS: '*', TARGET_URL: 'bigquery://my-project/forms', ...schedule },
    noFile,
  );

const NOW = Date.UTC(2026, 10, 23);

describe('a hint at what a schedule costs', () => {
  it('tells with the arithmetic what looking each minute is billed', () => {
    expect(costHints(settings({ SYNC_EVERY: '1m' }), NOW)).toEqual([
      {
        target: 'default',
        message:
          'BigQuery bills 10 MB at least for each table that a statement touches. A look that finds nothing touches some 11, and one more for each form: with one form, 1,440 looks a day cost 169 GB (1,440 × 120 MB), 4.9 TB in 30 days; each further form adds 14 GB a day, and each time that something of a form is stored 120 MB',
        remedy: 'SYNC_EVERY=15m looks 96 times a day, and set BIGQUERY_MAX_BYTES_PER_DAY',
      },
    ]);
    const [bounded] = costHints(
      settings({ SYNC_EVERY: '5m', BIGQUERY_MAX_BYTES_PER_DAY: '1TB' }),
      NOW,
    );
    expect(bounded?.message).toContain('288 looks a day');
    expect(bounded?.remedy).toContain('ends it at 1 TB a day');
  });

  it('counts the runs of a cron expression', () => {
    const [hint] = costHints(settings({ SYNC_CRON: '*/5 8-18 * * *' }), NOW);
    expect(hint?.message).toContain('132 looks a day');
  });

  it('is silent for a sensible schedule, and for targets that bill nothing', () => {
    expect(costHints(settings({ SYNC_EVERY: '15m' }), NOW)).toEqual([]);
    expect(costHints(loadConfig({ TARGET_FIELDS: '*', SYNC_EVERY: '10s' }, noFile), NOW)).toEqual(
      [],
    );
  });
});
