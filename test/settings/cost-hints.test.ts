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
          'BigQuery bills 10 MB at least for each table that a statement touches. A look that finds nothing touches 1, whatever the number of forms: 1,440 looks a day cost 14 GB (1,440 × 10 MB), 422 GB in 30 days; each time that something of a form is stored adds some 120 MB, 169 GB a day for a form that changes all the time',
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
