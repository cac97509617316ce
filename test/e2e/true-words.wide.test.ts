import { openCopy } from '../../src/bridge/store-copy.ts';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { readOverview } from '../../src/health/facts.ts';
import { ProcessFiles } from '../../src/health/process-records.ts';
import { describeHealth } from '../../src/health/recorded-health.ts';
import type { StatusReport } from '../../src/health/report.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import type { Environment } from '../../src/settings/variables.ts';
import { startWebhook } from '../alerts/webhook-stand-in.ts';
import { type CliPlace, openPlace } from '../support/cli-sandbox.ts';
import { type RunningCli, runCli, startCli } from '../support/cli-host.ts';
import type { Finally } from '../support/child.ts';
import { layQueue } from '../support/lent-server.ts';
import { redisMissing, startRedis } from '../support/servers.ts';
import { deleteOldest, FAULTS, makeReadOnly } from './harm.ts';

/*
 * L17: whatever is wrong, no surface calls the copy complete, current or well. Each condition is made once, with a real
 * source, a real target and a real `start`, and looked at from every surface.
 */

const SURFACES = [
  'exit code',
  'status',
  'check',
  'verify',
  'sync',
  'page',
  '/health',
  'metrics',
  'alert',
  'log',
  'Mirror tab',
] as const;
type Surface = (typeof SURFACES)[number];

/** What a surface shows, in few words for the table, and whether that claims health. */
interface Cell {
  readonly shown: string;
  readonly claims: boolean;
}

interface Scene {
  readonly onFinished: Finally;
  readonly place: CliPlace;
  readonly silentMs: number;
  readonly exitsWell: boolean;
  env: Environment;
  /** Its address once it runs; null where no process does. */
  page: string | null;
  running: RunningCli | null;
  /** Log that was written before the condition. */
  logBefore: number;
}

/** What claims health in words. The Mirror tab's own words name their time; a claim of `verify` or `sync` is as of now. */
const CLAIM =
  /up to date|everything is|\b(is|are) proven complete|all the same|the copy is complete|resolved|The pass is complete/i;

const claimsText = (text: string): boolean => CLAIM.test(text);

const firstSync = async ({ env }: Scene): Promise<void> => {
  expect((await runCli(['sync'], env)).code).toBe(0);
};

/** Starts the mirror, and stops it with the test. */
async function start(scene: Scene): Promise<void> {
  await layQueue(scene.env['DATA_DIR'] ?? '');
  const running = startCli(['start'], { ...scene.env, PORT: '0', SYNC_EVERY: '2s' });
  scene.running = running;
  scene.onFinished(async () => {
    running.send('SIGTERM');
    await running.done;
  });
  const url = /The status page is open/;
  await vi.waitFor(() => expect(running.stderr.text).toMatch(url), { timeout: 150_000 });
  scene.page = /"url":"(http[^"]+)"/.exec(running.stderr.text)?.[1] ?? null;
}

const reportOf = async ({ page }: Scene): Promise<StatusReport> =>
  (await (await fetch(`${page}/api/status`)).json()) as StatusReport;

/** The mirror runs, and has shown that it is well. */
async function startWell(scene: Scene): Promise<void> {
  await firstSync(scene);
  await start(scene);
  const isWell = async (): Promise<void> => expect((await reportOf(scene)).state).toBe('ok');
  await vi.waitFor(isWell, { timeout: 60_000, interval: 200 });
}

/** The page has seen what is wrong. */
async function seen(scene: Scene): Promise<void> {
  const isSeen = async (): Promise<void> =>
    expect(['failed', 'waiting', 'attention']).toContain((await reportOf(scene)).state);
  await vi.waitFor(isSeen, { timeout: 90_000, interval: 200 });
}

