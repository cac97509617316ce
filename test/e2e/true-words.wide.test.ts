import { describe, expect, it, vi } from 'vitest';
import type { ProblemCode } from '../../src/base/catalogue.ts';
import type { Report } from '../../src/health/report.ts';
import type { Environment } from '../../src/settings/settings-reader.ts';
import { startWebhook } from '../notify/webhook-receiver.ts';
import type { Finally } from '../support/child.ts';
import { type CliResult, type RunningCli, runCli, startCli } from '../support/cli-host.ts';
import { type CliPlace, openPlace } from '../support/cli-sandbox.ts';
import { layQueue } from '../support/lent-server.ts';
import { redisMissing, startRedis } from '../support/servers.ts';

/**
 * L17: as long as a problem exists, no surface calls the copy complete, current or healthy. Each condition is created once, with a
 * real source, a real target and a real `start`, and checked on every surface. The simulation covers events at the source and in the
 * target, and the judge's tests cover each situation: these tests cover conditions that only running processes have.
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
  'notifications',
  'log',
] as const;
type Surface = (typeof SURFACES)[number];

/** What a surface shows, in few words, and whether it claims health. */
interface Shown {
  readonly words: string;
  readonly claims: boolean;
}

interface Scene {
  readonly onFinished: Finally;
  readonly place: CliPlace;
  env: Environment;
  running: RunningCli | null;
  /** Its address while it runs; null if no process runs. */
  page: string | null;
}

/** The words that claim health. */
const CLAIM = /up to date|everything is|\b(is|are) (proven )?complete\b|all the same|resolved/i;

const firstSync = async ({ env }: Scene): Promise<void> => {
  expect((await runCli(['sync'], env)).code).toBe(0);
};

/** Starts the mirror, and stops it with the test. */
async function start(scene: Scene): Promise<void> {
  await layQueue(scene.env['DATA_DIR'] ?? '');
  const running = startCli(['start'], scene.env);
  scene.running = running;
  scene.onFinished(async () => {
    running.send('SIGTERM');
    await running.done;
  });
  const isOpen = (): void => expect(running.stderr.text).toMatch(/The status page is open/);
  await vi.waitFor(isOpen, { timeout: 150_000 });
  scene.page = /"url":"(http[^"]+)"/.exec(running.stderr.text)?.[1] ?? null;
}

/** Resolves when the page reports that. */
async function reports({ page }: Scene, isSo: (report: Report) => boolean): Promise<void> {
  const look = async (): Promise<void> => {
    const report = (await (await fetch(`${page}/api/status`)).json()) as Report;
    expect(report).toSatisfy(isSo);
  };
  await vi.waitFor(look, { timeout: 200_000, interval: 200 });
}

/** The mirror runs, and has shown that it is healthy. */
async function startWell(scene: Scene): Promise<void> {
  await firstSync(scene);
  await start(scene);
  await reports(scene, ({ state }) => state === 'ok');
}

/** The page has reported this problem: a busy machine is enough to make a form late, and a report `waiting`. */
const names =
  (code: ProblemCode) =>
  (report: Report): boolean =>
    JSON.stringify(report).includes(`"code":"${code}"`);

const statusOf = async ({ env }: Scene): Promise<Report> =>
  JSON.parse((await runCli(['status', '--json'], env)).stdout) as Report;

interface Condition {
  readonly make: (scene: Scene) => Promise<void>;
  /** Surfaces whose claim of health is true: they have just checked or corrected it, or nothing fails that a script must know. */
  readonly true?: readonly Surface[];
  readonly needs?: 'redis';
}

const CONDITIONS: Readonly<Record<string, Condition>> = {
  'key refused': {
    async make(scene) {
      await startWell(scene);
      scene.place.sandbox.faults.add({ status: 401, times: Infinity });
      await reports(scene, names('FORMS_UNAUTHORIZED'));
    },
  },
  'queue away': {
    needs: 'redis',
    async make(scene) {
      const redis = await startRedis();
      scene.onFinished(() => redis.stop());
      scene.env = { ...scene.env, QUEUE_URL: redis.url };
      await startWell(scene);
      await redis.stop();
      await reports(scene, names('QUEUE_FAILED'));
    },
    // The report of a command does not look at the queue: the copy is as of the time that it names, until two polls are missing.
    true: ['exit code', 'status', 'verify', 'sync'],
  },
};

