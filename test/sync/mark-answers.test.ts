import { describe, expect, it } from 'vitest';
import { SourceWaits } from '../../src/health/source-waits.ts';
import { FORM, SyncPlace } from '../support/sync-place.ts';

const EVERY = { times: Number.POSITIVE_INFINITY };

const openSynced = async (submissions: number): Promise<SyncPlace> => {
  const place = await SyncPlace.open({ submissions });
  expect((await place.pass('full')).outcome).toBe('ok');
  return place;
};

const rowStatuses = (place: SyncPlace): Map<string, string> =>
  new Map([...place.view().rows(FORM).values()].map((row) => [row.id, row.status]));

const shown = (id: string, status?: string) => ({
  id,
  formId: FORM,
  createdAt: '2026-01-01T00:00:00.000Z',
  data: {},
  ...(status === undefined ? {} : { status }),
});

describe('L7: a PATCH answered 200 whose body says otherwise', () => {
  const bodies: { what: string; body: (id: string) => unknown }[] = [
    { what: 'an error', body: () => ({ error: 'not allowed' }) },
    { what: 'errors', body: () => ({ errors: ['not allowed'] }) },
    {
      what: 'an error beside the wanted status',
      body: (id) => ({ ...shown(id, 'DONE'), error: 1 }),
    },
    { what: 'success: false', body: (id) => ({ ...shown(id, 'DONE'), success: false }) },
    { what: 'the status of an error', body: () => ({ statusCode: 500 }) },
    { what: 'the submission as it was', body: (id) => shown(id, 'NEW') },
    { what: 'the submission as it was, wrapped', body: (id) => ({ data: shown(id, 'NEW') }) },
  ];

  it.each(bodies)('$what, and nothing changed: a failure, again and again', async ({ body }) => {
    const place = await openSynced(3);
    for (const id of place.store.ids(FORM)) {
      const answer = { status: 200, body: JSON.stringify(body(id)) };
      place.sandbox.faults.add({
        method: 'PATCH',
        path: `/submissions/${id}`,
        ...answer,
        ...EVERY,
      });
    }
    for (let run = 0; run < 2; run++) {
      const report = await place.tryMark();
      expect(report).toMatchObject({ outcome: 'failed', marked: 0, failed: 3, remembered: 0 });
      expect(report.failure?.message).toMatch(
        /answered 200 with (an error|the submission in|"(success|statusCode)")/,
      );
      expect(report.failure?.message).not.toContain('not allowed');
      expect(new Set(rowStatuses(place).values())).toEqual(new Set(['NEW']));
    }
    place.sandbox.faults.clear();
    expect(await place.mark()).toMatchObject({ outcome: 'done', marked: 3 });
  });

  it('the submission as it was, but the change was made: marked', async () => {
    const place = await openSynced(3);
    for (const id of place.store.ids(FORM)) {
      const answer = { status: 200, body: JSON.stringify(shown(id, 'NEW')), applied: true };
      place.sandbox.faults.add({
        method: 'PATCH',
        path: `/submissions/${id}`,
        ...answer,
        ...EVERY,
      });
    }
    expect(await place.mark()).toMatchObject({ marked: 3, failed: 0 });
    expect(new Set(rowStatuses(place).values())).toEqual(new Set(['DONE']));
    expect(place.requests('PATCH', /^\/submissions\//)).toBe(3);
  });

  it("a colleague's status, set in that moment: adopted", async () => {
    const place = await openSynced(1);
    const [id] = place.store.ids(FORM);
    const answer = { status: 200, body: JSON.stringify(shown(id!, 'PAID')) };
    place.sandbox.faults.add({ method: 'PATCH', ...answer, ...EVERY });
    place.onRequest = ({ method }) => {
      if (method === 'PATCH') place.store.setStatus(id!, 'PAID');
    };
    expect(await place.mark()).toMatchObject({ marked: 0, adopted: 1, failed: 0 });
    expect(rowStatuses(place).get(id!)).toBe('PAID');
  });

  it.each([
    '',
    'OK',
    '[]',
    '{"error":null}',
    '{"id":"another","status":"NEW"}',
    '{"success":true}',
  ])('a body that says nothing of it (%j) is a success', async (body) => {
    const place = await openSynced(2);
    const answer = { status: 200, body, applied: true };
    place.sandbox.faults.add({ method: 'PATCH', ...answer, ...EVERY });
    expect(await place.mark()).toMatchObject({ marked: 2, failed: 0 });
  });
});

describe('L7: a GET that shows no usable status', () => {
  it.each([undefined, null, '', 7])(
    'as %j: it is listed, and the row keeps its own',
    async (odd) => {
      const place = await openSynced(5);
      const id = place.store.ids(FORM)[2]!;
      const body = JSON.stringify({ data: { ...shown(id), status: odd } });
      place.sandbox.faults.add({
        method: 'GET',
        path: `/submissions/${id}`,
        status: 200,
        body,
        ...EVERY,
      });
      const report = await place.tryMark();
      expect(report).toMatchObject({ outcome: 'partial', marked: 4, adopted: 0, failed: 1 });
      expect(report.unmarked).toEqual([
        { submissionId: id, reason: expect.stringContaining('without a usable status') },
      ]);
      expect(rowStatuses(place).get(id)).toBe('NEW');
      place.sandbox.faults.clear();
      expect(await place.mark()).toMatchObject({ outcome: 'done', marked: 1 });
    },
  );
});

describe('L17: a PATCH that is tried again', () => {
  it.each([1, 100])('%d times: waiting on the source ends with it', async (times) => {
    const place = await openSynced(1);
    place.sandbox.faults.add({ method: 'PATCH', status: 503, times });
    let waits: SourceWaits | undefined;
    let waited = false;
    place.onEvents = (events) => {
      waits = new SourceWaits(events, place.clock);
      events.on('forms.retry', () => (waited ||= waits?.current !== null));
    };
    const report = await place.tryMark();
    expect([report.marked, report.failed]).toEqual(times === 1 ? [1, 0] : [0, 1]);
    expect([waited, waits?.current]).toEqual([true, null]);
  });
});