interface Condition {
  readonly make: (scene: Scene) => Promise<void>;
  /** How long a command may be silent. */
  readonly silentMs?: number;
  /** Surfaces whose good words are true: they have looked, or mended it, just now. */
  readonly true?: readonly Surface[];
  /** Nobody has anything to do: commands exit with 0. Their words are judged all the same. */
  readonly exitsWell?: boolean;
  /** What the source holds, and how. */
  readonly source?: Parameters<typeof openPlace>[0];
}

/** The page has seen a pass that ended like that. */
async function seenEnded(scene: Scene, isSo: (form: StatusReport['forms'][number]) => boolean) {
  const isSeen = async (): Promise<void> =>
    expect((await reportOf(scene)).forms.some(isSo)).toBe(true);
  await vi.waitFor(isSeen, { timeout: 90_000, interval: 200 });
}

const CONDITIONS: Readonly<Record<string, Condition>> = {
  'never mirrored': {
    async make(scene) {
      scene.place.sandbox.faults.add({ path: '/submissions', ...FAULTS.throttles });
      await start(scene);
    },
    true: ['check'],
  },
  'backfilling elsewhere': {
    async make(scene) {
      scene.place.sandbox.faults.add({ path: '/submissions', ...FAULTS.throttles });
      const elsewhere = startCli(['sync'], scene.env);
      scene.onFinished(async () => {
        elsewhere.send('SIGINT');
        await elsewhere.done;
      });
      const begun = (): void => expect(elsewhere.stderr.text).toContain('Waiting on the source');
      await vi.waitFor(begun, { timeout: 60_000 });
      await start(scene);
    },
    true: ['check'],
  },
  'source throttles': {
    async make(scene) {
      await startWell(scene);
      scene.place.sandbox.faults.add(FAULTS.throttles);
      await seen(scene);
    },
  },
  'source hangs': {
    async make(scene) {
      await startWell(scene);
      scene.place.sandbox.faults.add(FAULTS.hangs);
      await seen(scene);
    },
    // A request is given up after 30 s.
    silentMs: 40_000,
  },
  'key refused': {
    async make(scene) {
      await startWell(scene);
      scene.place.sandbox.faults.add(FAULTS.refuses);
      await seen(scene);
    },
  },
  'target unreachable': {
    async make(scene) {
      scene.env = { ...scene.env, TARGET_URL: 'postgres://nobody@127.0.0.1:9/none' };
      await start(scene);
      await seen(scene);
    },
  },
  'target refuses': {
    async make(scene) {
      await startWell(scene);
      makeReadOnly(scene.place.file);
      const { id: formId } = scene.place.sandbox.store.formBySlug('customer-feedback')!;
      scene.place.sandbox.store.insert({ formId, data: {} });
      await seen(scene);
    },
    // It reads both sides for itself.
    true: ['verify'],
  },
  'table damaged': {
    async make(scene) {
      await startWell(scene);
      using database = new DatabaseSync(scene.place.file);
      database.exec('ALTER TABLE customer_feedback RENAME COLUMN id TO id_of_someone');
      await seen(scene);
    },
  },
  'queue away': {
    async make(scene) {
      const redis = await startRedis();
      scene.onFinished(() => redis.stop());
      scene.env = { ...scene.env, QUEUE_URL: redis.url };
      await startWell(scene);
      await redis.stop();
      await seen(scene);
      const files = new ProcessFiles(scene.env['DATA_DIR'] ?? '');
      const isTold = async (): Promise<void> =>
        expect((await files.read())[0]?.queueAwaySince).toBeTruthy();
      await vi.waitFor(isTold, { timeout: 60_000, interval: 200 });
    },
    true: ['verify', 'sync'],
  },
  'no process running': {
    async make(scene) {
      await firstSync(scene);
      const at = new Date(Date.now() - 1_000).toISOString();
      // As kill -9 leaves it: no process has this ID.
      const record = { host: hostname(), pid: 2 ** 22 + 1, role: 'start' as const, at };
      const files = new ProcessFiles(scene.env['DATA_DIR'] ?? '');
      await files.write({ ...record, startedAt: at, sourceWait: null, queueAwaySince: null });
    },
    true: ['verify', 'sync', 'check'],
  },
  'changes found, and held up': {
    async make(scene) {
      // By the same settings, `status` judges as the page does.
      scene.env = { ...scene.env, SYNC_EVERY: '2s' };
      await startWell(scene);
      const { id, slug, name } = scene.place.sandbox.store.formBySlug('customer-feedback')!;
      const target = await openCopy('default', parseTargetUrl(`sqlite:${scene.place.file}`));
      const writer = await target.openWriter({ id, slug, name }, { waitMs: 10_000 });
      scene.onFinished(async () => {
        await writer[Symbol.asyncDispose]();
        await target[Symbol.asyncDispose]();
      });
      const [oldest = ''] = scene.place.sandbox.store.ids(id).slice(-1);
      scene.place.sandbox.store.setStatus(oldest, 'PAID');
      await seen(scene);
    },
    // They look for themselves; sync is kept waiting.
    true: ['verify', 'check', 'exit code'],
  },
  'deletions withheld': {
    source: { submissions: 400 },
    async make(scene) {
      await startWell(scene);
      deleteOldest(scene.place, 350);
      await seenEnded(scene, ({ lastPass }) => lastPass?.outcome === 'withheld');
    },
    true: ['verify', 'exit code'],
  },
  'settings match nothing': {
    async make(scene) {
      await firstSync(scene);
      scene.env = { ...scene.env, TARGET_FIELDS: '*', TARGET_FORMS: 'customer-feedback,nosuch' };
      await start(scene);
      await seen(scene);
    },
    true: ['verify'],
  },
};

