import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { FormsStore } from '../../src/sandbox/store.ts';
import type { FaultRule } from '../support/faults.ts';
import { ChildPlace } from '../support/child-place.ts';
import { filesBelow, leaksIn, type Places } from '../support/leaks.ts';
import { MirrorView } from '../support/mirror-view.ts';

const SOON = { timeout: 120_000, interval: 200 };
const FORM = 'form-1';
const SELECTED = 'field_1_name';
const HASHED = 'field_2_email';
const UNSELECTED = 'field_3_health';
const SECRETS = {
  'the key of the API': 'fk_PLANTED_key_0123456789',
  'the key of the hashes': 'PLANTED-hash-key-0123456789abcdef',
  'the password of the page': 'PLANTED-admin-password',
  'the address of a webhook': 'PLANTED-hook',
  'the address of a heartbeat': 'PLANTED-heartbeat',
  'the password of a mail server': 'PLANTED-smtp-password',
  'an answer that was not selected': 'PLANTED-answer',
  'an answer that is hashed': 'planted@example.com',
};

function createStore(): FormsStore {
  const store = new FormsStore({ seed: 'secrets' });
  const fields = [
    { id: SELECTED, label: 'Name' },
    { id: HASHED, label: 'E-mail' },
    { id: UNSELECTED, label: 'Health' },
  ];
  store.addForm({ id: FORM, slug: 'visit', name: 'Visit', fields });
  for (let n = 0; n < 350; n++) {
    const data = {
      [SELECTED]: `Žofie ${n}`,
      [HASHED]: `${n}.planted@example.com`,
      [UNSELECTED]: `PLANTED-answer ${n}`,
      // Of deleted fields, which are not selected either.
      [`field_gone_${n % 3}`]: 'PLANTED-answer \0 \ud800',
    };
    store.insert({ formId: FORM, data, createdAt: Date.UTC(2026, 0, 1) + n * 1_000 });
  }
  // A submission that cannot be stored unchanged gets a reason, which must not quote it.
  const odd = store.ids(FORM);
  store.distort(odd[3]!, { createdAt: 'PLANTED-answer' });
  store.distort(odd[4]!, { data: ['PLANTED-answer'] });
  store.distort(odd[5]!, { id: undefined });
  return store;
}

/** Answers that a careless program might repeat. */
const FAULTS: readonly FaultRule[] = [
  { path: '/submissions', query: { page: '2' }, cutBodyAt: 4_321, times: 3 },
  { path: '/submissions', query: { page: '3' }, status: 500, body: 'PLANTED-answer', times: 2 },
  {
    path: '/submissions',
    query: { page: '1' },
    status: 200,
    body: '{"items":"PLANTED-answer","total":"PLANTED-answer"}',
    after: 3,
    times: 2,
  },
  {
    path: '/forms',
    status: 200,
    body: '<html>fk_PLANTED_key_0123456789</html>',
    after: 2,
    times: 2,
  },
  {
    method: 'PATCH',
    status: 409,
    body: JSON.stringify({
      fields: {
        [UNSELECTED]: 'PLANTED-answer is in the way',
        status: 'refused for fk_PLANTED_key_0123456789',
      },
    }),
    times: 4,
  },
];

describe('secrets and unselected answers', { timeout: 240_000 }, () => {
  it('L11, L15: keys, passwords and unselected answers are in no log, table, queue or output', async () => {
    const store = createStore();
    const place = await ChildPlace.open({
      store,
      apiKey: SECRETS['the key of the API'],
      faults: FAULTS,
    });
    place.env = {
      ...place.env,
      TARGET_FIELDS: `${SELECTED},${HASHED}`,
      TARGET_HASH_FIELDS: HASHED,
      HASH_KEY: SECRETS['the key of the hashes'],
      ADMIN_PASSWORD: SECRETS['the password of the page'],
      // At an address without a server: each reports that it cannot be reached.
      ALERT_WEBHOOK_URL: `http://127.0.0.1:1/${SECRETS['the address of a webhook']}`,
      HEARTBEAT_URL: `http://127.0.0.1:1/${SECRETS['the address of a heartbeat']}`,
      ALERT_SMTP_URL: `smtp://ann:${SECRETS['the password of a mail server']}@127.0.0.1:1`,
      ALERT_EMAIL_TO: 'ops@example.com',
      ALERT_EMAIL_FROM: 'mirror@example.com',
      MARK_STATUS: 'DONE',
      SYNC_EVERY: '1s',
      RECONCILE_EVERY: '2s',
      LOG_LEVEL: 'trace',
    };
    const view = new MirrorView(place.targetUrl);
    const start = place.start(['start']);
    await vi.waitFor(async () => {
      const due = place.sandbox.faults.tally().filter(({ rule, hit }) => hit < (rule.times ?? 1));
      expect(due).toEqual([]);
      const refusals = await view.ask(`SELECT * FROM _mirror_entries WHERE kind = 'refused'`);
      const runs = await view.ask('SELECT * FROM mirror_runs WHERE is_whole = 1');
      expect([refusals.length, runs.length]).toEqual([4, expect.toSatisfy((n) => n > 2)]);
    }, SOON);
    // While it runs: jobs are in the queue, and its files are open.
    expect(leaksIn(filesBelow(place.folder), SECRETS)).toEqual([]);
    // The search finds what a job does contain: the form's ID.
    expect(leaksIn(filesBelow(join(place.folder, 'queue')), { form: FORM })).not.toEqual([]);
    expect(await start.end('SIGTERM')).toEqual({ code: 0, signal: null });

    const [some = '', , , odd = ''] = store.ids(FORM);
    for (const args of [
      ['sync', '--full', '--json'],
      ['sync', '--full', '--dry-run'],
      ['verify', '--json'],
      ['status', '--json'],
      ['check', '--json'],
      ['explain', some],
      ['explain', odd],
      ['forms', FORM],
    ]) {
      const { code, stdout } = await place.run(args);
      // Refused status changes need attention.
      const expected = args[0] === 'status' ? 1 : 0;
      expect([args.join(' '), code]).toEqual([args.join(' '), expected]);
      expect(stdout).not.toBe('');
    }
    expect((await place.run(['check', '--alert'])).code).toBe(1);
    const places: Places = filesBelow(place.folder);
    for (const [at, text] of place.printed.entries()) places.set(`output ${at}`, text);
    expect(leaksIn(places, SECRETS)).toEqual([]);
    // The search would find it: it finds permitted text, and the hash in place of the answer.
    expect(leaksIn(places, { selected: 'Žofie 17' })).toHaveLength(1);
    const [row = {}] = await view.ask(`SELECT * FROM visit WHERE id = '${some}'`);
    expect(row['e_mail']).toMatch(/^[0-9a-f]{64}$/);
    const columns = Object.keys(row).filter((name) => !/^(_.*|id|status|created_at)$/.test(name));
    expect(columns).toEqual(['name', 'e_mail']);
  });
});
