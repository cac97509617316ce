import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FormWriter, Target } from '../../src/mirror/target.ts';
import type { SqlPlace } from '../contract/sql-target.ts';
import { AT_ONCE, FORM, NAME, row, sorted } from '../contract/target-harness.ts';
import { Child } from '../support/child.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { postgresPlace } from '../support/postgres-place.ts';
import { postgresMissing } from '../support/servers.ts';

const CHILD = join(import.meta.dirname, '../support/window-child.ts');
const TO = '2026-01-01T00:00:00.000Z';
const WINDOW = { from: null, to: TO };
const SOON = { timeout: 60_000, interval: 50 };

describe.skipIf(postgresMissing())('processes that write windows of one form', () => {
  let server: { url: string };
  let place: SqlPlace;
  let target: Target;
  let form: FormWriter;
  beforeAll(async () => {
    server = await lentPostgres();
  });
  beforeEach(async () => {
    place = await postgresPlace(server);
    target = await place.open();
    form = await target.openWriter(FORM, AT_ONCE);
    await form.prepare([NAME]);
    return async () => {
      await form[Symbol.asyncDispose]();
      await target[Symbol.asyncDispose]();
      await place.dispose();
    };
  });

  it('L5, L13: one killed with -9 leaves whole batches, exact counts and its window to the next', async ({
    onTestFinished,
  }) => {
    const child = new Child(CHILD, [place.url, TO]).killedAfter(onTestFinished);
    await child.shows(/^stored 3$/m);
    await expect(target.openWindowWriter(FORM.id, WINDOW, AT_ONCE)).rejects.toMatchObject({
      code: 'TARGET_BUSY',
      message: expect.stringContaining(`process ${child.pid}`),
    });
    await Promise.all([
      form.apply([row('beside', { field_1_a: 'form' })], []),
      child.end('SIGKILL'),
    ]);
    await using next = await target.openWindowWriter(FORM.id, WINDOW, { waitMs: 30_000 });
    await next.prepare([NAME]);
    await next.apply([row('after', { field_1_a: 'next' })], []);
    const ids = await sorted(next.liveIds());
    expect((ids.length - 2) % 20).toBe(0);
    expect(await next.losses()).toEqual([]);
    expect((await target.overview())[0]?.rows).toBe(ids.length);
  });

  it('L13: one that is stopped loses its window after a while, and writes nothing when it wakes up', async ({
    onTestFinished,
  }) => {
    const child = new Child(CHILD, [place.url, TO, '1500']).killedAfter(onTestFinished);
    await child.shows(/^stored 3$/m);
    child.process.kill('SIGSTOP');
    await using next = await target.openWindowWriter(FORM.id, WINDOW, { waitMs: 60_000 });
    // In the middle of a batch or not, it holds up nobody.
    await form.prepare([NAME, { ...NAME, id: 'field_2_b', label: 'Another', position: 1 }]);
    const before = await sorted(next.liveIds());
    child.process.kill('SIGCONT');
    await vi.waitFor(() => expect(child.stdout).toMatch(/^lost TARGET_/m), SOON);
    expect(await sorted(next.liveIds())).toEqual(before);
    expect(await next.losses()).toEqual([]);
  });
});
