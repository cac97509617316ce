import { describe, expect, it } from 'vitest';
import { overviewMain } from '../../src/status/overview-page.ts';
import { formMain } from '../../src/status/form-page.ts';
import { headline } from '../../src/status/headline.ts';
import { type StatusReport, reportOf } from '../../src/status/report.ts';
import { FakeSource, NOW, QUEUE, before, formOverview, passRecord } from './fake-source.ts';
import { realisticSource } from './realistic-source.ts';
import { startPage } from './start-page.ts';
import { FORM_A, failedPass, reading, viewOf } from './view-of.ts';

const reportWith = (...view: Parameters<typeof viewOf>): StatusReport =>
  reportOf(viewOf(...view), '1');

describe('the headline', () => {
  it.each([
    ['Everything is up to date', {}],
    ['1 form has failed', { 'db frm_a': [failedPass(1, 'TARGET_FULL')] }],
    ['1 form needs attention', { 'db frm_a': [passRecord(1, { outcome: 'incomplete' as const })] }],
    [
      '1 form has failed, 1 needs attention',
      {
        'db frm_a': [passRecord(1, { outcome: 'incomplete' as const })],
        'db frm_b': [failedPass(1, 'TARGET_FULL')],
      },
    ],
    ['The Forms API refuses the key', { 'db frm_a': [failedPass(1, 'FORMS_UNAUTHORIZED')] }],
  ])('says: %s', (words, passes) => {
    expect(headline(reportWith(passes))).toBe(words);
  });

  it('tells an empty mirror from one that waits', () => {
    const overview = { kind: 'sqlite' as const, address: 'x', forms: [] };
    const targets = [reading({ overview })];
    expect(headline(reportWith({}, { targets }))).toBe('Nothing has been mirrored yet');
    const forms = [{ form: FORM_A, targets: ['db'] }];
    const plan = { at: before(0), forms, problem: null, notices: [] };
    const waiting = { targets, plan, knownSinceMs: () => NOW };
    expect(headline(reportWith({ 'db frm_a': [] }, waiting))).toBe('Waiting for the first pass');
  });
});

describe('the page of all forms', () => {
  it('shows state, rows, last pass, proof, rejected, dropped columns and the next run', async () => {
    await using page = await startPage(realisticSource());
    const html = await page.text('/');
    for (const shown of [
      'Kontaktní formulář',
      'Needs attention',
      'Failed',
      'Up to date',
      'Waiting',
      'Gone at the source',
      '18,204',
      '22 s ago',
      'title="2026-05-12 09:29:38 UTC"',
      '3 rejected',
      '2 columns dropped',
      'in 38 s',
      'forms-mirror sync --full --accept-deletes --form frm_9s0dd2 --target warehouse',
      'TARGET_FORMS names kontakt-2',
      'PostgreSQL: postgres://db.internal:5432/forms',
      'full pass',
    ]) {
      expect(html).toContain(shown);
    }
  });

  it('puts what is worst first', async () => {
    await using page = await startPage(realisticSource());
    const html = await page.text('/');
    const order = [
      'job-application',
      'summer-camp-2026',
      'contact',
      'newsletter',
      'christmas-party',
    ];
    const places = order.map((slug) => html.indexOf(`<bdi>${slug}</bdi>`));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('when empty says what will happen, and what keeps it from happening', () => {
    const overview = { kind: 'sqlite' as const, address: 'x', forms: [] };
    const empty = overviewMain(reportWith({}, { targets: [reading({ overview })] })).text;
    expect(empty).toContain('forms-mirror check');
    expect(empty).toContain('in 38 s');
    const failure = { code: 'TARGET_DENIED' as const, message: 'Wrong password for db.' };
    const denied = [reading({ overview: null, failure, failures: 2 })];
    expect(overviewMain(reportWith({}, { targets: denied })).text).toContain(
      'Wrong password for db.',
    );
  });

  it('does not repeat for each form what concerns all', () => {
    const message = 'the key was refused (401)';
    const passes = {
      'db frm_a': [failedPass(2, 'FORMS_UNAUTHORIZED', message)],
      'db frm_b': [failedPass(1, 'FORMS_UNAUTHORIZED', message)],
    };
    expect(overviewMain(reportWith(passes)).text.split(message)).toHaveLength(2);
  });

  it('survives a queue that is away', async () => {
    const source = realisticSource();
    source.queueState = { ...QUEUE, reachable: false };
    await using page = await startPage(source);
    expect(await page.text('/')).toContain('redis://queue.internal:6379, does not answer');
    await page.reread();
    expect(await page.text('/')).toContain('<h1>The queue does not answer</h1>');
  });
});

describe('what others have written', () => {
  const evil = `</title></style><script>alert(1)</script><img src=x onerror=alert(1)> ' " &`;

  it('is shown as text, wherever it stands', async () => {
    const form = { id: evil, slug: evil, name: evil };
    const source = new FakeSource();
    const pass = passRecord(5_000, { outcome: 'failed', error: evil });
    const overview = { rejected: 1, location: evil, droppedColumns: [evil] };
    source.hold('db', [formOverview(form, overview, [pass, passRecord(60_000, { kind: 'full' })])]);
    source.histories.set(`db/${evil}`, [pass]);
    const seen = { firstSeenAt: evil, lastSeenAt: before(1) };
    source.rejected.set(`db/${evil}`, {
      total: 1,
      items: [{ submissionId: evil, reason: evil, stored: false, ...seen }],
    });
    source.planState = { ...source.planState, notices: [evil] };
    await using page = await startPage(source);
    for (const path of ['/', `/forms/${encodeURIComponent(evil)}`]) {
      const html = await page.text(path);
      expect(html).toContain('&lt;script&gt;alert(1)');
      expect(html.match(/<script/g)).toHaveLength(1);
      expect(html).not.toContain('<img');
      expect(html.match(/<\/title>/g)?.length).toBe(html.match(/<title>/g)?.length);
    }
  });
});

describe('the page of a form', () => {
  it('says what cannot be read just now', () => {
    const report = reportWith();
    const forms = report.forms.slice(0, 1).map((form) => Object.assign({}, form, { rejected: 2 }));
    const unread = [{ target: 'db', passes: null, rejections: null }];
    const html = formMain(report, forms, unread).text;
    expect(html).toContain('The passes cannot be read just now.');
    expect(html).toContain('What was rejected cannot be read just now.');
  });

  it('tells what is wrong with a target as a whole', () => {
    const passes = {
      'db frm_a': [failedPass(2, 'TARGET_DENIED', 'Wrong password.')],
      'db frm_b': [failedPass(1, 'TARGET_DENIED', 'Wrong password.')],
    };
    const report = reportWith(passes);
    const html = formMain(report, report.forms.slice(0, 1), []).text;
    expect(html.split('Wrong password.')).toHaveLength(2);
  });

  it('folds older passes away', async () => {
    await using page = await startPage(realisticSource());
    const html = await page.text('/forms/frm_1aa0z8');
    expect(html).toContain('48 earlier passes');
    expect(html.match(/<rect/g)?.length).toBeGreaterThanOrEqual(60);
    expect(html).toContain('no-id:5f1d0c9ab2');
  });
});
