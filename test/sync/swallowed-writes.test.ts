import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { SyncPlace } from '../support/sync-place.ts';

const execute = (place: SyncPlace, statement: string): void => {
  using database = new DatabaseSync(place.file());
  database.exec(statement);
};

describe('a trigger in the database that takes writes away', () => {
  it.each(['incremental', 'full'] as const)(
    'L17: an %s pass over a swallowed new row fails, is recorded so, and is mended by dropping the trigger',
    async (kind) => {
      const place = await SyncPlace.open({ submissions: 30 });
      await place.pass('full');
      execute(
        place,
        'CREATE TRIGGER keep BEFORE INSERT ON contact WHEN (SELECT count(*) FROM contact) >= 35 BEGIN SELECT RAISE(IGNORE); END',
      );
      place.submitMany(10);
      const report = await place.pass(kind);
      expect(report).toMatchObject({ outcome: 'failed', code: 'TARGET_FAILED', inserted: 0 });
      expect(report.error).toMatch(/a trigger or a rule, took 5 rows out .* the table contact, /);
      using database = new DatabaseSync(place.file());
      const last = 'SELECT outcome, error FROM mirror_passes ORDER BY id DESC LIMIT 1';
      expect(database.prepare(last).get()).toEqual({ outcome: 'failed', error: report.error });
      execute(place, 'DROP TRIGGER keep');
      expect(await place.pass(kind)).toMatchObject({ outcome: 'ok', inserted: 10 });
      expect(place.liveIds()).toEqual(place.sourceIds());
    },
  );

  it('L4, L17: a swallowed change is no change that is proven, at each full pass', async () => {
    const place = await SyncPlace.open({ submissions: 30 });
    await place.pass('full');
    execute(place, 'CREATE TRIGGER keep BEFORE UPDATE ON contact BEGIN SELECT RAISE(IGNORE); END');
    expect((await place.pass('full')).outcome).toBe('ok');
    place.store.setStatus(place.sourceIds()[0]!, 'PAID');
    for (let one = 0; one < 2; one++) {
      expect(await place.pass('full')).toMatchObject({ outcome: 'failed', updated: 0 });
    }
    await expect(place.mark()).rejects.toMatchObject({ code: 'TARGET_FAILED' });
  });

  it('L8, L17: nor is a swallowed deletion', async () => {
    const place = await SyncPlace.open({ submissions: 30 });
    await place.pass('full');
    place.store.delete(place.sourceIds()[0]!);
    execute(place, 'CREATE TRIGGER keep BEFORE UPDATE ON contact BEGIN SELECT RAISE(IGNORE); END');
    expect(await place.pass('full')).toMatchObject({ outcome: 'failed', deleted: 0 });
  });
});
