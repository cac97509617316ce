import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Child, type ChildEnv } from '../support/child.ts';
import {
  type ChildResult,
  runsOf,
  type RunDocument,
  sumOf,
  writtenBack,
} from '../support/child-place.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { MirrorView } from '../support/mirror-view.ts';
import { PlainFormsServer, type PlainSubmission } from '../support/plain-forms-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { createDatabase, postgresMissing } from '../support/servers.ts';

/** Three forms, 1,250 submissions. */
const COUNTS = { 'frm-contact': 700, 'frm-jobs': 549, 'frm-quiet': 1 };
const TEXTS = [
  'Příliš žluťoučký kůň 🐎',
  '007',
  '=SUM(A1:A9)',
  'two\nlines',
  "O'Neill; --",
  '9007199254740993',
];

function fill(server: PlainFormsServer): void {
  let second = Date.UTC(2026, 0, 1) / 1_000;
  for (const [id, count] of Object.entries(COUNTS)) {
    const fields = ['name', 'age', 'note'].map((word, index) => ({
      id: `field_17000000${index}_${word}`,
      label: word === 'note' ? 'Poznámka' : word,
    }));
    const schema = id === 'frm-quiet' ? { logic: [] } : { sections: [{ fields }, {}], logic: [] };
    const createdAt = '2025-12-01T00:00:00Z';
    server.forms.push({
      id,
      name: `Form ${id}`,
      slug: id.slice(4),
      isPublished: true,
      createdAt,
      schema,
    });
    for (let n = 0; n < count; n++) {
      const data = {
        [fields[0]!.id]: `${TEXTS[n % TEXTS.length]} ${n}`,
        [fields[1]!.id]: n % 3 === 0 ? n / 4 : n,
        ...(n % 5 === 0 ? { [fields[2]!.id]: TEXTS[n % TEXTS.length]! } : {}),
        // Deleted from the form before anybody looked.
        ...(n < 20 ? { field_16999_gone: 'kept' } : {}),
      };
      const status = n % 4 === 0 ? 'NEW' : 'PAID';
      const at = new Date(second++ * 1_000).toISOString();
      server.submissions.push({ id: `s-${id}-${n}`, formId: id, status, createdAt: at, data });
    }
  }
}

/** Every cell of every form, held against what the server has. */
async function differences(server: PlainFormsServer, view: MirrorView): Promise<string[]> {
  const found: string[] = [];
  for (const { id } of server.forms) {
    const rows = await view.rows(id);
    const wanted = server.submissions.filter(({ formId }) => formId === id);
    if (rows.size !== wanted.length) found.push(`${id}: ${rows.size} rows of ${wanted.length}`);
    for (const submission of wanted) {
      const row = rows.get(submission.id);
      const same =
        row !== undefined &&
        !row.deleted &&
        row.status === submission.status &&
        row.createdAtMs === Date.parse(submission.createdAt) &&
        sameAnswers(row.cells, submission);
      if (!same) found.push(`${submission.id} differs`);
    }
  }
  return found;
}

function sameAnswers(
  cells: ReadonlyMap<string, string | null>,
  { data }: PlainSubmission,
): boolean {
  const answers = Object.entries(data).map(([id, answer]) => [id, String(answer)] as const);
  const held = [...cells].filter(([, text]) => text !== null);
  return held.length === answers.length && answers.every(([id, text]) => cells.get(id) === text);
}

const costOf = (runs: readonly RunDocument[]): Record<string, number> =>
  Object.fromEntries(runs.map(({ form, requests }) => [form, requests]));

