import { describe, expect, it } from 'vitest';
import { cutWindows } from '../../src/sync/cut-windows.ts';
import { LookPlace } from '../support/look-place.ts';
import { OddServer, type OddRequest, sendJson } from '../support/odd-server.ts';
import { TestClock } from '../support/test-clock.ts';

// No number or date in a response decides how many requests a run makes.

/** What a run or a poll over a form of three pages may cost, whatever a response says. */
const MOST_REQUESTS = 1_000;

interface Page {
  items: Record<string, unknown>[];
  total: unknown;
  totalPages: unknown;
}

/** How a response is changed on its way. */
interface Oddity {
  readonly change: (page: Page) => void;
  /** Which page is shown in place of one after the last. */
  readonly pastEnd: (page: number, pages: number) => number;
}

/** Forwards to a sandbox, and changes what its lists of submissions say. Refuses the key after far too many requests. */
async function oddSource(place: LookPlace, oddity: () => Oddity | null): Promise<OddServer> {
  const forward = async ({ url, headers }: OddRequest): Promise<[number, Page]> => {
    const authorization = String(headers.authorization);
    const asked = new URL(url, place.sandbox.url);
    const get = async (page: string | null): Promise<[number, Page]> => {
      if (page !== null) asked.searchParams.set('page', page);
      const answer = await fetch(asked, { headers: { authorization } });
      return [answer.status, (await answer.json()) as Page];
    };
    const [status, body] = await get(null);
    const odd = asked.pathname.endsWith('/submissions') ? oddity() : null;
    if (odd === null || status !== 200) return [status, body];
    const page = Number(asked.searchParams.get('page') ?? 1);
    const pages = Number(body.totalPages);
    const shown = page > pages && pages > 0 ? odd.pastEnd(page, pages) : page;
    if (shown !== page) body.items = (await get(String(shown)))[1].items;
    odd.change(body);
    return [status, body];
  };
  const server = await OddServer.start((request, response) => {
    if (server.requests.length > 3 * MOST_REQUESTS) return sendJson(response, {}, 401);
    void forward(request).then(([status, body]) => sendJson(response, body, status));
  });
  return server;
}

const PAST_END: Record<string, Oddity['pastEnd']> = {
  nothing: (page) => page,
  'the last page': (_page, pages) => pages,
  'the first page': () => 1,
  'its pages again': (page, pages) => ((page - 1) % pages) + 1,
};

/** Beyond what JSON writes: `1e308` is a number, and no safe one. */
const NUMBERS = [1e15, 1e308, -1, 0.5, '12', null];
const DATES = [
  '+275760-09-13T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
  '0001-01-01T00:00:00.000Z',
];

const oddities: [string, Oddity['change']][] = [
  ...NUMBERS.map((number): [string, Oddity['change']] => [
    `total: ${JSON.stringify(number)}`,
    (page) => void (page.total = number),
  ]),
  ...NUMBERS.map((number): [string, Oddity['change']] => [
    `totalPages: ${JSON.stringify(number)}`,
    (page) => void (page.totalPages = number),
  ]),
  [
    'both',
    (page) => {
      page.total = 1e15;
      page.totalPages = 1e13;
    },
  ],
  [
    'absurd dates',
    (page) => {
      for (const [at, item] of page.items.entries()) {
        if (at % 4 < DATES.length) item['createdAt'] = DATES[at % 4];
      }
    },
  ],
  [
    'absurd dates, and a total for which the form is cut into windows',
    (page) => {
      page.total = 1_000_000;
      for (const item of page.items) item['createdAt'] = DATES[1];
    },
  ],
];

describe('L14: a run and a poll end, as success or with the reason', () => {
  it.each(
    oddities.flatMap(([name, change]) =>
      Object.entries(PAST_END)
        // The others only matter where pages after the last one are asked for.
        .filter(([past]) => past === 'nothing' || /1000000|1e|both|"12"/.test(name))
        .map(([past, pastEnd]) => [name, past, { change, pastEnd }] as const),
    ),
  )('%s, and after the last page %s', async (_name, _past, oddity) => {
    const place = await LookPlace.open({ forms: 1, each: 250 });
    const { signal } = new AbortController();
    for (const isKnown of [false, true]) {
      let odd: Oddity | null = null;
      await using source = await oddSource(place, () => odd);
      const target = isKnown ? 'known' : 'first';
      const env = { FORMS_API_URL: source.url, TARGET_URL: place.url(target) };
      await using app = place.process(env, new TestClock(Date.UTC(2026, 5, 1)));
      const full = { formId: 'f0', target: 'default', kind: 'full' } as const;
      // Of a form that is mirrored already, and of one that is not.
      if (isKnown) await app.pass(full, signal);
      odd = oddity;
      const incremental = { ...full, kind: 'incremental', compareCounts: true } as const;
      for (const work of ['full', 'incremental', 'poll']) {
        const before = source.requests.length;
        const reports =
          work === 'poll'
            ? (await place.tickOf(app)).passes
            : [await app.pass(work === 'full' ? full : incremental, signal)];
        for (const { outcome, code, error } of reports) {
          expect(['ok', 'incomplete', 'failed']).toContain(outcome);
          expect(outcome === 'ok').toBe(code === null);
          expect(outcome === 'ok' || error !== null).toBe(true);
          expect(code).not.toBe('FORMS_UNAUTHORIZED');
        }
        expect(source.requests.length - before).toBeLessThan(MOST_REQUESTS);
      }
    }
  });
});

describe('L14: cutting a form into windows', () => {
  const DAY_MS = 24 * 60 * 60_000;
  const newest = '9999-12-31T00:00:00.000Z';
  const cut = async (total: number, countOf: (days: number) => number): Promise<number> => {
    let asked = 0;
    await cutWindows({
      from: null,
      total,
      newest,
      likely: ['0001-01-01T00:00:00.000Z', newest],
      aim: 20_000,
      isShared: false,
      count: async ({ to }) => {
        asked++;
        return countOf(Date.parse(to ?? newest) / DAY_MS + 30_000);
      },
    });
    return asked;
  };

  it('takes few questions, whatever the total', async () => {
    expect(await cut(1e15, () => 1e15)).toBeLessThan(200);
    expect(await cut(1e15, () => 250)).toBeLessThan(200);
  });

  it('stops asking where every day seems to have too many', async () => {
    expect(await cut(3e15, (days) => Math.max(0, days) * 1e9)).toBeLessThan(12_000);
  });
});
