import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Report } from '../../src/health/report.ts';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

/** A fault of a target, not of an emulator, and its correction. */
interface Fault {
  readonly targetUrl: string;
  /** If the target has another part that is not affected by the fault. */
  readonly dataDir?: string;
  readonly make: () => Promise<void> | void;
  readonly mend: () => Promise<void> | void;
}

const FORM = 'customer-feedback';
/** More than is left free after a disk was filled. */
const LARGE = 'ř'.repeat(400_000);

/** The course of a fault, as the exit codes of `status`: healthy, at fault, corrected. */
async function liveThrough(
  { targetUrl, dataDir, make, mend }: Fault,
  words: RegExp,
): Promise<number[]> {
  const place = await openPlace({ submissions: 30 });
  const home = dataDir === undefined ? {} : { DATA_DIR: dataDir };
  const env = { ...place.env, ...home, TARGET_FORMS: FORM, TARGET_URL: targetUrl };
  const status = async () => {
    const { code, stdout } = await runCli(['status'], env);
    const json = await runCli(['status', '--json'], env);
    return { code, stdout, json: json.code, report: JSON.parse(json.stdout) as Report };
  };
  expect((await runCli(['sync'], env)).code).toBe(0);
  const before = await status();

  await make();
  const { id: formId, sections } = place.sandbox.store.formBySlug(FORM)!;
  const fieldId = sections[0]?.[0]?.id ?? '';
  for (let n = 0; n < 4; n++) place.sandbox.store.insert({ formId, data: { [fieldId]: LARGE } });
  for (const args of [['sync'], ['sync', '--full']]) {
    const { code, stdout, stderr } = await runCli(args, env);
    expect(code).toBe(1);
    const told = `${stdout}${stderr}`.split('\n').filter((line) => words.test(line));
    expect(told).toHaveLength(1);
    expect(`${stdout}${stderr}`).not.toMatch(/\n\s+at |Error:|SQLITE_|are complete|is complete/);
  }
  const { code, json, stdout, report } = await status();
  expect(json).toBe(code);
  expect(report.state).toBe('failed');
  expect(stdout).toMatch(/^✗ /);
  expect(stdout).toMatch(/\((TARGET_[A-Z_]+|FAILED)\)/);
  expect(stdout).not.toContain('up to date');
  const ofTarget = report.targets.flatMap((target) => target.problem ?? []);
  const [problem] = [...report.problems, ...ofTarget, ...(report.forms[0]?.problems ?? [])];
  expect(problem?.remedy ?? problem?.message).toMatch(/\w/);
  expect((await runCli(['check'], env)).code).toBe(1);

  await mend();
  expect((await runCli(['sync'], env)).code).toBe(0);
  expect((await runCli(['verify'], env)).code).toBe(0);
  expect((await status()).code).toBe(0);
  // The full run that failed must still be made.
  expect((await runCli(['sync', '--full'], env)).code).toBe(0);
  const after = await status();
  expect(after.report.forms[0]).toMatchObject({ lastRun: { outcome: 'ok' }, problems: [] });
  const kept = join(env['DATA_DIR'] ?? '', 'failures');
  expect(existsSync(kept) ? readdirSync(kept) : []).toEqual([]);
  return [before.code, code, after.code];
}

/** A separate disk, or a skipped test: only root may mount. */
function openDisk(skip: (note: string) => never) {
  const disk = mountSmallDisk(8);
  if (disk === undefined) return skip('this user may not mount a file system');
  onTestFinished(() => disk.unmount());
  return { disk, targetUrl: `sqlite:${join(disk.folder, 'copy.sqlite')}` };
}

describe('L17: a SQLite file', () => {
  it('on a full disk: reported, recorded, and over when there is space', async ({ skip }) => {
    const { disk, targetUrl } = openDisk(skip);
    const fault = { targetUrl, make: () => disk.fill(), mend: () => disk.empty() };
    expect(await liveThrough(fault, /the disk is full/)).toEqual([0, 1, 0]);
  });

  it.for(['full', 'read-only'])(
    'in DATA_DIR, the default place, whose disk is %s: nothing can be recorded, as before',
    async (what, { skip }) => {
      const { disk, targetUrl } = openDisk(skip);
      const dataDir = disk.folder;
      const isFull = what === 'full';
      const make = () => (isFull ? disk.fill() : disk.setReadOnly(true));
      const mend = () => (isFull ? disk.empty() : disk.setReadOnly(false));
      const words = isFull ? /the disk is full/ : /cannot be (written|opened).*(right|user)/;
      const codes = await liveThrough({ targetUrl, dataDir, make, mend }, words);
      expect(codes).toEqual([0, 1, 0]);
    },
  );
});
