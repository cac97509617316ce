// Takes the pictures of the README and the guides from a running mirror of the sandbox: `npm run pictures`, or `npm run
// pictures -- status.png`. Needs an installed Chromium (CHROMIUM names another one) and a font with emojis (Debian:
// fonts-noto-color-emoji). Look at the pictures before you commit them.
import type { Report } from '../src/health/report.ts';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';

/** The status page of a healthy mirror, and tabs of its sheet by their titles. */
const PICTURES: readonly { file: string; tab?: string; width: number; height: number }[] = [
  { file: 'status.png', width: 1200, height: 820 },
  { file: 'sheet.png', tab: 'Přihláška na pracovní pozici', width: 1316, height: 560 },
  { file: 'summary.png', tab: 'Summary', width: 1640, height: 620 },
  { file: 'mirror.png', tab: 'Mirror', width: 1400, height: 560 },
];
const FOLDER = resolve(import.meta.dirname, '../docs/pictures');
/** So that a clone stays small. */
const MOST_BYTES = 200_000;

/** The pictures named on the command line, or all. */
const wanted = new Set(process.argv.slice(2));
const isWanted = (file: string): boolean => wanted.size === 0 || wanted.has(file);

const scratch = mkdtempSync(join(tmpdir(), 'forms-mirror-pictures-'));
const program = resolve(import.meta.dirname, '../bin/forms-mirror.js');
try {
  mkdirSync(FOLDER, { recursive: true });
  await takePictures();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Starts a mirror with a SQLite copy and a sheet, waits until it is healthy and idle, and takes the pictures. */
async function takePictures(): Promise<void> {
  const sandbox = spawnProgram(['sandbox', '--sheets', '--port', '0']);
  const stand = await settingsOf(sandbox.stdout);
  const sheet = (stand['TARGET_URL'] ?? '').replace('sheets:', '');
  const mirror = spawnProgram(['start'], mirrorSettings(stand));
  try {
    const url = await pageOf(createInterface({ input: mirror.stderr }));
    await untilWell(url);
    const tabs = await tabsOf(`${stand['SHEETS_EMULATOR_URL']}/view/${sheet}`);
    for (const { tab, ...picture } of PICTURES.filter(({ file }) => isWanted(file))) {
      const address = tab === undefined ? url : tabs.get(tab);
      if (address === undefined) throw new Error(`There is no tab "${tab}".`);
      take(address, picture);
    }
  } finally {
    for (const child of [mirror, sandbox]) {
      child.kill();
      if (child.exitCode === null) await once(child, 'exit');
    }
  }
}

type Settings = Readonly<Record<string, string | undefined>>;

/** The settings that the sandbox prints. */
async function settingsOf(stdout: NodeJS.ReadableStream): Promise<Settings> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: stdout })) {
    lines.push(line);
    if (line.startsWith('TARGET_URL=')) return parseEnv(lines.join('\n'));
  }
  throw new Error('The sandbox ended.');
}

function mirrorSettings({ TARGET_URL, ...stand }: Settings): Settings {
  return {
    ...stand,
    TARGETS: 'warehouse,team-sheet',
    TARGET_WAREHOUSE_URL: 'sqlite:forms.sqlite',
    TARGET_TEAM_SHEET_URL: TARGET_URL,
    SYNC_EVERY: '10s',
    PORT: '0',
    DATA_DIR: join(scratch, 'data'),
  };
}

function spawnProgram(args: readonly string[], env: Settings = {}) {
  const options = { cwd: scratch, env: { ...process.env, ...env } };
  return spawn(process.execPath, [program, ...args], { ...options, stdio: 'pipe' });
}

/** The address of the status page, as logged. */
async function pageOf(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const [, url] = /"url":"(http[^"]+)","msg":"The status page/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('The mirror ended before its page was open.');
}

async function untilWell(url: string): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    const report = (await (await fetch(`${url}/api/status`)).json()) as Report;
    // The rows of a sheet are counted some seconds after they are written.
    const rows = new Set(report.forms.map(({ form, rows }) => `${form.id} ${rows}`));
    const isCounted = report.forms.every((form) => form.rows !== null && form.rows > 0);
    const isSettled = isCounted && report.forms.length > 0 && rows.size * 2 === report.forms.length;
    if (report.state === 'ok' && isSettled) return;
    await sleep(1_000);
  }
  throw new Error('The mirror did not become well.');
}

function take(
  address: string,
  { file, width, height }: { file: string; width: number; height: number },
): void {
  const path = join(FOLDER, file);
  photograph(address, path, `${width},${height}`);
  const { size } = statSync(path);
  console.log(`docs/pictures/${file}: ${Math.ceil(size / 1_000)} kB`);
  if (size > MOST_BYTES) throw new Error(`${file} is too large.`);
}

/** The addresses of the tabs, by their titles. */
async function tabsOf(sheet: string): Promise<ReadonlyMap<string, string>> {
  const html = await (await fetch(sheet)).text();
  const [, nav = ''] = /<nav>(.*?)<\/nav>/s.exec(html) ?? [];
  const links = nav.matchAll(/<a href="([^"]+)"[^>]*>([^<]*)<\/a>/g);
  return new Map(
    [...links].map(([, href = '', title = '']) => [title, new URL(href, sheet).href] as const),
  );
}

function photograph(address: string, path: string, size: string): void {
  const chromium = process.env['CHROMIUM'] ?? 'chromium';
  const args = [
    '--headless',
    '--hide-scrollbars',
    // Chromium's sandbox does not start for root.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    `--user-data-dir=${join(scratch, 'profile')}`,
    `--window-size=${size}`,
    `--screenshot=${path}`,
    address,
  ];
  execFileSync(chromium, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
