// Takes the pictures of the README from the running demo, with a Chromium that is installed (CHROMIUM names another one):
// `npm run pictures`. Look at them before they are committed.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

/** Files are named after what they show; `tab` is the title of a tab, and none the first one. */
const PICTURES: readonly { file: string; tab?: string; width: number; height: number }[] = [
  { file: 'sheet.png', width: 1280, height: 560 },
  { file: 'summary.png', tab: 'Summary', width: 1480, height: 620 },
  { file: 'mirror.png', tab: 'Mirror', width: 1400, height: 560 },
];
const FOLDER = resolve(import.meta.dirname, '../docs/pictures');
/** So that a clone stays small. */
const MOST_BYTES = 200_000;

const scratch = mkdtempSync(join(tmpdir(), 'forms-mirror-pictures-'));
const program = resolve(import.meta.dirname, '../bin/forms-mirror.js');
const demo = spawn(process.execPath, [program, 'demo', '--sheets', '--keep-running'], {
  cwd: scratch,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(demo, 'exit');
try {
  const sheet = await sheetOf(createInterface({ input: demo.stdout }));
  const tabs = await tabsOf(sheet);
  mkdirSync(FOLDER, { recursive: true });
  for (const { file, tab, width, height } of PICTURES) {
    const address = tab === undefined ? sheet : tabs.get(tab);
    if (address === undefined) throw new Error(`There is no tab "${tab}".`);
    const path = join(FOLDER, file);
    photograph(address, path, `${width},${height}`);
    const { size } = statSync(path);
    console.log(`docs/pictures/${file}: ${Math.ceil(size / 1_000)} kB`);
    if (size > MOST_BYTES) throw new Error(`${file} is too large.`);
  }
} finally {
  demo.kill();
  await ended;
  rmSync(scratch, { recursive: true, force: true });
}

/** The address of the sheet, once everything is in it. */
async function sheetOf(lines: AsyncIterable<string>): Promise<string> {
  let address: string | undefined;
  for await (const line of lines) {
    address ??= /Watch it here: (\S+)/.exec(line)?.[1];
    if (address !== undefined && line.startsWith('The copy is complete')) return address;
  }
  throw new Error('The demo ended before its copy was complete.');
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