/** A command as it is seen until it ends; one that waits for the source, or for another, is stopped once it says so. */
async function commandCell(name: string, { env, silentMs, exitsWell }: Scene): Promise<Cell> {
  const running = startCli([name], env);
  const ended = running.done.then(() => true);
  const waits = vi.waitFor(
    () => expect(running.stderr.text).toMatch(/Waiting on the source|waits for/i),
    { timeout: silentMs, interval: 100 },
  );
  await Promise.race([ended, waits.catch(() => undefined)]);
  running.send('SIGINT');
  const { code, stdout, stderr } = await running.done;
  const line = (stdout || stderr).trim().split('\n').at(-1) ?? '';
  const words = line.startsWith('{') ? line : (stdout.trim().split('\n')[0] ?? '');
  const shown = `${code}: ${(words || stderr.trim().split('\n').at(-1) || 'silent').slice(0, 90)}`;
  return { shown, claims: (code === 0 && !exitsWell) || claimsText(stdout) };
}

const NO_PAGE: Cell = { shown: 'does not answer', claims: false };

async function pageCells({
  page,
}: Scene): Promise<Pick<Record<Surface, Cell>, 'page' | '/health' | 'metrics'>> {
  if (page === null) return { page: NO_PAGE, '/health': NO_PAGE, metrics: NO_PAGE };
  const html = await (await fetch(page)).text();
  const health = await fetch(`${page}/health`);
  const body = (await health.json()) as { mirror?: string };
  const metrics = await (await fetch(`${page}/metrics`)).text();
  const ok = metrics.match(/^forms_mirror_form_state\{.*state="ok"\} 1$/gm) ?? [];
  const states = metrics.match(/^forms_mirror_form_state\{.*\} 1$/gm) ?? [];
  const names = states.map((line) => /state="(\w+)"/.exec(line)?.[1]);
  const [, main = ''] = html.split('<main ');
  expect(main).toContain('</main>');
  return {
    page: {
      shown: /<h1>([^<]*)/.exec(html)?.[1] ?? '?',
      claims: claimsText(main) || /class="(medal|state) ok"|<t(body|r) class="ok"/.test(main),
    },
    '/health': { shown: `${health.status} ${JSON.stringify(body)}`, claims: body.mirror === 'ok' },
    metrics: { shown: [...new Set(names)].join(', ') || 'no form', claims: ok.length > 0 },
  };
}

