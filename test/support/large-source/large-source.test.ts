import { describe, expect, it } from 'vitest';
import { LargeSource } from './large-source.ts';

interface Envelope {
  readonly items: readonly { readonly id: string; readonly status: string }[];
  readonly total: number;
  readonly totalPages: number;
}

describe('a large source', () => {
  it('speaks as the specification says, and keeps what it was asked', async () => {
    await using source = await LargeSource.start({ forms: 2, submissions: 250 });
    const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${source.env['FORMS_API_URL']}${path}`, {
        ...init,
        headers: { 'x-api-key': source.env['FORMS_API_KEY'] ?? '' },
      });
    const list = async (query: string): Promise<Envelope> =>
      (await (await ask(`/submissions?${query}`)).json()) as Envelope;
    const pages = await Promise.all(
      [1, 2].map((page) => list(`formId=frm-1&limit=100&page=${page}`)),
    );
    expect(pages.map(({ items, total, totalPages }) => [items.length, total, totalPages])).toEqual([
      [100, 125, 2],
      [25, 125, 2],
    ]);
    const [id = ''] = await source.ids({ formId: 'frm-1' }, 7, 1);
    const done = { method: 'PATCH', body: JSON.stringify({ status: 'DONE' }) };
    expect((await ask(`/submissions/${id}/status`, done)).status).toBe(200);
    expect((await list('status=DONE&limit=100')).items).toContainEqual(
      expect.objectContaining({ id, status: 'DONE' }),
    );
    await source.remove([id]);
    const answers = await Promise.all(
      [`/submissions/${id}`, '/forms/frm-3', '/submissions?status=OLD', '/forms/frm-2'].map(
        async (path) => (await ask(path)).status,
      ),
    );
    expect(answers).toEqual([404, 404, 400, 200]);
    expect((await fetch(`${source.env['FORMS_API_URL']}/forms`)).status).toBe(401);
    const log = await source.takeLog();
    expect(log).toHaveLength(8);
    expect(log.filter(({ status }) => status === 404)).toHaveLength(2);
    expect(await source.takeLog()).toEqual([]);
  });

  it('holds lists back until they are let go', async () => {
    await using source = await LargeSource.start({ forms: 1, submissions: 10 });
    const headers = { 'x-api-key': source.env['FORMS_API_KEY'] ?? '' };
    const ask = () => fetch(`${source.env['FORMS_API_URL']}/submissions`, { headers });
    await source.holdAfter(1);
    await ask();
    const held = ask();
    await source.untilHeld();
    expect((await source.takeLog()).map(({ status }) => status)).toEqual([200, 0]);
    await source.letGo();
    expect((await held).status).toBe(200);
  });
});
