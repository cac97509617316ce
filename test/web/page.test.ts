import { describe, expect, it } from 'vitest';
import { dataDirProblem } from '../../src/health/failure-store.ts';
import { overviewMain } from '../../src/web/overview-page.ts';
import { formMain } from '../../src/web/form-page.ts';
import { headline } from '../../src/health/headline.ts';
import { type StatusReport, reportOf } from '../../src/health/report.ts';
import {
  FakeSource,
  NOW,
  QUEUE,
  before,
  formOverview,
  passRecord,
  passReport,
} from '../health/fake-source.ts';
import { CONTACT, busySource, realisticSource } from './realistic-source.ts';
import { IDLE_ACTOR, startPage } from './start-page.ts';
import { FORM_A, FORM_B, failedPass, reading, healthOf } from '../health/health-of.ts';

const reportWith = (...health: Parameters<typeof healthOf>): StatusReport =>
  reportOf(healthOf(...health), '1');

describe('the headline', () => {
  it.each([
    ['Up to date: submissions as of 20 s ago, statuses and answers as of 2 h ago', {}],
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

  it('distinguishes an empty mirror from one that waits', () => {
    const overview = { kind: 'sqlite' as const, address: 'x', forms: [] };
    const targets = [reading({ overview })];
    expect(headline(reportWith({}, { targets }))).toBe('Nothing has been mirrored yet');
    const unread = [reading({ overview: null, readAtMs: 0 })];
    expect(headline(reportWith({}, { targets: unread }))).toBe('What is mirrored is not known');
    const forms = [{ form: FORM_A, targets: ['db'] }];
    const plan = { at: before(0), forms, problem: null, unmatched: [], notices: [] };
    const waiting = { targets, plan, knownSinceMs: () => NOW };
    expect(headline(reportWith({ 'db frm_a': [] }, waiting))).toBe('Waiting for the first pass');
  });
});

describe('the page of all forms', () => {
  it('shows state, rows, last pass, proof, rejected and the next run', async () => {
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
      'in 38 s',
      'forms-mirror sync --full --accept-deletes --form frm_9s0dd2 --target warehouse',
      'TARGET_FORMS names kontakt-2',
      'PostgreSQL: postgres://db.internal:5432/forms',
    ]) {
      expect(html).toContain(shown);
    }
  });

  it.each(['unwritable', 'full'] as const)(
    'L17: shows a DATA_DIR in which no failure can be kept, as it is %s, while it is so',
    async (fault) => {
      await using page = await startPage();
      const mirror = async () => (await (await page.get('/health')).json()) as object;
      expect(await mirror()).toMatchObject({ ok: true, mirror: 'ok' });
      page.source.dataDirProblem = dataDirProblem(fault, '/srv/data');
      await page.reread();
      const html = await page.text('/');
      expect(html).toContain('Failures cannot be kept');
      expect(html).toContain('DATA_DIR (/srv/data)');
      expect(await mirror()).toMatchObject({ ok: true, mirror: 'failed' });
      page.source.dataDirProblem = null;
      // Nobody has to open the page for it to be noticed, and soon.
      await page.clock.advance(6_000);
      expect(await mirror()).toMatchObject({ mirror: 'ok' });
      expect(await page.text('/')).not.toContain('DATA_DIR');
    },
  );

  it('is a matrix, forms down, targets across, with a way into each', async () => {
    const source = new FakeSource();
    const [sql, sheet] = [
      { place: { table: 'public.a' } },
      { place: { url: 'https://docs.google.com/x#gid=7' } },
    ];
    const evil = { place: { url: 'javascript:alert(1)' } };
    source.hold('db', [formOverview(FORM_A, sql), formOverview(FORM_B, evil)]);
    source.hold('sheet', [formOverview(FORM_A, sheet)], 'google-sheets');
    await using page = await startPage(source);
    const html = await page.text('/');
    expect(html.match(/<th scope="col"/g)).toHaveLength(3);
    expect(html.match(/<th scope="row"/g)).toHaveLength(2);
    expect(html.match(/not mirrored here/g)).toHaveLength(1);
    expect(html).toContain('>public.a</code>');
    expect(html).toContain('href="https://docs.google.com/x#gid=7"');
    expect(html).not.toContain('javascript:alert');
  });

  it('L17: says of rows when they were counted, where a pass has ended since', async () => {
    const source = new FakeSource();
    source.hold('sheet', [formOverview(FORM_A)], 'google-sheets');
    await using page = await startPage(source);
    expect(await page.text('/')).not.toContain('counted');
    await page.clock.advance(10_000);
    const ended = { startedAt: new Date(NOW + 5_000).toISOString(), inserted: 7 };
    const record = { ...passRecord(0, ended), endedAt: new Date(NOW + 9_000).toISOString() };
    page.events.emit('pass.ended', passReport(FORM_A, 'sheet', record));
    expect(await page.text('/')).toMatch(/100 rows, counted\s<time [^>]*>10 s ago/);
    await page.clock.advance(60_000);
    expect(await page.text('/')).not.toContain('counted');
  });

  it('shows what every worker does, where, since when and how far', async () => {
    await using page = await startPage(busySource());
    const html = await page.text('/');
    for (const shown of ['Running now', 'web1-4121', '31,000 of 80,000', 'web3-9', 'marking']) {
      expect(html).toContain(shown);
    }
    expect(html).toContain('4, 3 at work on forms');
    expect(await page.text(`/forms/${CONTACT.id}`)).not.toContain('Running now');
  });

  it('links to what can be done only where it is asked to', async () => {
    for (const path of ['/', `/forms/${CONTACT.id}`]) {
      await using plain = await startPage(realisticSource());
      expect(await plain.text(path)).not.toContain('/act?');
      await using page = await startPage(realisticSource(), { actor: IDLE_ACTOR });
      const html = await page.text(path);
      expect(html).toContain(`href="/act?do=look&amp;form=${CONTACT.id}`);
      expect(html.includes('href="/act?do=pause"')).toBe(path === '/');
      expect(html.includes(`do=pause&amp;form=${CONTACT.id}&amp;target=team-sheet`)).toBe(
        path !== '/',
      );
    }
    await using page = await startPage(realisticSource(), { actor: IDLE_ACTOR });
    const html = await page.text('/');
    // One form has withheld deletions, three are troubled.
    expect(html.match(/do=accept/g)).toHaveLength(1);
    expect(html.match(/do=retry/g)).toHaveLength(3);
    // No channel to try.
    expect(html).not.toContain('do=alert');
  });

  it('puts what is worst first', async () => {
    await using page = await startPage(realisticSource());
    const html = await page.text('/');
    const order = [
      'job-application',
      'summer-camp-2026',
      'newsletter',
      'contact',
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
    const failure = {
      code: 'TARGET_DENIED' as const,
      message: 'Wrong password for db.',
      sinceMs: NOW,
    };
    const denied = [reading({ overview: null, failure, failures: 2 })];
    expect(overviewMain(reportWith({}, { targets: denied })).text).toContain(
      'Wrong password for db.',
    );
  });

  it('says since when something is wrong', () => {
    const passes = { 'db frm_a': [passRecord(3_600_000), failedPass(5_000, 'TARGET_FULL')] };
    const { text } = overviewMain(reportWith(passes));
    expect(text).toContain(`since <time datetime="${before(3_600_000)}">2026-05-12 08:30:00 UTC`);
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
    const overview = { rejected: 1, location: evil };
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
    const unread = [{ target: 'db', passes: null, rejections: null, details: null }];
    const html = formMain(report, forms, unread).text;
    expect(html).toContain('The passes cannot be read just now.');
    expect(html).toContain('The rejected submissions cannot be read now.');
  });

  it('says what is wrong with a target as a whole', () => {
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

  it('draws its passes over time, and has the same in a table', async () => {
    await using page = await startPage(realisticSource());
    const html = await page.text('/forms/frm_1aa0z8');
    const [chart = ''] = /<svg\s+viewBox="0 0 480 150"[\s\S]*?<\/svg\s*>/.exec(html) ?? [];
    expect(chart).toContain(
      'aria-label="The last 60 passes, oldest to newest. Duration: up to 41 s.',
    );
    expect(chart).toContain('Rows written: up to 14. Requests: up to 9.');
    // A pass that writes nothing has no bar of rows; the three full ones have the tallest.
    expect(chart.match(/<g class="(ok|attention|failed)"/g)).toHaveLength(60);
    expect(chart.match(/<rect/g)).toHaveLength(60 * 2 + 15);
    expect(chart.match(/height="42"/g)).toHaveLength(9);
    expect(html).toContain('aria-describedby="passes-of-warehouse"');
    expect(html).toContain('id="passes-of-warehouse"');
  });

  it('lists fields with their columns, and windows with their last comparison', async () => {
    await using page = await startPage(realisticSource());
    const html = await page.text('/forms/frm_1aa0z8');
    for (const shown of [
      '4 fields',
      'how_satisfied_are_you_',
      'field_2b',
      'no longer',
      '15 windows',
    ]) {
      expect(html).toContain(shown);
    }
    expect(html).toContain('2 not proven by the pass under way');
    expect(html).toContain('before 2026-04-27');
    expect(html).toContain('since 2026-05-10');
    expect(html.match(/to be proven/g)).toHaveLength(2);
  });

  it('asks a target with a quota again only after a rest, or when a pass has ended', async () => {
    const source = realisticSource();
    const asked: string[] = [];
    const passes = source.passes.bind(source);
    source.passes = (target, ...rest) => {
      asked.push(target);
      return passes(target, ...rest);
    };
    await using page = await startPage(source);
    const path = `/forms/${CONTACT.id}`;
    const sheets = (): number => asked.filter((target) => target === 'team-sheet').length;
    const read = async (): Promise<void> => void (await page.whileTimePasses(page.text(path)));
    await read();
    const before = sheets();
    await read();
    await read();
    expect(sheets()).toBe(before);
    expect(asked.filter((target) => target === 'warehouse').length).toBeGreaterThan(2);
    const ended = passReport(CONTACT, 'team-sheet', passRecord(0));
    page.events.emit('pass.ended', ended);
    await read();
    expect(sheets()).toBe(before + 1);
    await page.clock.advance(46_000);
    await read();
    expect(sheets()).toBeGreaterThan(before + 1);
  });
});
