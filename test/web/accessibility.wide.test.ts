import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openBrowser } from './browser.ts';
import {
  before,
  failingReport,
  feedbackDetails,
  manyForms,
  realisticReport,
  reportOf,
} from './fixtures.ts';
import { startPage } from './start-page.ts';

/** With everything that a page can show. */
const openPage = (report = realisticReport()) =>
  startPage(report, {
    details: async () => feedbackDetails(),
    deliveryProblem: () => 'Notifications are not delivered.',
  });

/** The findings of axe: the rule and the place. */
interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

describe.skipIf(chromiumPath === undefined)('the pages, for everybody', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await openBrowser();
  });

  afterAll(() => browser?.close());

  async function inTab(
    options: BrowserContextOptions,
    work: (page: Page) => Promise<void>,
  ): Promise<void> {
    const context = await browser.newContext(options);
    try {
      await work(await context.newPage());
    } finally {
      await context.close();
    }
  }

  const FORM = '/forms/frm_1aa0z8';
  const REPORTS = {
    real: realisticReport,
    failing: failingReport,
    many: () => manyForms(300),
    empty: () => reportOf([]),
  };

  it.each([
    ['light', 1280, '/', 'real'],
    ['dark', 1280, '/', 'real'],
    ['light', 390, '/', 'real'],
    ['light', 1280, '/', 'failing'],
    ['light', 1280, FORM, 'real'],
    ['dark', 390, FORM, 'real'],
    ['light', 1280, '/', 'many'],
    ['light', 1280, '/', 'empty'],
    ['light', 1280, '/none', 'real'],
    ['light', 390, '/forms/frm_9s0dd2', 'real'],
  ] as const)(
    'axe finds nothing, poor contrast included: %s, %d wide, %s, %s',
    async (colorScheme, width, path, which) => {
      await using status = await openPage(REPORTS[which]());
      await inTab({ colorScheme, viewport: { width, height: 900 } }, async (page) => {
        await page.setExtraHTTPHeaders({ accept: 'text/html' });
        await page.goto(status.server.url + path);
        await page.evaluate(axe.source);
        const found = await page.evaluate<Finding[]>(
          'axe.run().then(({ violations }) => violations)',
        );
        expect(
          found.map(({ id, nodes }) => [id, nodes[0]?.html, nodes[0]?.failureSummary]),
        ).toEqual([]);
      });
    },
  );

  it.each([320, 390, 760, 1024, 1280])(
    'no page is wider than a window of %d, and none breaks its own rules',
    async (width) => {
      const many = manyForms(12);
      const names = ['warehouse', 'team-sheet', 'third', 'fourth', 'fifth'];
      const wide = {
        ...many,
        targets: names.map((name) => Object.assign({}, many.targets[0], { name })),
      };
      for (const report of [wide, realisticReport(), failingReport()]) {
        await using status = await openPage(report);
        const { url } = status.server;
        await inTab({ viewport: { width, height: 800 } }, async (page) => {
          const complaints: string[] = [];
          page.on('console', (message) => complaints.push(message.text()));
          page.on('pageerror', (error) => complaints.push(error.message));
          page.on('request', (request) => {
            if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
              complaints.push(request.url());
          });
          const { id = '' } = report.forms[0]?.form ?? {};
          for (const path of ['/', `/forms/${id}`]) {
            await page.goto(url + path);
            const over = await page.evaluate<number>(
              'document.documentElement.scrollWidth - innerWidth',
            );
            expect([path, Math.max(0, over)]).toEqual([path, 0]);
          }
          expect(complaints).toEqual([]);
        });
      }
    },
  );

  it('update themselves in place, except for those of one form, and show when the mirror is unreachable', async () => {
    const status = await openPage();
    await inTab({}, async (page) => {
      await page.goto(`${status.server.url}${FORM}`);
      expect(await page.locator('script').count()).toBe(0);
      await page.clock.install();
      await page.goto(status.server.url);
      status.report = { ...reportOf(), forms: status.report.forms, at: before(-11_000) };
      await page.clock.fastForward(11_000);
      await page.getByText('As of 2026-05-12 09:30:11 UTC').waitFor();
      await status.server.stop();
      await page.clock.fastForward(11_000);
      await page.getByText('The mirror does not answer').waitFor();
      expect(await page.locator('#fresh').isVisible()).toBe(false);
    });
  });

  it('need no JavaScript, not even for actions', async () => {
    await using status = await openPage();
    const { url } = status.server;
    await inTab({ javaScriptEnabled: false }, async (page) => {
      await page.goto(url);
      await page.getByText('Customer feedback', { exact: true }).click();
      expect(page.url()).toBe(`${url}${FORM}`);
      await page.getByText('Sync now').first().click();
      expect(await page.locator('h1').textContent()).toBe('Done');
    });
  });
});