/** What a sheet would show of the same records: the words that a target gets, and its own clock. */
async function tabCell(scene: Scene): Promise<Cell> {
  const describe = describeHealth('default', 45);
  try {
    await using target = await openCopy('default', parseTargetUrl(`sqlite:${scene.place.file}`));
    const { forms } = await readOverview(target, { marks: false, storing: undefined });
    const titles = [...new Set(forms.map((form) => describe(form, Date.now()).title))];
    const shown = titles.join(', ') || 'no form';
    return { shown, claims: claimsText(shown) };
  } catch {
    return { shown: 'as last written', claims: false };
  }
}

async function look(scene: Scene, alerts: readonly unknown[]): Promise<Record<Surface, Cell>> {
  const pages = await pageCells(scene);
  const tab = await tabCell(scene);
  const status = await runCli(['status'], scene.env);
  const [headline = ''] = status.stdout.split('\n');
  const json = JSON.parse((await runCli(['status', '--json'], scene.env)).stdout) as StatusReport;
  const log = (scene.running?.stderr.text ?? '').slice(scene.logBefore);
  const told = alerts.map((alert) => JSON.stringify(alert));
  const levels = new Set(log.match(/"level":\d+/g));
  return {
    'exit code': { shown: `status ${status.code}`, claims: status.code === 0 && !scene.exitsWell },
    status: { shown: headline, claims: claimsText(status.stdout) || json.state === 'ok' },
    check: await commandCell('check', scene),
    verify: await commandCell('verify', scene),
    sync: await commandCell('sync', scene),
    ...pages,
    alert: { shown: `${told.length} sent`, claims: told.some(claimsText) },
    log: { shown: [...levels].join(' '), claims: claimsText(log) },
    'Mirror tab': tab,
  };
}

const table: string[] = [];
afterAll(() => {
  // Kept for whoever runs it: `npx vitest run true-words`.
  console.info(table.join('\n'));
});

// Most of the time is spent waiting for ticks, retries and what does not answer.
describe.concurrent('no surface claims health (L17)', { timeout: 300_000 }, () => {
  /** The surfaces that claim health under a condition, with what they say. */
  const claimsUnder = async (
    name: string,
    { make, silentMs = 8_000, true: isTrue = [], exitsWell = false, source }: Condition,
    onFinished: Finally,
  ): Promise<string[]> => {
    const place = await openPlace(source ?? { submissions: 30 }, onFinished);
    await using webhook = await startWebhook();
    const env = {
      ...place.env,
      TARGET_FORMS: 'customer-feedback',
      ALERT_WEBHOOK_URL: webhook.url,
      LOG_LEVEL: 'info',
    };
    const told = { page: null, running: null, logBefore: 0 };
    const scene: Scene = { onFinished, place, silentMs, exitsWell, env, ...told };
    await make(scene);
    // What was logged until the condition was seen, was said before.
    scene.logBefore = scene.running?.stderr.text.length ?? 0;
    const cells = await look(scene, webhook.bodies);
    table.push(name, ...SURFACES.map((surface) => `  ${surface}: ${cells[surface].shown}`));
    const claims = SURFACES.filter((surface) => cells[surface].claims && !isTrue.includes(surface));
    return claims.map((surface) => `${surface}: ${cells[surface].shown}`);
  };
  const withRedis = ([name]: readonly [string, Condition]): boolean => name === 'queue away';
  const all = Object.entries(CONDITIONS);
  const without = all.filter((entry) => !withRedis(entry));
  it.for(without)('when: %s', async ([name, condition], { onTestFinished }) =>
    expect(await claimsUnder(name, condition, onTestFinished)).toEqual([]),
  );
  it.skipIf(redisMissing()).for(all.filter(withRedis))(
    'when: %s',
    async ([name, condition], { onTestFinished }) =>
      expect(await claimsUnder(name, condition, onTestFinished)).toEqual([]),
  );
});
