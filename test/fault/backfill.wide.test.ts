import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import { ChildPlace } from '../support/child-place.ts';
import { MirrorView } from '../support/mirror-view.ts';
import { breachesOf } from '../support/settled.ts';

const SOON = { timeout: 180_000, interval: 50 };

async function expectSound(view: MirrorView): Promise<void> {
  expect(await view.ask('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
}

describe('a backfill of 50,000 by `start`, on embedded defaults', { timeout: 600_000 }, () => {
  it('L5: the table equals the source after a SIGTERM and a kill -9, each in the middle, and its file can be mailed', async () => {
    const store = createSampleWorkspace({ submissions: 50_000, forms: 1 });
    const children = await ChildPlace.open({ store });
    const view = new MirrorView(children.targetUrl);
    const formId = store.forms()[0]?.id ?? '';
    const holds = (rows: number): Promise<void> =>
      vi.waitFor(async () => {
        expect(await view.count(formId)).toBeGreaterThanOrEqual(rows);
      }, SOON);
    const env = { SYNC_EVERY: '1s' };

    const stopped = children.start(['start'], env);
    await holds(6_000);
    expect(await stopped.end('SIGTERM')).toEqual({ code: 0, signal: null });
    const [run] = await view.ask('SELECT outcome, inserted FROM mirror_runs');
    const rows = await view.count(formId);
    expect(rows).toBeLessThan(50_000);
    // The batch in progress was finished and counted.
    expect(run).toEqual({ outcome: 'stopped', inserted: rows });

    const killed = children.start(['start'], env);
    await holds(rows + 9_000);
    expect(await killed.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await expectSound(view);
    expect(await view.count(formId)).toBeLessThan(50_000);
    const claimed = 'SELECT rows, submissions_as_of IS NULL AS isOpen FROM freshness';
    expect(await view.ask(claimed)).toMatchObject([{ isOpen: 1 }]);

    const last = children.start(['start'], env);
    await vi.waitFor(async () => {
      expect(await view.ask(claimed)).toEqual([{ rows: 50_000, isOpen: 0 }]);
    }, SOON);
    expect(await breachesOf(store, view)).toEqual([]);
    // The main file has everything, also while the program runs.
    const [file, mailed] = ['copy.sqlite', 'mailed.sqlite'].map((name) =>
      join(children.folder, name),
    ) as [string, string];
    await vi.waitFor(async () => {
      copyFileSync(file, mailed);
      const copy = new MirrorView(`sqlite:${mailed}`);
      expect(await copy.ask(claimed)).toEqual([{ rows: 50_000, isOpen: 0 }]);
    }, SOON);
    expect(await last.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(existsSync(`${file}-wal`)).toBe(false);
    await expectSound(view);
  });
});
