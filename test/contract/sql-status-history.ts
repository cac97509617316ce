import { beforeEach, describe, expect, it } from 'vitest';
import type { FormWriter } from '../../src/mirror/target.ts';
import { TestClock } from '../support/test-clock.ts';
import { AGE, AT_ONCE, CHECKPOINT, FORM, NAME, pass, row } from './target-harness.ts';
import type { QueriedStage } from './sql-target.ts';

const BEGIN = Date.UTC(2026, 2, 5);
/** The time so many minutes after the first. */
const minute = (nth: number): string => new Date(BEGIN + nth * 60_000).toISOString();
const inStatus = (id: string, status: string, cells = {}) => row(id, cells, { status });

/** What the SQL targets keep of the statuses that a submission was seen in. */
export function describeStatusHistory(stage: QueriedStage): void {
  describe('the history of statuses', () => {
    let clock: TestClock;
    beforeEach(() => {
      clock = new TestClock(BEGIN);
    });
    /** Writes once; a minute later is the next time. */
    const write = async <T>(work: (writer: FormWriter) => Promise<T>): Promise<T> => {
      await using target = await stage.place.open('default', clock);
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME, AGE]);
      const result = await work(writer);
      await clock.sleep(60_000);
      return result;
    };
    const apply = (...rows: ReturnType<typeof row>[]) => write((writer) => writer.apply(rows, []));
    const compare = (
      fullProvenAt: string,
      rest = {},
      meet: (writer: FormWriter) => Promise<unknown> = async () => {},
    ) =>
      write(async (writer) => {
        await meet(writer);
        await writer.finish(pass({ kind: 'full', startedAt: fullProvenAt }), {
          checkpoint: { ...CHECKPOINT, fullProvenAt, hidden: 0, ...rest },
        });
      });
    const sql = (text: string) =>
      stage.place.query(
        text.replaceAll(/\{(\w+)\}/g, (_, name: string) => stage.place.relation(name)),
      );
    const timeOf = (value: unknown): string | null =>
      value === null ? null : new Date(value as string).toISOString();
    /** The entries of a submission: status, `not_before`, `seen_at`. */
    const entriesOf = async (id: string) =>
      (
        await sql(
          `SELECT status, not_before, seen_at FROM {mirror_status_history}
           WHERE form_id = '${FORM.id}' AND submission_id = '${id}' ORDER BY id`,
        )
      ).map((entry) => [entry['status'], timeOf(entry['not_before']), timeOf(entry['seen_at'])]);

    it('tells when each status was seen first, and when another one was seen last', async () => {
      await apply(inStatus('a', 'NEW'), inStatus('b', 'NEW'));
      await apply(inStatus('a', 'PAID'), inStatus('b', 'NEW', { field_1_a: 'edited' }));
      await write((writer) => writer.setStatuses(new Map([['b', 'DONE']])));
      await apply(inStatus('a', 'NEW'), inStatus('b', 'DONE'));
      expect(await entriesOf('a')).toEqual([
        ['NEW', null, minute(0)],
        ['PAID', minute(0), minute(1)],
        ['NEW', minute(1), minute(3)],
      ]);
      expect(await entriesOf('b')).toEqual([
        ['NEW', null, minute(0)],
        ['DONE', minute(0), minute(2)],
      ]);
    });

    it('L4: is not written to where nothing changed, nor for an edit', async () => {
      await apply(inStatus('a', 'NEW'));
      await compare(minute(1));
      await apply(inStatus('a', 'NEW'));
      await apply(inStatus('a', 'NEW', { field_1_a: 'edited' }));
      expect(await entriesOf('a')).toEqual([['NEW', null, minute(0)]]);
    });

    it('knows a row in its former status as of the last proven comparison', async () => {
      await apply(inStatus('a', 'NEW'), inStatus('b', 'NEW'), inStatus('c', 'NEW'));
      await clock.sleep(60_000);
      await compare(minute(2), {}, (writer) =>
        writer.apply([], [{ submissionId: 'b', reason: 'is broken', stored: false }]),
      );
      await write((writer) => writer.markDeleted(['c'], minute(3)));
      await apply(inStatus('a', 'DONE'), inStatus('b', 'DONE'), inStatus('c', 'DONE'));
      expect((await entriesOf('a')).at(-1)).toEqual(['DONE', minute(2), minute(4)]);
      // What it was at the source could not be stored then.
      expect((await entriesOf('b')).at(-1)).toEqual(['DONE', minute(0), minute(4)]);
      // It was not there.
      expect((await entriesOf('c')).at(-1)).toEqual(['DONE', minute(0), minute(4)]);
    });

    it('takes no comparison for a sighting that withheld rows, or that began before the status was seen', async () => {
      await apply(inStatus('a', 'NEW'));
      await compare(minute(1), { withheld: 1 });
      await apply(inStatus('a', 'PAID'));
      await compare(minute(1));
      await apply(inStatus('a', 'DONE'));
      expect(await entriesOf('a')).toEqual([
        ['NEW', null, minute(0)],
        ['PAID', minute(0), minute(2)],
        ['DONE', minute(2), minute(4)],
      ]);
    });

    it('goes on where rows or their table were lost, and through deletion and restoration', async () => {
      await apply(inStatus('a', 'NEW'), inStatus('b', 'NEW'));
      await compare(minute(1));
      await stage.place.damage?.deleteRows(['a']);
      await apply(inStatus('a', 'NEW'), inStatus('b', 'NEW'));
      await stage.place.damage?.dropPlace();
      await apply(inStatus('a', 'NEW'), inStatus('b', 'NEW'));
      for (let round = 0; round < 2; round++) {
        await write((writer) => writer.markDeleted(['a'], minute(4)));
        await apply(inStatus('a', 'NEW'));
      }
      expect(await entriesOf('a')).toEqual([['NEW', null, minute(0)]]);
      expect(await entriesOf('b')).toEqual([['NEW', null, minute(0)]]);
    });

    it('does not claim to have seen a row that a comparison did not meet', async () => {
      await apply(inStatus('a', 'NEW'), inStatus('b', 'NEW'));
      const undecided = {
        submissionId: 'a',
        reason: 'not in the list, and not gone',
        stored: true,
      };
      await compare(minute(1), {}, (writer) => writer.apply([inStatus('b', 'NEW')], [undecided]));
      await apply(inStatus('a', 'DONE'), inStatus('b', 'DONE'));
      expect((await entriesOf('a')).at(-1)).toEqual(['DONE', minute(0), minute(2)]);
      expect((await entriesOf('b')).at(-1)).toEqual(['DONE', minute(1), minute(2)]);
    });

    it('has one entry of a row whose table was dropped before the first comparison had ended', async () => {
      await apply(inStatus('a', 'NEW'));
      await stage.place.damage?.dropPlace();
      await apply(inStatus('a', 'NEW'));
      expect(await entriesOf('a')).toEqual([['NEW', null, minute(0)]]);
    });

    it('keeps two changes in one instant apart, and never tells that a later one came before', async () => {
      await apply(inStatus('a', 'NEW'));
      await write(async (writer) => {
        for (const status of ['PAID', 'NEW', 'DONE'])
          await writer.apply([inStatus('a', status)], []);
      });
      clock = new TestClock(BEGIN - 60_000);
      await apply(inStatus('a', 'NEW'));
      expect(await entriesOf('a')).toEqual([
        ['NEW', null, minute(0)],
        ['PAID', minute(0), minute(1)],
        ['NEW', minute(1), minute(1)],
        ['DONE', minute(1), minute(1)],
        ['NEW', null, minute(-1)],
      ]);
    });

    it('begins again with the next comparison where it was dropped', async () => {
      await apply(inStatus('a', 'NEW'), inStatus('b', 'NEW'), inStatus('c', 'NEW'));
      await write((writer) => writer.markDeleted(['c'], minute(1)));
      await compare(minute(1));
      await sql('DROP TABLE {mirror_status_history}');
      await apply(inStatus('a', 'DONE'), inStatus('b', 'NEW'));
      await compare(minute(4));
      await apply(inStatus('a', 'DONE'), inStatus('b', 'DONE'));
      expect(await entriesOf('a')).toEqual([['DONE', null, minute(3)]]);
      expect(await entriesOf('b')).toEqual([
        ['NEW', null, minute(4)],
        ['DONE', minute(4), minute(5)],
      ]);
      expect(await entriesOf('c')).toEqual([]);
    });

    it('L5: is not written where the rows are not', async () => {
      await apply(inStatus('a', 'NEW'));
      await using target = await stage.place.open('default', clock);
      const writing = (async () => {
        await using writer = await target.openWriter(FORM, AT_ONCE);
        await sql('DROP TABLE {mirror_status_history}');
        await writer.prepare([NAME, AGE]);
        await writer.apply([inStatus('a', 'DONE')], []);
      })();
      await expect(writing).rejects.toMatchObject({ code: 'TARGET_FAILED' });
      expect(await sql('SELECT status FROM {contact_form}')).toEqual([{ status: 'NEW' }]);
    });

    describe('L18: what is erased', () => {
      const forget = (...ids: string[]) => write((writer) => writer.forget(ids, minute(9)));

      it('leaves it, whether or not there is a row', async () => {
        await apply(inStatus('a', 'NEW'), inStatus('b', 'NEW'));
        await apply(inStatus('a', 'DONE'));
        await stage.place.damage?.deleteRows(['b']);
        const reader = await stage.read();
        expect(await reader.traces(['a', 'b'])).toMatchObject({ rows: 1, history: 3 });
        expect(await forget('a', 'b')).toMatchObject({ rows: 1, history: 3 });
        expect(await sql('SELECT * FROM {mirror_status_history}')).toEqual([]);
        await apply(inStatus('a', 'NEW'), inStatus('b', 'NEW'));
        expect(await sql('SELECT * FROM {mirror_status_history}')).toEqual([]);
      });

      it('leaves it with the rows that a purge removes', async () => {
        await apply(inStatus('a', 'NEW'), inStatus('b', 'NEW'));
        await write((writer) => writer.markDeleted(['a'], minute(1)));
        expect(await write((writer) => writer.purgeDeleted(minute(3)))).toMatchObject({
          rows: 1,
          history: 1,
        });
        expect([await entriesOf('a'), await entriesOf('b')]).toEqual([
          [],
          [['NEW', null, minute(0)]],
        ]);
      });
    });

    it('can be shortened: what was true since then stays', async () => {
      await apply(inStatus('a', 'NEW'), inStatus('b', 'NEW'));
      for (const status of ['PAID', 'DONE', 'NEW']) await apply(inStatus('a', status));
      await using target = await stage.place.open('default', clock);
      const prune = (before: string) => target.pruneHistory?.(FORM, before, AT_ONCE);
      expect(await prune(minute(2))).toBe(1);
      expect((await entriesOf('a')).map(([status]) => status)).toEqual(['PAID', 'DONE', 'NEW']);
      expect(await prune(minute(9))).toBe(2);
      expect(await prune(minute(9))).toBe(0);
      expect(await entriesOf('a')).toEqual([['NEW', minute(2), minute(3)]]);
      expect(await entriesOf('b')).toEqual([['NEW', null, minute(0)]]);
    });
  });
}
