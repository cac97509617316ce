import { describe, expect, it } from 'vitest';
import {
  before,
  CONTACT,
  FEEDBACK,
  feedbackDetails,
  failingReport,
  FORM_A,
  FORM_B,
  formReport,
  manyForms,
  problem,
  realisticReport,
  reportOf,
  targetReport,
} from './fixtures.ts';
import { run } from '../health/facts.ts';
import { startPage } from './start-page.ts';

describe('the page of all forms', () => {
  it('shows the report: title, summary, states, rows, claims, rejected submissions', async () => {
    await using page = await startPage(realisticReport());
    const html = await page.text('/');
    for (const shown of [
      '<h1>1 form: The Forms API fails</h1>',
      '6 forms in 2 targets · 92,183 submissions',
      'Kontaktní formulář',
      'Gone at the source',
      '18,204 rows, 12 deleted at the source',
      'submissions and statuses as of 20 s ago, answers as of 2 h ago',
      'href="/forms/frm_1aa0z8#rejected-warehouse">3 rejected',
      '31,000 of 80,000',
      'paused since 2026-05-12 07:30:00 UTC by status page, admin at 10.0.0.7 (Migration of the &lt;orders&gt; table)',
      'PostgreSQL: postgres://db.internal:5432/forms',
      'next poll <time',
    ]) {
      expect(html).toContain(shown);
    }
  });

  it('is a matrix, forms down, targets across, with a link into each', async () => {
    const evil = { url: 'javascript:alert(1)' };
    const sheet = { url: 'https://docs.google.com/x#gid=7' };
    await using page = await startPage(
      reportOf([
        formReport(FORM_A, 'db', { table: 'public.a' }),
        formReport(FORM_B, 'db', evil),
        formReport(FORM_A, 'sheet', sheet),
      ]),
    );
    const html = await page.text('/');
    expect(html.match(/<th scope="col"/g)).toHaveLength(3);
    expect(html.match(/<th scope="row"/g)).toHaveLength(2);
    expect(html.match(/not mirrored here/g)).toHaveLength(1);
    expect(html).toContain('>public.a</code>');
    expect(html).toContain('href="https://docs.google.com/x#gid=7"');
    expect(html).not.toContain('javascript:alert');
  });

  it('L17: shows as of when each target was read, and that it cannot be read', async () => {
    await using page = await startPage(failingReport());
    const html = await page.text('/');
    expect(html).toMatch(/cannot be read; last read\s+<time [^>]*>5 min ago/);
    expect(html).toContain('Target warehouse (postgres://db.internal:5432/forms) does not answer.');
    expect(html).toMatch(/last answered\s+<time [^>]*>14 min ago</);
    const [target] = failingReport().targets;
    page.report = { ...failingReport(), targets: [{ ...target!, readAt: null }] };
    expect(await page.text('/')).toMatch(/>\s*not read yet\s*</);
    page.report = reportOf([], {
      targets: [targetReport('db', { isReadable: false, readAt: null })],
    });
    expect(await page.text('/')).toMatch(/forms appear here as soon as/);
  });

  it('says that notifications are not delivered', async () => {
    const words = 'Notifications are not delivered: the webhook answers 410.';
    await using page = await startPage(reportOf(), { deliveryProblem: () => words });
    expect(await page.text('/')).toContain(words);
  });

  it('offers a button for a problem if there is one', async () => {
    await using page = await startPage(realisticReport());
    const path = '/forms/frm_9s0dd2';
    const accept = 'value="do=accept&amp;form=frm_9s0dd2&amp;target=warehouse&amp;count=312"';
    const html = await page.text(path);
    expect(html).toContain(accept);
    expect(html).not.toContain('--accept-deletes');
    expect((await page.text('/forms/frm_44hq0x')).match(/do=accept/g)).toBeNull();
    // One for the form in each target.
    expect(html.match(/do=sync/g)).toHaveLength(2);
    const all = await page.text('/');
    expect(all.match(/do=sync/g)).toHaveLength(1 + 2);
    expect(await page.text('/forms/frm_c3p0r2')).toContain(
      'value="do=resume&amp;form=frm_c3p0r2&amp;target=warehouse"',
    );
  });
});

