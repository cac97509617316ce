import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { pruneModules } from '../../scripts/prune-modules.ts';
import { Child, type Finally } from '../support/child.ts';
import { scratchFolder } from '../support/scratch.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Of each other API its folder will do: what is to go is 240 MB. */
const OTHER_APIS = /\/apis\/(?!sheets\/)[^/]+\/./;

/** A folder with the program, and with modules of its own where `googleapis` may be taken apart: the others are links. */
function copyOfProgram(onFinished: Finally): string {
  const folder = scratchFolder('pruned', 64);
  onFinished(() => rmSync(folder, { recursive: true, force: true }));
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name === 'googleapis' || name === '.cache') continue;
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  const filter = (path: string): boolean => !OTHER_APIS.test(path);
  cpSync(join(ROOT, 'node_modules/googleapis'), join(modules, 'googleapis'), {
    recursive: true,
    filter,
  });
  for (const name of ['src', 'bin', 'package.json']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  return folder;
}

describe('the modules of the image', () => {
  it('are enough for a sheet', async ({ onTestFinished }) => {
    const folder = copyOfProgram(onTestFinished);
    const modules = join(folder, 'node_modules');
    expect(() => pruneModules(modules, ['sheet'])).toThrow('no API called sheet');
    expect(() => pruneModules(modules, [])).toThrow('none was named');
    const apis = join(modules, 'googleapis/build/src/apis');
    expect(readdirSync(apis).length).toBeGreaterThan(300);
    pruneModules(modules, ['sheets']);
    expect(
      readdirSync(apis, { withFileTypes: true }).filter((entry) => entry.isDirectory()),
    ).toEqual([expect.objectContaining({ name: 'sheets' })]);
    expect(
      readdirSync(apis, { recursive: true }).filter((name) => String(name).endsWith('.d.ts')),
    ).toEqual([]);

    expect(readdirSync(modules).filter((name) => name.endsWith('typescript'))).toEqual([]);

    // What a link leads to is not the image's.
    expect(existsSync(join(modules, 'zod/index.d.ts'))).toBe(true);

    const args = ['sandbox', '--port', '0', '--sheets', '--submissions', '40'];
    const sandbox = Child.cli(args, {}).killedAfter(onTestFinished);
    await sandbox.shows(/TARGET_URL=sheets:\S+\n/);
    const env = { ...parseEnv(sandbox.stdout), DATA_DIR: join(folder, 'data') };
    const cli = join(folder, 'bin/forms-mirror.js');
    // A pass would load no other module, and take its time: Google allows a request a second.
    const check = new Child(cli, ['check', '--json'], env, folder).killedAfter(onTestFinished);
    await check.ended;
    const { findings } = JSON.parse(check.stdout) as {
      findings: { subject: string; ok: boolean }[];
    };
    const ofTarget = findings.filter(({ subject }) => subject === 'target default');
    expect(ofTarget.map(({ ok }) => ok)).toContain(true);
    expect(findings.filter(({ ok }) => !ok)).toEqual([]);
  });
});
