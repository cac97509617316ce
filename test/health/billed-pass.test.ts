import { describe, expect, it } from 'vitest';
import { LEAST_BILLED_BYTES } from '../../src/targets/sql/bigquery/bigquery-spending.ts';
import { MirrorError } from '../../src/base/errors.ts';
import { endedLine, passDocument, passTable } from '../../src/cli/pass-report.ts';
import { summaryOf } from '../../src/health/pass-summary.ts';
import { costsText, reportOf } from '../../src/health/report.ts';
import { passHistory } from '../../src/web/pass-history.ts';
import { FakeSource, formOverview, NOW, passRecord, passReport } from '../health/fake-source.ts';
import { failedPass, FORM_A, FORM_B, formOf, healthOf, reading } from '../health/health-of.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { startPage } from '../web/start-page.ts';

const COSTS = { billedBytes: 12 * LEAST_BILLED_BYTES, statements: 7 };
const billed = passRecord(0, COSTS);
const plain = { style: (_: string, text: string) => text } as unknown as Terminal;

describe('a pass that a target billed', () => {
  it('says so in the report of sync, as a line, a table and a document', () => {
    const report = passReport(FORM_A, 'db', billed);
    expect(endedLine(report)).toContain('(3 requests, 120 MB billed, ');
    const table = passTable(plain, [report, passReport(FORM_A, 'other', passRecord(0))]);
    expect(table[0]).toMatch(/requests +billed +time/);
    expect(table[1]).toMatch(/ 120 MB +/);
    expect(passDocument(report, 0)).toMatchObject(COSTS);
  });

  it('leaves the report of other targets as it was', () => {
    const report = passReport(FORM_A, 'db', passRecord(0));
    expect(endedLine(report)).not.toContain('billed');
    expect(passTable(plain, [report])[0]).not.toContain('billed');
    expect(passDocument(report, 0)).not.toHaveProperty('billedBytes');
  });

  it('says so among the passes on the page', () => {
    expect(passHistory('db', [billed, passRecord(1_000)], NOW).text).toContain(
      '120 MB in 7 statements',
    );
    expect(passHistory('db', [passRecord(1_000)], NOW).text).not.toContain('Billed');
  });

  it('is shown by status with what its target billed today', () => {
    const costs = {
      ...COSTS,
      today: { ...COSTS, day: '2026-05-12' },
      maxBytesPerDay: 2 ** 40,
    };
    const overview = {
      kind: 'bigquery',
      address: 'bigquery://my-project/forms',
      forms: [formOverview(FORM_A, {}, [billed])],
    } as const;
    const health = healthOf(
      {},
      { targets: [reading({ overview, costs })], summary: () => summaryOf([billed], NOW) },
    );
    const report = reportOf(health, '1.0.0');
    expect(report.targets[0]?.costs).toEqual(costs);
    expect(costsText(costs)).toBe(
      '120 MB billed today (UTC) in 7 statements, of 1 TB a day at most (by processes that have this limit)',
    );
    expect(costsText({ ...COSTS, today: null, maxBytesPerDay: null })).toBe(
      '120 MB billed since this process began in 7 statements',
    );
    expect(report.forms[0]?.lastPass).toMatchObject(COSTS);
    const other = reportOf(healthOf(), '1.0.0');
    expect(other.targets[0]?.costs).toBeNull();
    expect(other.forms[0]?.lastPass).not.toHaveProperty('billedBytes');
  });

  it('tells of a form that no day is long enough for, also while the others only wait for the next one', () => {
    const health = healthOf({
      'db frm_a': [failedPass(1_000, 'TARGET_BUDGET_TOO_SMALL', 'too small')],
      'db frm_b': [failedPass(1_000, 'TARGET_BUDGET', 'reached')],
    });
    expect(health.targets[0]?.problem?.remedy).toContain('Nothing has to be done');
    const [problem] = formOf(health, FORM_A).problems;
    expect(problem).toMatchObject({ code: 'TARGET_BUDGET_TOO_SMALL', inhibited: false });
    expect(problem?.remedy).toContain('until BIGQUERY_MAX_BYTES_PER_DAY is raised');
    expect(formOf(health, FORM_B).problems[0]).toMatchObject({ inhibited: true });
  });

  it('is in the sum that page and metrics show as it is known now, whenever the target was last read', async () => {
    const source = new FakeSource();
    source.hold('db', [formOverview(FORM_A)], 'bigquery');
    const today = (billedBytes: number, statements: number): void =>
      void source.billed.set('db', {
        ...COSTS,
        today: { billedBytes, statements, day: '2026-05-12' },
        maxBytesPerDay: 2 ** 30,
      });
    today(0, 0);
    await using page = await startPage(source);
    expect(await page.text('/')).toContain('0 B billed today (UTC) in 0 statements');
    const reads = source.reads.get('db');
    // The limit is reached: nothing can be read any more.
    source.overviews.set('db', new MirrorError('TARGET_BUDGET', 'reached'));
    today(2 ** 30, 100);
    expect(await page.text('/')).toContain('1 GB billed today (UTC) in 100 statements');
    expect(await page.text('/metrics')).toContain(
      `forms_mirror_target_billed_today_bytes{target="db"} ${2 ** 30}\n`,
    );
    expect(source.reads.get('db')).toBe(reads);
  });

  it('is counted in the metrics, by form and target', async () => {
    await using page = await startPage(new FakeSource());
    page.events.emit('pass.ended', passReport(FORM_A, 'db', billed));
    const text = await page.text('/metrics');
    const labels = '{form="frm_a",target="db"}';
    expect(text).toContain(
      `forms_mirror_target_billed_bytes_total${labels} ${COSTS.billedBytes}\n`,
    );
    expect(text).toContain(`forms_mirror_target_statements_total${labels} 7\n`);
    page.events.emit('pass.ended', passReport(FORM_A, 'other', passRecord(0)));
    expect(await page.text('/metrics')).not.toContain(
      'billed_bytes_total{form="frm_a",target="other"}',
    );
  });
});