describe('against a server that knows nothing of this project', { timeout: 120_000 }, () => {
  let server: PlainFormsServer;
  let folder = '';
  beforeAll(async () => {
    server = await PlainFormsServer.start();
    fill(server);
    folder = scratchFolder('plain');
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (args: readonly string[], env: ChildEnv): Promise<ChildResult> => {
    const settings = {
      FORMS_API_URL: server.url,
      FORMS_API_KEY: server.apiKey,
      TARGET_FIELDS: '*',
    };
    const child = Child.cli(args, { ...settings, DATA_DIR: folder, ...env }, folder);
    const end = await child.ended;
    return { ...end, stdout: child.stdout, stderr: child.stderr };
  };

  const mirrorsExactly = async (url: string): Promise<void> => {
    const view = new MirrorView(url);
    const first = await run(['sync', '--json'], { TARGET_URL: url });
    expect([first.code, first.stderr]).toEqual([0, '']);
    const runs = runsOf(first);
    expect(runs.map(({ form, inserted }) => [form, inserted])).toEqual(Object.entries(COUNTS));
    expect(await differences(server, view)).toEqual([]);
    const before = JSON.stringify(
      await Promise.all(Object.keys(COUNTS).map((id) => rowsOf(view, id))),
    );

    // L4, and the cost of a proven full run over a quiet source.
    const second = await run(['sync', '--full', '--json'], {
      TARGET_URL: url,
      FORMS_API_AUTH: 'x-api-key',
    });
    const again = runsOf(second);
    expect([second.code, sumOf(again, 'inserted'), sumOf(again, 'updated')]).toEqual([0, 0, 0]);
    expect(again.map(({ form, total }) => [form, total])).toEqual(Object.entries(COUNTS));
    // The pages, and twenty requests to learn what the source can be asked and to compare its counts.
    for (const [form, count] of Object.entries(COUNTS)) {
      expect(costOf(runs)[form]).toBeLessThanOrEqual(Math.ceil(count / 100) + 20);
      expect(costOf(again)[form]).toBeLessThanOrEqual(Math.ceil(count / 100) + 20);
    }
    expect(
      JSON.stringify(await Promise.all(Object.keys(COUNTS).map((id) => rowsOf(view, id)))),
    ).toBe(before);

    // Nothing new: seven requests in all, and they are what the server saw besides the list of forms.
    const seen = server.requests.length;
    const quiet = await run(['sync', '--json'], { TARGET_URL: url });
    const third = runsOf(quiet);
    expect(third.map(({ full, requests }) => [full, requests])).toEqual(
      Object.keys(COUNTS).map(() => [false, 0]),
    );
    const requests = server.requests.slice(seen).filter((request) => request !== 'GET /forms');
    expect(requests).toHaveLength(7);
    const { poll } = JSON.parse(quiet.stdout) as { poll: { requests: number } };
    expect(poll.requests).toBe(7);
    expect(await run(['verify'], { TARGET_URL: url })).toMatchObject({ code: 0 });
  };

  it('L1, L4, L10: 1,250 submissions of three forms are in SQLite, exactly, twice in a row', async () => {
    await mirrorsExactly(`sqlite:${join(folder, 'plain.sqlite')}`);
    expect(server.requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
  });

  it.skipIf(postgresMissing())('and in PostgreSQL', async () => {
    await mirrorsExactly(await createDatabase(await lentPostgres()));
    expect(server.requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
  });

  it.each([false, true])(
    'L16: process by process finds what changes in some of the forms (list of the workspace refused: %s)',
    async (needsFormId) => {
      const [first = '', second = ''] = Object.keys(COUNTS);
      const url = `sqlite:${join(folder, `some-${needsFormId}.sqlite`)}`;
      const env = { TARGET_URL: url, TARGET_FORMS: `${first},${second}` };
      server.needsFormId = needsFormId;
      const before = server.submissions.map((each) => each.status);
      onTestFinished(() => {
        server.needsFormId = false;
        for (const [at, status] of before.entries()) server.submissions[at]!.status = status;
      });
      const sync = async (): Promise<string[]> => {
        const runs = runsOf(await run(['sync', '--json'], env));
        return runs.flatMap(({ form, inserted, updated }) =>
          inserted + updated > 0 ? [form] : [],
        );
      };
      expect(await sync()).toEqual([first, second]);
      expect(await sync()).toEqual([]);
      const oldest = server.submissions
        .filter(({ formId }) => formId === second)
        .reduce((a, b) => (a.createdAt < b.createdAt ? a : b));
      oldest.status = oldest.status === 'PAID' ? 'ARCHIVED' : 'PAID';
      const other = server.submissions.find(({ formId }) => formId !== first && formId !== second);
      if (other !== undefined) other.status = other.status === 'PAID' ? 'ARCHIVED' : 'PAID';
      expect(await sync()).toEqual([second]);
      expect(await sync()).toEqual([]);
      const rows = await rowsOf(new MirrorView(url), second);
      expect(rows.find(({ id }) => id === oldest.id)?.['status']).toBe(oldest.status);
    },
  );

  it('L7: changes the status there of what is NEW, once it is stored', async () => {
    const env = {
      TARGET_URL: `sqlite:${join(folder, 'written-back.sqlite')}`,
      MARK_STATUS: 'DONE',
    };
    const open = server.submissions.filter(({ status }) => status === 'NEW').length;
    expect([writtenBack(await run(['sync', '--json'], env)), open]).toEqual([open, 314]);
    expect(server.submissions.filter(({ status }) => status === 'NEW')).toEqual([]);
    expect(await differences(server, new MirrorView(env.TARGET_URL))).toEqual([]);
    const patches = server.requests.filter((request) => request.startsWith('PATCH'));
    expect([patches.length, new Set(patches).size]).toEqual([open, open]);
  });
});

async function rowsOf(view: MirrorView, formId: string): Promise<Record<string, unknown>[]> {
  return view.ask(`SELECT * FROM "${await view.tableOf(formId)}" ORDER BY id`);
}
