import { describe, expect, it } from 'vitest';
import { expectEnd, runIn, syncDocument } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const ALWAYS = { times: Number.POSITIVE_INFINITY };
const SYNC = 'sync --form customer-feedback';

/** A mirror that writes back, over a form with so many submissions in NEW; its others are in PAID. */
async function open(submissions: number, many: number) {
  const { env, sandbox } = await openPlace({ submissions });
  const { store } = sandbox;
  const { id: formId } = store.formBySlug('customer-feedback')!;
  const ids = store.ids(formId).toSorted();
  for (const [at, id] of ids.entries()) store.setStatus(id, at < many ? 'NEW' : 'PAID');
  const run = runIn({ ...env, MARK_STATUS: 'DONE' });
  const patches = () => sandbox.requests.filter(({ method }) => method === 'PATCH').length;
  return { run, sandbox, store, formId, ids, patches };
}

describe('L7: status changes that write-back could not make', () => {
  it('L17: each surface reports a success that changes nothing in words, and counts nothing as written', async () => {
    const { run, sandbox, ids } = await open(30, 3);
    sandbox.faults.add({ method: 'PATCH', status: 200, body: '', ...ALWAYS });
    const { writeBacks: marks } = syncDocument(await expectEnd(run(`${SYNC} --json`), 1));
    expect(marks).toMatchObject([{ outcome: 'failed', written: 0, refused: 3, failed: 0 }]);
    const words = /the source answered PATCH \S+ with success and did not change the status/;
    expect(marks[0]?.error).toMatch(words);
    await expectEnd(run('status'), 1, 'Status changes failed', words);
    await expectEnd(run(SYNC), 0);
    const later = await run('status');
    expect(later.stdout).toContain('WRITE_BACK_REFUSED');
    expect(later.stdout).toContain('answered with success and did not change the status');
    expect((await run(`explain ${ids[0]}`)).stdout).toMatch(words);
  });

  it('are not tried where the source shows no status by ID: it is not known, and the stored one stays', async () => {
    const { run, sandbox, store, formId, ids, patches } = await open(30, 1);
    const [id = ''] = ids;
    const { createdAt, data } = store.get(id)!;
    const body = JSON.stringify({ id, formId, createdAt, data });
    sandbox.faults.add({ path: `/submissions/${id}`, status: 200, body, ...ALWAYS });
    await run(SYNC);
    expect(patches()).toBe(0);
    const { stdout } = await run('export customer-feedback --format jsonl');
    const rows = stdout.trim().split('\n');
    expect(rows.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ id, status: 'NEW' }),
    );
  });

  it('ends after a batch in which nothing was written, instead of repeating it for thousands of submissions', async () => {
    const { run, sandbox, patches } = await open(1_200, 300);
    sandbox.faults.add({ method: 'PATCH', status: 403, after: 5, ...ALWAYS });
    const { writeBacks } = syncDocument(await run(`${SYNC} --json`));
    expect(writeBacks[0]).toMatchObject({ outcome: 'failed', written: 5 });
    expect(patches()).toBeLessThan(150);
  });

  it('L6: submissions that the source refuses delay no others: they are skipped for a day', async () => {
    const { run, sandbox, store, formId, ids } = await open(90, 90);
    for (const id of ids.slice(0, 15)) {
      const path = `/submissions/${id}/status`;
      sandbox.faults.add({ method: 'PATCH', path, status: 409, ...ALWAYS });
    }
    for (let times = 0; times < 3; times++) await run(SYNC);
    const all = store.all(formId).map(({ status }) => status);
    expect(all.filter((status) => status === 'NEW')).toHaveLength(15);
  });
});
