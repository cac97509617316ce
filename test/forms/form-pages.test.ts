import { describe, expect, it } from 'vitest';
import { FormsClient, type SubmissionPage } from '../../src/forms/client.ts';
import { FormPages } from '../../src/forms/form-pages.ts';
import type { FormWindow } from '../../src/mirror/target.ts';
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
  window?: FormWindow,
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
  await test(new FormPages(client, 'f', {}, window), asked);
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

  it('asks for the pages of one window with its bounds, those narrowed to a status as well', async () => {
    const window = { from: '2026-03-01T00:00:00.000Z', to: '2026-03-02T00:00:00.000Z' };
    const check = async (pages: FormPages, asked: URLSearchParams[]): Promise<void> => {
      await pages.read({ page: 1 });
      await pages.read({ page: 1, status: 'NEW' });
      const bounds = asked.map((query) => [query.get('dateFrom'), query.get('dateTo')]);
      expect(bounds).toEqual([
        [window.from, '2026-03-01T23:59:59.999Z'],
        [window.from, '2026-03-01T23:59:59.999Z'],
      ]);
    };
    await withPages(() => ({ items: ['a'] }), check, window);
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
        await expect(pages.read({ page: 2 })).rejects.toMatchObject({ code: 'FORMS_FAILED' });
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

  it('L6: a page of nothing but nulls is not taken for page 1 again', async () => {
    await using server = await OddServer.start((_request, response) =>
      sendJson(response, { items: [null, null], total: 6, totalPages: 3 }),
    );
    const options = { apiKey: 'key_12345678', auth: 'bearer' as const, concurrency: 2 };
    await using client = new FormsClient({
      ...options,
      baseUrl: server.url,
      clock: new TestClock(),
    });
    const pages = new FormPages(client, 'f', {});
    await pages.read({ page: 1 });
    expect((await pages.read({ page: 2 })).items).toHaveLength(2);
    expect(server.requests).toHaveLength(2);
  });
});

describe('an absurd number of pages', () => {
  const ids = (count: number, page: number, size = 2): string[] =>
    Array.from({ length: count }, (_, at) => `s${at}`).slice((page - 1) * size, page * size);

  /** The pages that reading on asks for, of so many items, two to a page; sorted, as several are asked for at once. */
  const askedFor = async (
    items: number,
    shown: { total?: number; pages?: number },
    readAhead = 4,
  ): Promise<string[]> => {
    let seen: string[] = [];
    const answer = (query: URLSearchParams) => ({
      items: ids(items, Number(query.get('page'))),
      total: items,
      pages: 1e9,
      ...shown,
    });
    await withPages(answer, async (list, asked) => {
      const first = await list.read({ page: 1 });
      for await (const _ of list.readOn({ from: 2, to: first.totalPages, readAhead }));
      seen = asked.map((query) => query.get('page') ?? '').toSorted();
    });
    return seen;
  };

  it('L14: costs no request more than `total` and the pages seen justify', async () => {
    expect(await askedFor(5, {})).toEqual(['1', '2', '3']);
    expect(await askedFor(1, {})).toEqual(['1']);
  });

  it('after full pages costs one more, which is empty', async () => {
    expect(await askedFor(6, {})).toEqual(['1', '2', '3', '4']);
  });

  it('beside an absurd `total` ends with the first empty page', async () => {
    expect(await askedFor(5, { total: 1e9 }, 1)).toEqual(['1', '2', '3', '4']);
  });

  it('L3: that is right where `total` is too low is believed as long as pages are full', async () => {
    expect(await askedFor(5, { total: 2, pages: 3 })).toEqual(['1', '2', '3']);
  });

  it.each([-1, 2.5, 'many', null])(
    '%j is reckoned from what the first page holds',
    async (pages) => {
      expect(await askedFor(5, { pages: pages as number })).toEqual(['1', '2', '3']);
    },
  );
});

/** The list of a source whose responses come when the test says so, two items to a page. */
class HeldPages {
  /** Pages in the order in which they were asked for. */
  readonly asked: number[] = [];
  readonly list: FormPages;
  readonly #answers = new Map<number, () => void>();