describe('a list of many forms', () => {
  it('is complete, and begins with the worst', async () => {
    await using page = await startPage(manyForms(300));
    const html = await page.text('/');
    expect(html).toContain('300 forms, worst first');
    expect(html.match(/<th scope="row"/g)).toHaveLength(300);
    const states = [...html.matchAll(/<tr class="(\w+)"/g)].map(([, state = '']) => state);
    const order = ['failed', 'attention', 'ok'];
    expect(states).toEqual(states.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
    expect(states.filter((state) => state === 'failed')).toHaveLength(10);
  });
});

describe('the page of a form', () => {
  const open = (changes: Parameters<typeof startPage>[1] = {}) =>
    startPage(realisticReport(), { details: async () => feedbackDetails(), ...changes });

  it('shows its problems, runs, rejected submissions, undecided rows and refused status changes', async () => {
    await using page = await open();
    const html = await page.text(`/forms/${FEEDBACK.id}`);
    for (const shown of [
      'Not proven complete',
      '409 were seen, without proof that nothing was missed.',
      'every answer',
      'answered 502.',
      '61 rejected submissions',
      '(50 of 61)',
      'no-id:5f1d0c9a48',
      '1 undecided row',
      'sub_6Fd1',
      '1 refused status change',
      'sub_4Tz7',
      'PATCH: refused with 409.',
    ]) {
      expect(html).toContain(shown);
    }
    expect(html).toContain('id="rejected-warehouse"');
  });

  it('shows the notices of a target, and a button for each form in each target', async () => {
    await using page = await open();
    const html = await page.text(`/forms/${CONTACT.id}`);
    expect(html).toContain('Rows 14 and 15 of tab “Responses” are copies of one submission.');
    expect(html.match(/do=pause&amp;form=frm_7f2k1q&amp;target=/g)).toHaveLength(2);
    expect(await page.text('/forms/frm_old123')).not.toContain('name="order"');
  });

  it('L12: leaves the part of a slow or failing target empty, and shows the others', async () => {
    const hanging = new Promise<never>(() => undefined);
    await using page = await open({
      details: (target) => (target === 'warehouse' ? hanging : Promise.resolve(feedbackDetails())),
    });
    const html = await page.text(`/forms/${CONTACT.id}`);
    expect(html.match(/did not answer in time/g)).toHaveLength(1);
    expect(html.match(/answered 502\./g)).toHaveLength(1);
    expect(page.clock.now()).toBe(Date.parse(before(0)) + 3_000);
    await using failing = await open({ details: () => Promise.reject(new Error('secret')) });
    const failed = await failing.text(`/forms/${FEEDBACK.id}`);
    expect(failed).toContain('warehouse did not answer in time');
    expect(failed).not.toContain('secret');
  });

  it('exists for any ID', async () => {
    const odd = { id: 'a/b ü?', slug: 'odd', name: 'Odd <b>' };
    await using page = await startPage(reportOf([formReport(odd)]));
    const link = /href="(\/forms\/[^"#]+)"/.exec(await page.text('/'))?.[1] ?? '';
    expect(await page.text(link)).toContain('<h1><bdi>Odd &lt;b&gt;</bdi></h1>');
  });
});

describe('text from others', () => {
  const evil = `</title></style><script>alert(1)</script><img src=x onerror=alert(1)> ' " &`;

  it('is shown as text, wherever it is', async () => {
    const form = { id: evil, slug: evil, name: evil };
    const wrong = problem('TARGET_FAILED', { message: evil, title: evil, remedy: evil });
    const pause = { since: before(9), by: evil, reason: evil, formId: evil, command: evil };
    const entry = { kind: 'rejected', id: evil, status: evil, reason: evil } as const;
    const report = reportOf(
      [formReport(form, evil, { problems: [wrong], pause, location: evil, table: evil })],
      { title: evil, summary: evil, problems: [wrong] },
    );
    await using page = await startPage(report, {
      deliveryProblem: () => evil,
      details: async () => ({
        runs: [run(5_000, { outcome: 'failed', error: evil })],
        entries: [{ ...entry, createdAt: evil, atMs: 0 }],
      }),
    });
    // Without a script, a form's page stays unchanged.
    for (const [path, scripts] of [
      ['/', 1],
      [`/forms/${encodeURIComponent(evil)}`, 0],
    ] as const) {
      const html = await page.text(path);
      expect(html).toContain('&lt;script&gt;alert(1)');
      expect(html.match(/<script/g) ?? []).toHaveLength(scripts);
      expect(html).not.toContain('<img');
      expect(html.match(/<\/title>/g)).toHaveLength(1);
    }
  });
});
