import { describe, expect, it } from 'vitest';
import { FIELD, FORM, SyncPlace } from '../support/sync-place.ts';

const EMPTY = { items: [], total: 0, page: 1, limit: 100, totalPages: 0 };
const REFUSED = { ...EMPTY, error: 'try later' };

/** From now on every list comes empty with status 200 and an error beside it; returns how to end that. */
const failLists = (place: SyncPlace, body: object = REFUSED): (() => void) =>
  place.sandbox.faults.add({
    path: /^\/submissions$/,
    status: 200,
    body: JSON.stringify(body),
    times: Infinity,
  });

describe('a 200 with an error beside an empty list', () => {
  it.each(['full', 'incremental'] as const)(
    'L17: is no proof that a form is empty, in a %s first pass',
    async (kind) => {
      const place = await SyncPlace.open({ submissions: 30 });
      const mend = failLists(place);
      const report = await place.pass(kind);
      expect([report.outcome, report.code]).toEqual(['failed', 'FORMS_FAILED']);
      mend();
      expect((await place.pass(kind)).outcome).toBe('ok');
      expect(place.liveIds()).toEqual(place.sourceIds());
    },
  );

  it.each(['full', 'incremental'] as const)(
    'L17: changes nothing in a full mirror, in a %s pass',
    async (kind) => {
      const place = await SyncPlace.open({ submissions: 30 });
      await place.pass('full');
      failLists(place);
      const report = await place.pass(kind);
      expect([report.outcome, report.code, report.withheld]).toEqual(['failed', 'FORMS_FAILED', 0]);
      expect(place.liveIds()).toEqual(place.sourceIds());
    },
  );

  it.each([{ success: false }, { status: 'error' }, { statusCode: 500 }])(
    'L17: or with %j beside it changes nothing in a full mirror either',
    async (told) => {
      const place = await SyncPlace.open({ submissions: 30 });
      await place.pass('full');
      failLists(place, { ...EMPTY, ...told });
      for (const kind of ['full', 'incremental'] as const) {
        const report = await place.pass(kind);
        expect([report.outcome, report.code]).toEqual(['failed', 'FORMS_FAILED']);
      }
      expect(place.liveIds()).toEqual(place.sourceIds());
    },
  );

  it('that passes by itself is only tried again', async () => {
    const place = await SyncPlace.open({ submissions: 130 });
    const body = JSON.stringify(REFUSED);
    place.sandbox.faults.add({ path: '/submissions', query: { page: '2' }, status: 200, body });
    expect((await place.pass('full')).outcome).toBe('ok');
    expect(place.liveIds()).toEqual(place.sourceIds());
  });
});

describe('an answer nested 20,000 deep', () => {
  it('L6, L10: is listed itself, and no other answer of its page is touched', async () => {
    const place = await SyncPlace.open();
    const digits = '12345678901234567890';
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    const answered = [digits, `{"a":[${digits}]}`, deep];
    const [number, inside, nested] = place.submitMany(3);
    const items = [number, inside, nested].map(
      (id, at) =>
        `{"id":"${id}","formId":"${FORM}","status":"NEW","createdAt":"2026-03-01T08:00:0${at}Z",` +
        `"data":{"${FIELD}":${answered[at]}}}`,
    );
    place.sandbox.faults.add({
      path: /^\/submissions$/,
      status: 200,
      body: `{"items":[${items.join()}],"total":3,"page":1,"limit":100,"totalPages":1}`,
      times: Infinity,
    });
    const report = await place.pass('full');
    expect([report.outcome, report.rejected]).toEqual(['ok', 1]);
    const column = place.view().columns(FORM).get(FIELD) ?? '';
    const rows = place.view().rows(FORM);
    const answers = [number, inside, nested].map((id) => rows.get(id ?? '')?.[column]);
    expect(answers).toEqual([digits, `{"a":[${digits}]}`, '[nested too deeply]']);
    expect(place.view().rejected(FORM)).toEqual(new Set([nested]));
  });
});
