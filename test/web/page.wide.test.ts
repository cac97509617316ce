import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openBrowser } from './browser.ts';
import { passRecord, passReport } from '../health/fake-source.ts';
import { FEEDBACK, realisticSource } from './realistic-source.ts';
import { startPage } from './start-page.ts';

describe.skipIf(chromiumPath === undefined)('the page in a browser', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await openBrowser();
  });

  afterAll(() => browser?.close());

  /** A tab, and everything it complains about. */
  async function open(url: string, options: Parameters<Browser['newContext']>[0]) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
        complaints.push(request.url());
    });
    return { context, page, complaints };
  }

  const overflow = (page: Page): Promise<number> =>
    page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 768],
    ['light', 390],
    ['dark', 320],
  ] as const)(
    'fits, %s and %d wide, and breaks none of its own rules',
    async (colorScheme, width) => {
      await using status = await startPage(realisticSource());
      const { url } = status.server;
      const viewport = { width, height: 800 };
      const { context, page, complaints } = await open(url, { colorScheme, viewport });
      for (const path of ['/', '/forms/frm_1aa0z8']) {
        await page.goto(url + path);
        expect(await overflow(page)).toBeLessThanOrEqual(0);
      }
      expect(complaints).toEqual([]);
      await context.close();
    },
  );

  it('brings itself up to date in place, keeps what was unfolded, and says when the mirror is away', async () => {
    const status = await startPage(realisticSource());
    const { url } = status.server;
    const { context, page } = await open(url, {});
    await page.clock.install();
    await page.goto(`${url}/forms/frm_1aa0z8`);
    await page.getByText('48 earlier passes').click();
    const subject = { form: FEEDBACK, target: 'warehouse', kind: 'full' as const, passId: 'p' };
    status.events.emit('pass.started', subject);
    await page.clock.fastForward(11_000);
    await page.getByText('full pass begins').waitFor();
    expect(await page.locator('details[open]').count()).toBe(1);
    const ended = passReport(FEEDBACK, 'warehouse', passRecord(0, { kind: 'full' }));
    status.events.emit('pass.ended', ended);
    await page.clock.fastForward(11_000);
    await page.getByText('Up to date').waitFor();
    await status.server.stop();
    await page.clock.fastForward(11_000);
    await page.getByText('The mirror does not answer').waitFor();
    await context.close();
  });

  it('leaves alone what somebody types, and the focus where it is', async () => {
    await using status = await startPage(realisticSource());
    const { context, page } = await open(status.server.url, {});
    await page.clock.install();
    await page.goto(status.server.url);
    const asOf = page.locator('#fresh');
    const before = await asOf.textContent();
    await page.locator('#q').fill('feed');
    await status.clock.advance(11_000);
    await page.clock.fastForward(11_000);
    expect(await page.locator('#q').inputValue()).toBe('feed');
    expect(await asOf.textContent()).toBe(before);
    await page.locator('#q').fill('');
    await page.locator('a.name', { hasText: 'Newsletter' }).focus();
    await page.clock.fastForward(11_000);
    await expect.poll(() => asOf.textContent()).not.toBe(before);
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Newsletter');
    await page.locator('#q').fill('feed');
    await page.locator('#q').press('Enter');
    await page.waitForURL('**/?q=feed');
    expect(await page.locator('.matrix tbody tr').count()).toBe(1);
    await context.close();
  });

  it('needs no JavaScript', async () => {
    await using status = await startPage(realisticSource());
    const { url } = status.server;
    const { context, page } = await open(url, { javaScriptEnabled: false });
    await page.goto(url);
    expect(
      await page.locator('noscript meta[http-equiv=refresh], meta[http-equiv=refresh]').count(),
    ).toBe(1);
    expect(await page.getByText('1 form has failed').count()).toBe(1);
    await page.getByText('Customer feedback', { exact: true }).click();
    expect(page.url()).toBe(`${url}/forms/frm_1aa0z8`);
    await context.close();
  });
});
