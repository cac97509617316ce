import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { DataDir } from '../../src/health/data-dir.ts';
import type { OutcomeName } from '../../src/mirror/form-state.ts';
import { blankRun, type RunReport } from '../../src/sync/run-form.ts';
import { pathsBelow } from '../support/file-modes.ts';
import { scratchFolder } from '../support/scratch.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { FORM_A, FORM_B, HOUR, MINUTE, NOW } from './facts.ts';

let folder: string;
let dataDir: DataDir;
beforeEach(() => {
  folder = join(scratchFolder('data-dir'), 'data');
  dataDir = new DataDir(folder);
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

/** How a run ended, `agoMs` before NOW. */
function ended(outcome: OutcomeName, agoMs = 0, form = FORM_A, target = 'db'): RunReport {
  const failure = new MirrorError('TARGET_FULL', 'No room.', { cause: new Error('an answer') });
  return { ...blankRun(form, target, failure, NOW - agoMs, NOW - agoMs), outcome };
}

describe('DATA_DIR', () => {
  it('records failed runs, since the first in a row, of each form in each target', async () => {
    for (const agoMs of [HOUR, MINUTE]) await dataDir.noteRun(ended('failed', agoMs), 'a');
    await dataDir.noteRun(ended('gone', 0, FORM_B), 'a');
    await dataDir.noteRun(ended('failed', 0, FORM_A, 'sheet ../../x'), 'a');
    const { runs } = await new DataDir(folder).kept();
    expect(runs).toHaveLength(3);
    expect(runs.find(({ target, form }) => target === 'db' && form.id === FORM_A.id)).toEqual({
      target: 'db',
      address: 'a',
      form: FORM_A,
      outcome: 'failed',
      code: 'TARGET_FULL',
      error: 'No room.',
      startedAtMs: NOW - MINUTE,
      endedAtMs: NOW - MINUTE,
      sinceMs: NOW - HOUR,
    });
    await dataDir.runs.remove(['db', 'a', FORM_B.id]);
    expect((await dataDir.kept()).runs).toHaveLength(2);
  });

  it.each<[OutcomeName, boolean]>([
    ['ok', false],
    ['held', false],
    ['incomplete', false],
    ['busy', true],
    ['paused', true],
    ['stopped', true],
  ])('after a run that ended %s: the failure is recorded: %s', async (outcome, isKept) => {
    await dataDir.noteRun(ended('failed', HOUR), 'a');
    await dataDir.noteRun(ended(outcome), 'a');
    expect((await dataDir.kept()).runs).toHaveLength(isKept ? 1 : 0);
  });

  it('records that the source would not list its forms until it does; no fault of another part', async () => {
    const away = new MirrorError('FORMS_FAILED', 'away');
    await dataDir.noteSource(away, NOW - HOUR);
    await dataDir.noteSource(away, NOW);
    await dataDir.noteSource(new MirrorError('SETTINGS', 'wrong'), NOW + 1);
    await dataDir.noteSource(new MirrorError('CANCELLED', 'stopped'), NOW + 1);
    const source = { code: 'FORMS_FAILED', message: 'away', sinceMs: NOW - HOUR, atMs: NOW };
    expect((await dataDir.kept()).source).toEqual(source);
    await dataDir.noteSource(null, NOW);
    expect((await dataDir.kept()).source).toBeNull();
  });

  it('L11, L15: contains no cause of an error', async () => {
    await dataDir.noteRun(ended('failed'), 'a');
    const paths = pathsBelow(folder);
    const file = paths.find((path) => path.endsWith('.json'));
    expect(await readFile(file ?? '', 'utf8')).not.toContain('an answer');
    expect(paths).toHaveLength(3);
  });

  it('recognizes that a copy is gone if this target at this address has held it', async () => {
    const note = (outcome: OutcomeName, address = 'a') => dataDir.noteCopy(ended(outcome), address);
    const lose = (atMs: number, address = 'a') => dataDir.noteLoss('db', address, FORM_A.id, atMs);
    expect(await lose(1)).toBe(false);
    await note('failed');
    expect(await dataDir.refills('db', 'a')).toEqual(new Map());
    await note('ok');
    expect(await dataDir.refills('db', 'a')).toEqual(new Map([[FORM_A.id, null]]));
    expect(await lose(4)).toBe(true);
    await note('held');
    expect(await dataDir.refills('db', 'a')).toEqual(new Map([[FORM_A.id, 4]]));
    expect(await dataDir.refills('db', 'b')).toEqual(new Map());
    expect(await dataDir.refills('sheet', 'a')).toEqual(new Map());
    // Another database under the same name is new, not emptied.
    expect(await lose(6, 'b')).toBe(false);
    await note('ok', 'b');
    expect(await dataDir.refills('db', 'b')).toEqual(new Map([[FORM_A.id, null]]));
  });

  it('leaves out damaged records and those of another build, and writes them again', async () => {
    await dataDir.noteRun(ended('failed', HOUR), 'a');
    const [name = ''] = await readdir(join(folder, 'failures'));
    const path = join(folder, 'failures', name);
    for (const text of [
      '',
      '{"version":8',
      '{"version":8,"kept":{"target":1}}',
      '{"version":3,"kept":{}}',
      'null'.repeat(2),
    ]) {
      await writeFile(path, text);
      expect((await dataDir.kept()).runs).toEqual([]);
    }
    await writeFile(`${path}.1f`, 'half');
    await dataDir.noteRun(ended('failed'), 'a');
    expect((await dataDir.kept()).runs).toMatchObject([{ sinceMs: NOW }]);
  });

  it('shows whether records can be written', async () => {
    expect(await dataDir.problem()).toBeNull();
    await dataDir.noteRun(ended('failed'), 'a');
    expect(await dataDir.problem()).toBeNull();
    const inFile = new DataDir(join(folder, 'file', 'x'));
    await writeFile(join(folder, 'file'), '');
    for (const dir of [inFile, new DataDir(join(folder, 'file'))])
      expect((await dir.problem())?.message).toContain(
        'cannot be written, so a failure that no target',
      );
  });

  it('whose records cannot be read is reported', async () => {
    await mkdir(folder);
    // In place of a folder.
    await writeFile(join(folder, 'failures'), '');
    expect(await dataDir.facts()).toMatchObject({
      kept: { runs: [], source: null },
      problem: { code: 'DATA_DIR', message: expect.stringContaining('cannot be read (ENOTDIR)') },
    });
    await rm(join(folder, 'failures'));
    expect((await dataDir.facts()).problem).toBeNull();
  });

  it('that is full is reported, and a write leaves no partial file', async ({ skip }) => {
    const disk = mountSmallDisk(4);
    if (disk === undefined) return skip('no file system may be mounted');
    try {
      const small = new DataDir(disk.folder);
      await small.noteRun(ended('failed', HOUR), 'a');
      disk.fill();
      expect((await small.problem())?.message).toContain('is on a full disk');
      await expect(small.noteRun(ended('failed'), 'a')).rejects.toMatchObject({ code: 'ENOSPC' });
      expect((await small.kept()).runs).toMatchObject([{ endedAtMs: NOW - HOUR }]);
      expect(await readdir(join(disk.folder, 'failures'))).toHaveLength(1);
      disk.empty();
      disk.setReadOnly(true);
      expect((await small.problem())?.message).toContain('cannot be written');
    } finally {
      disk.unmount();
    }
  });
});