  constructor(totalPages: number) {
    const listSubmissions = async ({ page }: { page: number }): Promise<SubmissionPage> => {
      this.asked.push(page);
      const answer = Promise.withResolvers<void>();
      this.#answers.set(page, answer.resolve);
      await answer.promise;
      const items = [0, 1].map((nth) => ({ key: `${page}.${nth}`, submission: null, defects: [] }));
      return { items, total: totalPages * 2, totalPages, page, limit: 2, serverTimeMs: null };
    };
    this.list = new FormPages({ listSubmissions }, 'f', {});
  }

  /** Lets the responses of these pages come, and what follows from that happen. */
  async answer(...pages: number[]): Promise<void> {
    for (const page of pages) this.#answers.get(page)?.();
    await new Promise((done) => setImmediate(done));
  }
}

describe('pages that are read ahead', () => {
  it('L14: are asked for when a response has come, in its turn or not, and in a bounded number', async () => {
    const source = new HeldPages(20);
    const reading = source.list.readOn({ from: 2, to: 20, readAhead: 2 });
    const first = reading.next();
    await source.answer();
    expect(source.asked).toEqual([2, 3]);
    await source.answer(3);
    expect(source.asked).toEqual([2, 3, 4]);
    await source.answer(4, 5);
    // Four that nobody has taken are enough.
    expect(source.asked).toEqual([2, 3, 4, 5]);
    await source.answer(2, 5);
    expect((await first).value?.asked).toBe(2);
    expect(source.asked).toEqual([2, 3, 4, 5, 6]);
    await source.answer(6);
    await reading.return(undefined);
  });

  it('L1: are begun with the first page alone, as it may be a base, and taken over', async () => {
    const source = new HeldPages(4);
    let isTail = false;
    source.list.begin(2);
    await source.answer();
    expect(source.asked).toEqual([1]);
    await source.answer(1);
    expect(source.asked).toEqual([1, 2, 3]);
    expect((await source.list.first()).items[0]?.key).toBe('1.0');
    const onTail = (): void => void (isTail = true);
    const reading = source.list.readOn({ from: 2, to: 4, readAhead: 2, onTail });
    const second = reading.next();
    expect(isTail).toBe(false);
    await source.answer(2, 3);
    expect((await second).value?.items[0]?.key).toBe('2.0');
    expect([source.asked, isTail]).toEqual([[1, 2, 3, 4], true]);
    await source.answer(4);
    await reading.return(undefined);
  });

  it('L14: are asked for in a larger but bounded number before anybody takes them', async () => {
    const source = new HeldPages(20);
    source.list.begin(2);
    for (let page = 1; page <= 20; page++) await source.answer(page);
    // The first one is no page of those that follow it.
    expect(source.asked).toHaveLength(1 + 8);
    await source.list.drop();
  });

  it('tell when few are left to be asked for', async () => {
    const source = new HeldPages(10);
    const lastAsked: (number | undefined)[] = [];
    const onTail = (): void => void lastAsked.push(source.asked.at(-1));
    const reading = source.list.readOn({ from: 2, to: 10, readAhead: 2, onTail });
    for (let page = 2; page <= 10; page++) {
      const next = reading.next();
      await source.answer();
      await source.answer(page);
      await next;
    }
    expect(lastAsked[0]).toBe(6);
    await reading.return(undefined);
  });

  it('L1: are dropped where another page is asked for first, which may be the base instead', async () => {
    const source = new HeldPages(4);
    source.list.begin(2);
    await source.answer();
    await source.answer(1);
    const last = source.list.read({ page: 4 });
    await source.answer(2, 3);
    await source.answer(4);
    expect((await last).items[0]?.key).toBe('4.0');
    const reading = source.list.readOn({ from: 2, to: 4, readAhead: 1 });
    const again = reading.next();
    await source.answer();
    expect(source.asked).toEqual([1, 2, 3, 4, 2]);
    await source.answer(2);
    await again;
    await source.answer(3);
    await source.answer(4);
    await reading.return(undefined);
  });
});
