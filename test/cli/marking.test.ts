import { describe, expect, it } from 'vitest';
import { runCli, syncDocument } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const MARK = { MARK_STATUS: 'DONE' };
const EVERYTHING = { times: Number.POSITIVE_INFINITY };

describe('L7: status changes that write-back could not make', () => {
  it('L17: each surface reports a success that changes nothing in words, and counts nothing as written', async () => {
    const { env, sandbox } = await openPlace({ submissions: 30 });
    const form = sandbox.store.formBySlug('customer-feedback');
    for (const { id } of [...sandbox.store.all(form?.id ?? '')].slice(3)) {
      sandbox.store.setStatus(id, 'PAID');
    }
    for (const { id } of [...sandbox.store.all(form?.id ?? '')].slice(0, 3)) {
      sandbox.store.setStatus(id, 'NEW');
    }
    sandbox.faults.add({ method: 'PATCH', status: 200, body: '', ...EVERYTHING });
    const args = ['sync', '--form', 'customer-feedback'];
    const first = await runCli([...args, '--json'], { ...env, ...MARK });
    expect(first.code).toBe(1);
    const { writeBacks: marks } = syncDocument(first);
    expect(marks).toMatchObject([{ outcome: 'failed', written: 0, refused: 3, failed: 0 }]);
    const words = /the source answered PATCH \S+ with success and did not change the status/;
    expect(marks[0]?.error).toMatch(words);
    const told = await runCli(['status'], { ...env, ...MARK });
    expect(told.stdout).toContain('Status changes failed');
    expect(told.stdout).toMatch(words);
    const second = await runCli(args, { ...env, ...MARK });
    expect(second.code).toBe(0);
    const later = await runCli(['status'], { ...env, ...MARK });
    expect(later.stdout).toContain('WRITE_BACK_REFUSED');
    expect(later.stdout).toContain('answered with success and did not change the status');
    const explained = await runCli(['explain', sandbox.store.ids(form?.id ?? '')[0] ?? ''], {
      ...env,
      ...MARK,
    });
    expect(explained.stdout).toMatch(words);
  });

  it('are not tried where the source shows no status by ID: it is not known, and the stored one stays', async () => {
    const { env, sandbox } = await openPlace({ submissions: 30 });
    const { id: formId } = sandbox.store.formBySlug('customer-feedback')!;
    const [first, ...others] = sandbox.store.all(formId);
    const { id, createdAt, data } = first!;
    for (const other of others) sandbox.store.setStatus(other.id, 'PAID');
    sandbox.store.setStatus(id, 'NEW');
    const body = JSON.stringify({ id, formId, createdAt, data });
    sandbox.faults.add({ path: `/submissions/${id}`, status: 200, body, ...EVERYTHING });
    await runCli(['sync', '--form', 'customer-feedback'], { ...env, ...MARK });
    expect(sandbox.requests.filter(({ method }) => method === 'PATCH')).toEqual([]);
    const { stdout } = await runCli(['export', 'customer-feedback', '--format', 'jsonl'], env);
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(rows).toContainEqual(expect.objectContaining({ id, status: 'NEW' }));
  });

  it('ends after a batch in which nothing was written, instead of repeating it for thousands of submissions', async () => {
    const { env, sandbox } = await openPlace({ submissions: 1_200 });
    const form = sandbox.store.formBySlug('customer-feedback');
    for (const { id } of [...sandbox.store.all(form?.id ?? '')].slice(0, 300))
      sandbox.store.setStatus(id, 'NEW');
    sandbox.faults.add({ method: 'PATCH', status: 403, after: 5, ...EVERYTHING });
    const args = ['sync', '--json', '--form', 'customer-feedback'];
    const { writeBacks } = syncDocument(await runCli(args, { ...env, ...MARK }));
    expect(writeBacks[0]).toMatchObject({ outcome: 'failed', written: 5 });
    const patches = sandbox.requests.filter(({ method }) => method === 'PATCH').length;
    expect(patches).toBeLessThan(150);
  });

  it('L6: submissions that the source refuses delay no others: they are skipped for a day', async () => {
    const { env, sandbox } = await openPlace({ submissions: 90 });
    const form = sandbox.store.formBySlug('customer-feedback');
    const ids = sandbox.store.ids(form?.id ?? '').toSorted();
    for (const id of ids) sandbox.store.setStatus(id, 'NEW');
    for (const id of ids.slice(0, 15))
      sandbox.faults.add({
        method: 'PATCH',
        path: `/submissions/${id}/status`,
        status: 409,
        ...EVERYTHING,
      });
    const args = ['sync', '--json', '--form', 'customer-feedback'];
    for (let run = 0; run < 3; run++) await runCli(args, { ...env, ...MARK });
    const all = sandbox.store.all(form?.id ?? '').map(({ status }) => status);
    expect(all.filter((status) => status === 'NEW')).toHaveLength(15);
  });
});
