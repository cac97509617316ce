import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { MAX_FORM_FIELDS, MAX_UNLISTED_FIELDS } from '../../src/mirror/unlisted-fields.ts';
import { OddServer } from '../support/odd-server.ts';
import { errorOf, makeClient } from '../forms/make-client.ts';
import { FIELD, FORM, SyncPlace } from '../support/sync-place.ts';

const item = (id: string, data: string): string =>
  `{"id":"${id}","formId":"${FORM}","status":"NEW","createdAt":"2026-03-01T08:00:00Z","data":${data}}`;

const answers = (count: number, prefix = 'x'): string =>
  `{"${FIELD}":"kept",${Array.from({ length: count }, (_, at) => `"${prefix}${at}":"v"`).join()}}`;

const listOf = (...items: string[]): string =>
  `{"items":[${items.join()}],"total":${items.length},"page":1,"limit":100,"totalPages":1}`;

/** A place whose list is this text, from now on. */
async function placeWith(body: string): Promise<SyncPlace> {
  const place = await SyncPlace.open({ submissions: 1 });
  place.sandbox.faults.add({ path: /^\/submissions$/, status: 200, body, times: Infinity });
  return place;
}

/** Of each row the answer to the one field of the form. */
const namesOf = (place: SyncPlace): Record<string, unknown> => {
  const column = place.view().columns(FORM).get(FIELD) ?? '';
  const rows = [...place.view().rows(FORM).values()];
  return Object.fromEntries(rows.map((row) => [row.id, row[column]]));
};

describe('a submission without bounds', () => {
  it.each([3_000, 300_000])(
    'L6, L14: of %i answers to unknown fields is stored and listed, and makes a bounded number of columns',
    async (count) => {
      const place = await placeWith(
        listOf(item('a', answers(count)), item('b', `{"${FIELD}":"other"}`)),
      );
      const report = await place.pass('full');
      expect(report).toMatchObject({ outcome: 'ok', rejected: 1, requests: 3 });
      expect(namesOf(place)).toEqual({ a: 'kept', b: 'other' });
      expect(place.view().rejected(FORM)).toEqual(new Set(['a']));
      expect(place.view().columns(FORM).size).toBe(MAX_UNLISTED_FIELDS + 1);
      // Neither does a later one, under other names, bring more.
      place.sandbox.faults.clear();
      const body = listOf(item('a', answers(5)), item('c', answers(50, 'y')));
      place.sandbox.faults.add({ path: /^\/submissions$/, status: 200, body, times: Infinity });
      const again = await place.pass('full');
      expect(again).toMatchObject({ outcome: 'ok', rejected: 1 });
      expect(place.view().rejected(FORM)).toEqual(new Set(['c']));
      expect(place.view().columns(FORM).size).toBe(MAX_UNLISTED_FIELDS + 1);
    },
    60_000,
  );

  it('L6: with a field ID too long for a key is stored without that answer, and listed', async () => {
    const place = await placeWith(
      listOf(item('a', `{"${FIELD}":"kept","${'x'.repeat(5_000)}":1,"y":2}`)),
    );
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', rejected: 1 });
    expect([...place.view().columns(FORM).keys()]).toEqual([FIELD, 'y']);
  });

  it('L6, L14: of values without end is listed, it alone', async () => {
    const wide = `[${'{},'.repeat(1_000_000)}{}]`;
    const place = await placeWith(
      listOf(item('a', `{"${FIELD}":${wide}}`), item('b', `{"${FIELD}":"other"}`), wide),
    );
    const report = await place.pass('full');
    expect([report.outcome, report.rejected]).toEqual(['ok', 2]);
    expect(namesOf(place)).toEqual({ a: '[too large]', b: 'other' });
  });
});

describe('a form without bounds', () => {
  it('L12: fails by itself, with what to do, and writes nothing', async () => {
    const place = await SyncPlace.open({ submissions: 1 });
    const fields = Array.from({ length: MAX_FORM_FIELDS + 1 }, (_, at) => `{"id":"f${at}"}`);
    place.sandbox.faults.add({
      path: `/forms/${FORM}`,
      status: 200,
      body: `{"id":"${FORM}","name":"Contact","schema":{"sections":[{"fields":[${fields.join()}]}]}}`,
      times: Infinity,
    });
    const report = await place.pass('full');
    expect(report).toMatchObject({ outcome: 'failed', code: 'FORMS_NOT_JSON' });
    expect(report.failure?.message).toMatch(
      /"Contact" \(form-1\) has 5,001 picked fields.*Pick in TARGET_FIELDS/,
    );
    expect(report.failure?.retryable).toBe(false);
  });
});

describe('a page without bounds', () => {
  const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const pages: [string, () => Buffer | string, RegExp][] = [
    [
      'nested a million deep',
      () => listOf(item('a', `{"${FIELD}":${deep(1e6)}}`)),
      /nested deeper/,
    ],
    ['that only opens', () => '['.repeat(1e6), /nested deeper/],
    [
      'of a million items',
      () => `{"items":[${'1,'.repeat(999_999)}1],"total":1000000}`,
      /1,000,000 items/,
    ],
    ['of 65 MiB', () => ' '.repeat(65 * 1024 * 1024), /larger than 64 MiB/],
    [
      'that unpacks to 65 MiB',
      () => gzipSync(Buffer.alloc(65 * 1024 * 1024, 32), { level: 1 }),
      /larger than 64 MiB/,
    ],
  ];

  it.each(pages)('L14: %s is refused at once, and not asked for again', async (_, make, words) => {
    const body = make();
    await using server = await OddServer.start((_request, response) => {
      const packed = typeof body === 'string' ? {} : { 'content-encoding': 'gzip' };
      response.writeHead(200, packed).end(body);
    });
    const error = await errorOf(makeClient(server.url).listSubmissions({ formId: FORM, page: 1 }));
    expect(error).toMatchObject({ code: 'FORMS_NOT_JSON', retryable: false });
    expect(error.message).toMatch(words);
    expect(server.requests).toHaveLength(1);
  });

  it('L14: an error with such a body counts by its status, and is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024, 32), { level: 9 });
    await using server = await OddServer.start((_request, response) => {
      response.writeHead(404, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const error = await errorOf(makeClient(server.url).getForm(FORM));
    expect(error).toMatchObject({ code: 'FORMS_NOT_FOUND' });
  });
});
