import { describe, expect, it } from 'vitest';
import { FormsClient } from '../../src/forms/client.ts';
import { FormPages } from '../../src/forms/form-pages.ts';
import { OddServer, sendJson } from '../support/odd-server.ts';
import { TestClock } from '../support/test-clock.ts';

const item = (id: string) => ({
  id,
  formId: 'f',
  status: 'NEW',
  createdAt: '2026-01-01',
  data: {},
});

/** Pages of a server that answers as `answer` says; `asked` collects the queries. */
async function withPages(
  answer: (query: URLSearchParams) => {
    status?: number;
    items?: string[];
    total?: number;
    pages?: number;
  },
  test: (pages: FormPages, asked: URLSearchParams[]) => Promise<void>,
): Promise<void> {
  const asked: URLSearchParams[] = [];
  await using server = await OddServer.start((request, response) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    asked.push(query);
    const { status = 200, items = [], total = items.length, pages = 1 } = answer(query);
    if (status !== 200) return sendJson(response, { fields: {} }, status);
    const page = Number(query.get('page'));
    return sendJson(response, { items: items.map(item), total, page, limit: 2, totalPages: pages });
  });
  const { url } = server;
  const options = { baseUrl: url, apiKey: 'key_12345678', auth: 'bearer' as const, concurrency: 2 };
  await using client = new FormsClient({ ...options, clock: new TestClock() });
  await test(new FormPages(client, 'f', {}), asked);
}

describe('the pages of a form', () => {
  it('L3: does without sorting where the API refuses it, from then on', async () => {
    const refuse = (query: URLSearchParams) =>
      query.has('sortBy') ? { status: 400 } : { items: ['a'], total: 1 };
    await withPages(refuse, async (pages, asked) => {
      expect((await pages.read({ page: 1 })).items.map(({ key }) => key)).toEqual(['a']);
      await pages.read({ page: 1 });
      expect(asked.map((query) => query.has('sortBy'))).toEqual([true, false, false]);
    });
  });

  it('L3: a page beyond the last, refused because the list shrank, is an empty one', async () => {
    const shrank = (query: URLSearchParams) =>
      query.get('page') === '1' ? { items: ['a', 'b'], total: 2 } : { status: 404 };
    await withPages(shrank, async (pages) => {
      await pages.read({ page: 1 });
      const beyond = await pages.read({ page: 2 });
      expect([beyond.items, beyond.total, beyond.totalPages]).toEqual([[], 2, 1]);
    });
  });

  it('names an API that gives page 1 for every page', async () => {
    await withPages(
      () => ({ items: ['a', 'b'], total: 6, pages: 3 }),
      async (pages, asked) => {
        await pages.read({ page: 1 });
        await expect(pages.read({ page: 2 })).rejects.toMatchObject({ code: 'FORMS_PAGE_IGNORED' });
        expect(asked.length).toBe(3);
      },
    );
  });

  it('takes a page that equals the first for chance when the first has moved on', async () => {
    let calls = 0;
    const pushed = (query: URLSearchParams) => {
      calls++;
      const items = query.get('page') === '1' && calls > 1 ? ['new', 'newer'] : ['a', 'b'];
      return { items, total: 6, pages: 3 };
    };
    await withPages(pushed, async (pages) => {
      await pages.read({ page: 1 });
      expect((await pages.read({ page: 2 })).items.map(({ key }) => key)).toEqual(['a', 'b']);
    });
  });

  it('reads on ahead, in order, to the last page that the newest answer names', async () => {
    let pages = 2;
    const growing = (query: URLSearchParams) => {
      const page = Number(query.get('page'));
      if (page === 2) pages = 4;
      return { items: [`p${page}`], total: 9, pages };
    };
    await withPages(growing, async (list) => {
      const read: number[] = [];
      for await (const page of list.readOn({ from: 1, to: 2, readAhead: 2 })) read.push(page.asked);
      expect(read).toEqual([1, 2, 3, 4]);
    });
  });
});
