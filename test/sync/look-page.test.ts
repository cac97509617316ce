import { describe, expect, it } from 'vitest';
import type { Submission } from '../../src/mirror/types.ts';
import {
  asOnePage,
  foreignPage,
  foreignSince,
  type NewestPage,
  pagesWorth,
} from '../../src/sync/look-page.ts';

const PLANNED = new Set(['mine']);

/** A submission of a form that is not mirrored, dated so many minutes after some hour. */
const foreign = (minute: number, id = `z${minute}`): Submission => ({
  id,
  formId: 'theirs',
  status: 'NEW',
  createdAt: new Date(Date.UTC(2026, 2, 1, 8, minute)).toISOString(),
  data: new Map(),
});

const mine = (minute: number): Submission => ({ ...foreign(minute, `m${minute}`), formId: 'mine' });

/** The submissions of these minutes, all of them foreign. */
const minutes = (...list: number[]): Submission[] => list.map((minute) => foreign(minute));

/** Pages of eight. */
const pageOf = (submissions: readonly Submission[], total = 20): NewestPage => ({
  items: submissions.map((submission) => ({ key: submission.id, submission, defects: [] })),
  total,
  limit: 8,
});

const BEFORE = minutes(30, 28, 26, 24, 22, 20, 18, 16);

/** What is taken for new on a page after one that showed `before`. */
const since = (now: NewestPage, before = pageOf(BEFORE)): string[] =>
  foreignSince(now, PLANNED, foreignPage(before, PLANNED)).map(({ id }) => id);

describe('the newest page, compared with an earlier one', () => {
  it('L16: tells newcomers of forms that are not mirrored, whatever they are dated', () => {
    const now = [foreign(900), ...minutes(30, 28, 26, 25, 24, 22, 20)];
    expect(since(pageOf(now))).toEqual(['z900', 'z25']);
    expect(since(pageOf([mine(31), ...BEFORE.slice(0, 7)]))).toEqual([]);
  });

  it('L16: takes none for new that the earlier one has shown, though dated after any clock', () => {
    const ahead = [foreign(900), ...BEFORE.slice(0, 7)];
    expect(since(pageOf(ahead), pageOf(ahead))).toEqual([]);
    expect(since(pageOf([foreign(901), ...ahead.slice(0, 7)]), pageOf(ahead))).toEqual(['z901']);
  });

  it('L16: reads dates without a zone as it did before', () => {
    const local = (submissions: readonly Submission[]): Submission[] =>
      submissions.map((each) => ({ ...each, createdAt: each.createdAt.slice(0, -1) }));
    const now = local([foreign(31), ...BEFORE.slice(0, 7)]);
    expect(since(pageOf(now), pageOf(local(BEFORE)))).toEqual(['z31']);
    expect(since(pageOf(local(BEFORE)), pageOf(local(BEFORE)))).toEqual([]);
  });

  it('L16: is not certain of one as old as the oldest, or older', () => {
    const tied = [...minutes(30, 28, 26, 24, 22, 20, 18), foreign(16, 'tied')];
    expect(since(pageOf(tied))).toEqual([]);
    expect(since(pageOf(minutes(30, 28, 26, 24, 22, 20, 16, 15)))).toEqual([]);
  });

  it('L16: which showed all there was, takes every other one for new', () => {
    // Exactly full; in whatever order.
    const all = pageOf(minutes(3, 9, 1, 8, 2, 7, 4, 6), 8);
    expect(foreignPage(all, PLANNED)?.oldest).toBeNull();
    expect(since(pageOf(minutes(9, 8, 7, 6, 4, 3, 2, 0), 9), all)).toEqual(['z0']);
    expect(since(pageOf([foreign(5)], 1), pageOf([], 0))).toEqual(['z5']);
  });

  it.each([
    ['is not in the order of dates', pageOf(minutes(30, 28, 26, 24, 22, 20, 16, 18))],
    ['begins with the oldest', pageOf(minutes(16, 18, 20, 22, 24, 26, 28, 30))],
    ['shows too few dates to tell', pageOf(minutes(30, 30, 28, 26, 24, 22, 22, 22).map(named))],
    ['has one without a date', pageOf([...BEFORE.slice(1), { ...foreign(9), createdAt: '' }])],
    ['shows one twice', pageOf([...BEFORE.slice(0, 7), ...BEFORE.slice(6, 7)])],
    ['shows fewer than it should', pageOf(BEFORE.slice(0, 7))],
    ['has one without an ID', withoutId(pageOf(BEFORE))],
  ])('L16: tells nothing where either %s', (_, page) => {
    expect(foreignPage(page, PLANNED)).toBeNull();
    const known = { digests: new Set<string>(), oldest: foreign(1).createdAt };
    expect(foreignSince(page, PLANNED, known)).toEqual([]);
    expect(foreignSince(pageOf(BEFORE), PLANNED, null)).toEqual([]);
  });

  it('L16: names nobody', () => {
    const known = foreignPage(pageOf([mine(31), ...BEFORE.slice(0, 7)]), PLANNED);
    expect([...(known?.digests ?? [])].join('')).toMatch(/^[\w-]{42}$/);
    expect(JSON.stringify([...(known?.digests ?? [])])).not.toContain('z30');
  });
});

function named(submission: Submission, at: number): Submission {
  return { ...submission, id: `${submission.id}-${at}` };
}

function withoutId(page: NewestPage): NewestPage {
  const [first, ...rest] = page.items;
  return { ...page, items: [{ ...first!, submission: null }, ...rest] };
}

describe('reading on', () => {
  it('takes pages for one, each submission once', () => {
    const [first, second] = [pageOf(minutes(9, 8, 7)), pageOf(minutes(7, 6, 5))];
    const one = asOnePage([first, second]);
    expect(one?.items.map(({ key }) => key)).toEqual(['z9', 'z8', 'z7', 'z6', 'z5']);
    expect([one?.limit, one?.total]).toEqual([5, 20]);
    expect([asOnePage([]), asOnePage([first])]).toEqual([null, first]);
  });

  it.each([
    ['as many pages as are full of newcomers', { NEW: 250 }, { perPage: 100, pages: 40 }, 3],
    ['none where the end of the page was known', { NEW: 250 }, { perPage: 0, pages: 400 }, 0],
    ['all there are, where these are few', { NEW: -9, PAID: 9 }, { perPage: 0, pages: 9 }, 8],
    ['none for one change', { NEW: -1, PAID: 1 }, { perPage: 2, pages: 400, forms: 6 }, 0],
    ['none for deletions', { NEW: -50 }, { perPage: 100, pages: 3 }, 0],
    ['no more than a search costs', { NEW: 99_900 }, { perPage: 100, pages: 1_000 }, 0],
    ['none after the last', { NEW: 50 }, { perPage: 100, pages: 1 }, 0],
  ])('reads %s', (_, left, list, pages) => {
    const given = { read: 1, forms: 200, ...list, left: new Map(Object.entries(left)) };
    expect(pagesWorth(given)).toBe(pages);
  });
});
