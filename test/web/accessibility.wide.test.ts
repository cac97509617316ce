import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeSource } from '../health/fake-source.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { contrast } from './contrast.ts';
import { manyForms } from './many-forms.ts';
import { busySource, realisticSource } from './realistic-source.ts';
import { IDLE_ACTOR, startPage } from './start-page.ts';

/** What axe finds: the rule, and where. */
interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** The colours of every text on the page, and of what is below it, as `#rrggbb`. */
const COLOURS = `(() => {
  const hex = (text) => '#' + text.match(/\\d+/g).slice(0, 3).map((part) => Number(part).toString(16).padStart(2, '0')).join('');
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (!/, 0\\)$|transparent/.test(backgroundColor)) return hex(backgroundColor);
    }
    return '#ffffff';
  };
  const pairs = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement: one, textContent } = walker.currentNode;
    if (textContent.trim() === '' || !one.checkVisibility() || one.matches('script, style, title')) continue;
    pairs.add(hex(getComputedStyle(one).color) + ' ' + ground(one));
  }
  return [...pairs];
})()`;

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

  it.each([
    ['light', 1280, '/', 'real'],
    ['dark', 1280, '/', 'real'],
    ['light', 390, '/', 'busy'],
    ['light', 1280, FORM, 'busy'],
    ['dark', 390, FORM, 'real'],
    ['light', 1280, '/?state=attention&page=2', 'many'],
    ['dark', 1280, '/?q=nothing+like+it', 'many'],
    ['light', 1280, '/', 'empty'],
    ['light', 1280, '/none', 'real'],
  ] as const)(
    'axe finds nothing, and all text has a contrast of 4.5: %s, %d wide, %s, %s',
    async (colorScheme, width, path, which) => {
      const sources = { real: realisticSource, busy: busySource, empty };
      const source = which === 'many' ? manyForms(300) : sources[which]();
      await using status = await startPage(source, { actor: IDLE_ACTOR });
      await inTab({ colorScheme, viewport: { width, height: 900 } }, async (page) => {
        await page.setExtraHTTPHeaders({ accept: 'text/html' });
        await page.goto(status.server.url + path);
        await page.evaluate(
          "document.querySelectorAll('details').forEach((one) => (one.open = true))",
        );
        const colours = await page.evaluate<string[]>(COLOURS);
        expect(colours.length).toBeGreaterThan(3);
        const poor = colours.filter((pair) => {
          const [front = '', back = ''] = pair.split(' ');
          return contrast(front, back) < 4.5;
        });
        expect(poor).toEqual([]);
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

  it.each([320, 390, 760, 1024])('no page is wider than a window of %d', async (width) => {
    const wide = manyForms(12);
    const [warehouse] = wide.overviews.values();
    for (const name of ['third', 'fourth', 'fifth']) {
      if (warehouse !== undefined) wide.overviews.set(name, warehouse);
    }
    for (const source of [wide, busySource()]) {
      await using status = await startPage(source, { actor: IDLE_ACTOR });
      await inTab({ viewport: { width, height: 800 } }, async (page) => {
        for (const path of ['/', FORM]) {
          await page.goto(status.server.url + path);
          const over = await page.evaluate<number>(
            'document.documentElement.scrollWidth - innerWidth',
          );
          expect(over).toBeLessThanOrEqual(0);
        }
      });
    }
  });

  it('are used by keyboard: the content can be skipped to, and the focus shows', async () => {
    await using status = await startPage(realisticSource(), { actor: IDLE_ACTOR });
    await inTab({ viewport: { width: 1280, height: 800 } }, async (page) => {
      await page.goto(status.server.url);
      await page.keyboard.press('Tab');
      const skip = page.getByText('Skip to the content');
      expect((await skip.boundingBox())?.y).toBeGreaterThanOrEqual(0);
      await page.keyboard.press('Enter');
      expect(await page.evaluate<string>('document.activeElement.id')).toBe('main');
      const seen: string[] = [];
      for (let times = 0; times < 25; times++) {
        await page.keyboard.press('Tab');
        const [what = '', outline = ''] = await page.evaluate<string[]>(
          '[document.activeElement.textContent.trim(), ((style) => style.outlineStyle + " " + style.outlineWidth)(getComputedStyle(document.activeElement))]',
        );
        expect([what, outline]).toEqual([what, 'solid 2px']);
        seen.push(what);
      }
      expect(seen).toEqual(expect.arrayContaining(['Search', 'All', 'Newsletter', '1 rejected']));
      await page.locator('#menu-all > summary').focus();
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Look now');
    });
  });

  it('stand still for those who ask for it', async () => {
    await using status = await startPage(busySource());
    const motion = async (reducedMotion: 'reduce' | 'no-preference'): Promise<unknown[]> => {
      const names: unknown[] = [];
      await inTab({ reducedMotion }, async (page) => {
        await page.goto(status.server.url);
        names.push(
          ...(await page.evaluate<unknown[]>(
            "[...document.querySelectorAll('.turning')].map((one) => getComputedStyle(one).animationName)",
          )),
        );
      });
      return names;
    };
    expect(await motion('no-preference')).toEqual(['turn']);
    expect(await motion('reduce')).toEqual(['none']);
  });
});

/** Before the first plan. */
function empty(): FakeSource {
  const source = new FakeSource();
  source.hold('db', []);
  return source;
}
