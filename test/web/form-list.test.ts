import { describe, expect, it } from 'vitest';
import { MAX_PAGE_BYTES } from './page-size.ts';
import { type ListQuery, WHOLE_LIST, listPath, readListQuery } from '../../src/web/form-list.ts';
import { before } from '../health/fake-source.ts';
import { type Trouble, failing, manyForms, usual } from './many-forms.ts';
import { IDLE_ACTOR, startPage } from './start-page.ts';

/** The slugs of a page's rows, in order. */
const slugsOf = (html: string): string[] =>
  [...html.matchAll(/<span class="fact"[^>]*><bdi>([^<]+)<\/bdi>/g)].map(([, slug = '']) => slug);

describe('a list of many forms', () => {
  it('is cut into pages, worst first, and every form is on one of them', async () => {
    await using page = await startPage(manyForms(300));
    const first = await page.text('/');
    expect(first).toContain('Forms 1 to 30 of 300');
    expect(first).toContain('Page 1 of 10');
    expect(first).toContain('<a rel="next" href="/?page=2">');
    expect(first).not.toContain('rel="prev"');
    const pages = await Promise.all(
      Array.from({ length: 10 }, (_, at) => page.text(`/?page=${at + 1}`)),
    );
    const slugs = pages.flatMap(slugsOf);
    expect(slugs).toHaveLength(300);
    expect(new Set(slugs).size).toBe(300);
    const states = pages.flatMap((html) =>
      [...html.matchAll(/<tr class="(\w+)"/g)].map(([, state = '']) => state),
    );
    const order = ['failed', 'attention', 'ok'];
    expect(states).toEqual(states.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
    expect(states.filter((state) => state === 'failed')).toHaveLength(10);
    // One that is too high is the last.
    expect(await page.text('/?page=99')).toContain('Page 10 of 10');
  });

  it.each([
    ['q=CAMP-2012', 1, 'camp-2012'],
    ['q=prihlaska+na+letni+tabor+13', 3, 'camp-2012'],
    ['q=%20newsletter%20', 30, 'news-2004'],
    ['q=feedback&state=attention', 5, 'feedback-2043'],
    ['state=failed', 10, 'feedback-2007'],
    ['state=nonsense', 30, 'feedback-2007'],
    ['q=a&q=b', 30, 'feedback-2007'],
  ])('is searched and filtered by its address: %s', async (address, rows, slug) => {
    await using page = await startPage(manyForms(300));
    const found = slugsOf(await page.text(`/?${address}`));
    expect(found).toHaveLength(rows);
    expect(found).toContain(slug);
  });

  it('keeps what was asked for over its pages, and says when nothing is found', async () => {
    await using page = await startPage(manyForms(300));
    const html = await page.text('/?q=%22%3E%3Cb%3E&state=ok');
    expect(html).toContain('value="&quot;&gt;&lt;b&gt;"');
    expect(html).toContain('No form');
    expect(await page.text('/?q=o&state=ok')).toContain('href="/?q=o&amp;state=ok&amp;page=2"');
  });

  it('offers no search where a glance is enough', async () => {
    await using page = await startPage(manyForms(3));
    expect(await page.text('/')).not.toContain('role="search"');
    expect(await page.text('/?q=nothing')).toContain('role="search"');
  });

  it('reads any address, and writes one that reads the same', () => {
    const asked: ListQuery = { q: 'č & d', state: 'failed', page: 3 };
    const params = new URLSearchParams(listPath(asked).slice(2));
    expect(readListQuery(Object.fromEntries(params))).toEqual(asked);
    expect(listPath(WHOLE_LIST)).toBe('/');
    for (const odd of [undefined, null, {}, { page: '0' }, { page: '-1' }, { page: '1e9', q: 7 }]) {
      expect(readListQuery(odd)).toEqual(WHOLE_LIST);
    }
  });
});

describe('the size of the page with 300 forms in 2 targets', () => {
  const calm: Trouble = () => null;
  const all: Trouble = failing;
  it.each([
    ['as usual', usual, '/'],
    ['all well', calm, '/?page=2'],
    ['all failing', all, '/'],
    ['all failing, filtered', all, '/?q=konference&state=failed&page=2'],
  ])('stays below 100 kB, actions included: %s', async (_, trouble, path) => {
    const source = manyForms(300, trouble);
    const running = Array.from({ length: 100 }, (_one, at) => ({
      formId: source.planState.forms[at]?.form.id ?? '',
      target: 'warehouse',
      kind: 'full' as const,
      startedAtMs: Date.parse(before(60_000)),
      progress: { atMs: Date.parse(before(1_000)), seen: 1_000, total: 50_000 },
      worker: `worker-host-name-${at % 3}-12345`,
    }));
    if (!('address' in source.queueState)) throw new Error('no queue');
    source.queueState = { ...source.queueState, running };
    await using page = await startPage(source, { actor: IDLE_ACTOR });
    const html = await page.text(path);
    const bytes = Buffer.byteLength(html);
    expect(html).toContain('88 more are not shown');
    expect(bytes).toBeLessThan(MAX_PAGE_BYTES);
  });
});