const claimIn = (text: string, words = text): Shown => ({ words, claims: CLAIM.test(text) });

/** The output of a command. */
async function command(name: string, { env }: Scene): Promise<Shown> {
  const { code, stdout, stderr } = await runCli([name], env);
  const words = (stdout || stderr).trim().split('\n').at(-1) ?? '';
  return { words: `${code}: ${words}`, claims: code === 0 || CLAIM.test(stdout) };
}

const NO_PAGE: Shown = { words: 'does not answer', claims: false };

async function pages({ page }: Scene): Promise<Record<'page' | '/health' | 'metrics', Shown>> {
  if (page === null) return { page: NO_PAGE, '/health': NO_PAGE, metrics: NO_PAGE };
  const html = await (await fetch(page)).text();
  const health = (await (await fetch(`${page}/health`)).json()) as { mirror: string };
  const metrics = await (await fetch(`${page}/metrics`)).text();
  const states = [...metrics.matchAll(/^forms_mirror_form_state\{.*state="(\w+)"\} 1$/gm)];
  const names = states.map(([, name = '']) => name);
  const [, main = ''] = html.split('<main ');
  expect(main).toContain('</main>');
  // The source may well answer, which does not prove the copy.
  const ofCopy = main.replace(/<ul class="plant"[\s\S]*?<\/ul>/, '');
  const title = /<h1>([^<]*)/.exec(html)?.[1] ?? '?';
  return {
    page: { words: title, claims: CLAIM.test(ofCopy) || /class="(state )?ok"/.test(ofCopy) },
    '/health': { words: health.mirror, claims: health.mirror === 'ok' },
    metrics: { words: names.join(), claims: names.includes('ok') },
  };
}

/** The surfaces that claim health under a condition, with their words. */
async function claimsUnder(
  { make, true: isTrue = [] }: Condition,
  onFinished: Finally,
): Promise<string[]> {
  const place = await openPlace({ submissions: 30 }, onFinished);
  await using webhook = await startWebhook();
  const env = {
    ...place.env,
    // The same for every process: `status` judges by it as the page does.
    SYNC_EVERY: '2s',
    TARGET_FORMS: 'customer-feedback',
    ALERT_WEBHOOK_URL: webhook.url,
    LOG_LEVEL: 'info',
  };
  const scene: Scene = { onFinished, place, env, running: null, page: null };
  await make(scene);
  // Log lines from before the condition was seen do not count.
  const logged = scene.running?.stderr.text.length ?? 0;
  const status: CliResult = await runCli(['status'], scene.env);
  const json = await statusOf(scene);
  const shown: Record<Surface, Shown> = {
    'exit code': { words: String(status.code), claims: status.code === 0 },
    status: { words: json.title, claims: CLAIM.test(status.stdout) || json.state === 'ok' },
    ...(await pages(scene)),
    check: await command('check', scene),
    verify: await command('verify', scene),
    sync: await command('sync', scene),
    notifications: claimIn(webhook.bodies.map(({ text }) => text).join('\n')),
    log: claimIn((scene.running?.stderr.text ?? '').slice(logged)),
  };
  const claims = SURFACES.filter((surface) => shown[surface].claims && !isTrue.includes(surface));
  return claims.map((surface) => `${surface}: ${shown[surface].words}`);
}

// Most of the time is spent waiting for polls, retries and unreachable services.
describe.concurrent('no surface claims health (L17)', { timeout: 300_000 }, () => {
  const canRun = ({ needs }: Condition): boolean => needs !== 'redis' || !redisMissing();
  for (const [name, condition] of Object.entries(CONDITIONS))
    it.skipIf(!canRun(condition))(`when: ${name}`, async ({ onTestFinished }) => {
      expect(await claimsUnder(condition, onTestFinished)).toEqual([]);
    });
});
