import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PickedField } from '../../src/mirror/types.ts';
import { propertyRuns } from '../support/property.ts';
import { TestClock } from '../support/test-clock.ts';
import { AGE, AT_ONCE, CHECKPOINT, field, FORM, NAME, pass, row } from './target-harness.ts';
import { BEGIN, isTrue, MINUTE, minute, rowVersions, timeOf } from './row-versions.ts';
import type { QueriedStage } from './sql-target.ts';

const FIELDS = [NAME, AGE];
const full = pass({ kind: 'full' });

/** What the SQL targets keep of the versions of rows, where they are told to. */
export function describeRowHistory(stage: QueriedStage): void {
  describe('the history of rows', () => {
    const versions = rowVersions(stage);
    const { write, named, apply, sql, versionsOf } = versions;

    it('has a version for each edit, deletion and restoration, however often', async () => {
      await apply(named('a', 'Ada'));
      await apply(named('a', 'Ada'));
      await apply(named('a', 'Eva'));
      for (let round = 0; round < 2; round++) {
        await write((writer) => writer.markDeleted(['a'], minute(3)));
        await apply(named('a', 'Eva'));
      }
      expect(await versionsOf('a')).toEqual([
        ['Ada', false, minute(0), minute(2)],
        ['Eva', false, minute(2), minute(3)],
        ['Eva', true, minute(3), minute(4)],
        ['Eva', false, minute(4), minute(5)],
        ['Eva', true, minute(5), minute(6)],
        ['Eva', false, minute(6), null],
      ]);
    });

    it('does not say that what is deleted was there while it was hashed', async () => {
      await apply(named('a', 'Ada'));
      await write((writer) => writer.markDeleted(['a'], minute(1)));
      await write(async (writer) => {
        await writer.apply([named('a', 'h1')], []);
        await writer.markDeleted(['a'], minute(1), { again: true });
      });
      expect(await versionsOf('a')).toEqual([
        ['Ada', false, minute(0), minute(1)],
        ['Ada', true, minute(1), minute(2)],
        ['h1', true, minute(2), null],
      ]);
    });

    it('follows new columns, and labels that change change nothing', async () => {
      await apply(named('a', 'Ada'));
      const fields = [field('field_1_a', 'Your name'), AGE, field('field_3_c', 'City')];
      const moved = row('a', { field_1_a: 'Ada', field_2_b: 'many', field_3_c: 'Brno' });
      await write((writer) => writer.apply([row('b', { field_2_b: 7 })], []), { fields });
      await write((writer) => writer.apply([moved], []), { fields });
      expect(
        await sql(
          'SELECT id, full_name, age_text, city FROM {contact_form_history} ORDER BY _valid_from, id',
        ),
      ).toEqual([
        { id: 'a', full_name: 'Ada', age_text: null, city: null },
        { id: 'b', full_name: null, age_text: null, city: null },
        { id: 'a', full_name: 'Ada', age_text: 'many', city: 'Brno' },
      ]);
    });

    it('begins with what is there when it is turned on, and tells nothing of the time when it was off', async () => {
      const off = { history: 'status' as const };
      await write((writer) => writer.apply([named('a', 'Ada'), named('b', 'Bo')], []), off);
      await write(async () => {});
      await write((writer) => writer.apply([named('a', 'Eva')], []), off);
      await write((writer) => writer.markDeleted(['b'], minute(3)), off);
      await apply(named('a', 'Eva'));
      expect(await versionsOf('a')).toEqual([
        ['Ada', false, minute(1), minute(2)],
        ['Eva', false, minute(4), null],
      ]);
      expect(await versionsOf('b')).toEqual([
        ['Bo', false, minute(1), minute(2)],
        ['Bo', true, minute(4), null],
      ]);
    });

    it('keeps its name where it was dropped, and another form would take it', async () => {
      await apply(named('a', 'Ada'));
      await sql('DROP TABLE {contact_form_history}');
      await using target = await stage.place.open('default', versions.clock);
      await using writer = await target.openWriter(
        { ...FORM, id: 'frm_other', slug: 'contact-form-history' },
        AT_ONCE,
      );
      await writer.prepare(FIELDS);
      await apply(named('a', 'Eva'));
      expect(await versionsOf('a')).toEqual([['Eva', false, minute(1), null]]);
    });

    it('ends what did not come back after a loss, hashed or not', async () => {
      const takePass = (...rows: ReturnType<typeof row>[]) =>
        write(async (writer) => {
          await writer.losses();
          await writer.apply(rows, []);
          await writer.finish(full, { checkpoint: CHECKPOINT });
        });
      await takePass(named('a', 'Ada'), named('b', 'Bo'), named('c', 'Cy'));
      await stage.place.damage?.dropPlace();
      await takePass(named('a', 'Ada'), named('c', 'Cy'));
      expect(await versionsOf('b')).toEqual([['Bo', false, minute(0), minute(1)]]);
      await stage.place.damage?.deleteRows(['c']);
      await takePass(named('a', 'Ada'));
      expect((await versionsOf('c')).at(-1)).toEqual(['Cy', false, minute(1), minute(2)]);
      expect((await versionsOf('a')).at(-1)).toEqual(['Ada', false, minute(1), null]);
    });

    it('never overlaps where it is turned on again by a clock that was set back', async () => {
      const off = { history: 'status' as const };
      await apply(named('a', 'Ada'));
      await write((writer) => writer.apply([named('a', 'Ada')], []), off);
      versions.setClock(new TestClock(BEGIN + MINUTE / 2));
      await apply(named('a', 'Eva'));
      const [first, second] = [minute(0), minute(1)];
      const after = new Date(BEGIN + MINUTE + 1).toISOString();
      expect(await versionsOf('a')).toEqual([
        ['Ada', false, first, second],
        ['Ada', false, second, after],
        ['Eva', false, after, null],
      ]);
      await write((writer) => writer.apply([named('a', 'Eva')], []), off);
      versions.setClock(new TestClock(BEGIN));
      await apply(named('a', 'Ida'));
      const ends = (await versionsOf('a')).map(([, , from, to]) => [from, to]);
      for (const [nth, [from]] of ends.slice(1).entries())
        expect(String(from) >= String(ends[nth]?.[1])).toBe(true);
    });

    it('never goes back in time where a clock does', async () => {
      await apply(named('a', 'Ada'));
      await apply(named('a', 'Eva'));
      versions.setClock(new TestClock(BEGIN - MINUTE));
      await apply(named('a', 'Ida'));
      // What was stored by the clock that was ahead is told as well.
      const after = new Date(BEGIN + MINUTE + 1).toISOString();
      expect(await versionsOf('a')).toEqual([
        ['Ada', false, minute(0), minute(1)],
        ['Eva', false, minute(1), after],
        ['Ida', false, after, null],
      ]);
    });

    it('L18: is left by what is forgotten, purged, or no longer picked', async () => {
      await apply(named('a', 'Ada'), named('b', 'Bo'), named('c', 'Cy'));
      await apply(named('a', 'Eva'), named('b', 'Bob'), named('c', 'Cyd'));
      await stage.place.damage?.deleteRows(['a']);
      expect(await (await stage.read()).traces(['a'])).toMatchObject({ rows: 0, history: 3 });
      await write((writer) => writer.forget(['a'], minute(9)));
      await write((writer) => writer.markDeleted(['b'], minute(3)));
      await write((writer) => writer.purgeDeleted(minute(8)));
      expect([await versionsOf('a'), await versionsOf('b')]).toEqual([[], []]);
      // One row, and what it was before.
      expect(await (await stage.read()).countFilled([NAME.id])).toBe(2);
      expect(await write((writer) => writer.emptyFields([NAME.id], minute(9)))).toBe(2);
      expect(await sql('SELECT DISTINCT full_name FROM {contact_form_history}')).toEqual([
        { full_name: null },
      ]);
    });

    it('L18: is left by a purge of what people removed the row of, once it is known to be gone', async () => {
      await apply(named('a', 'Ada'), named('b', 'Bo'));
      await stage.place.damage?.deleteRows(['a']);
      const count = async () => (await stage.read()).countDeleted(minute(60));
      // Nobody knows yet whether it comes back.
      expect(await count()).toBe(0);
      await write(async (writer) => {
        await writer.losses();
        await writer.apply([named('b', 'Bo')], []);
        await writer.finish(full, { checkpoint: CHECKPOINT });
      });
      expect(await count()).toBe(1);
      expect(await (await stage.read()).countDeleted(minute(1))).toBe(0);
      expect(await write((writer) => writer.purgeDeleted(minute(60)))).toMatchObject({ rows: 0 });
      expect([await versionsOf('a'), await count()]).toEqual([[], 0]);
      expect((await versionsOf('b')).length).toBe(1);
    });

    it('L18: leaves no plain answer where the pass that hashed the rows died before its end', async () => {
      const fields = [{ ...NAME, hashed: true }];
      await apply(named('a', 'Ada'));
      await write((writer) => writer.apply([named('a', 'h1')], []), { fields });
      await write(
        async (writer) => {
          await writer.apply([named('a', 'h1')], []);
          await writer.finish(full, { checkpoint: { ...CHECKPOINT, provenFor: 'p.h.f.1-x.k' } });
        },
        { fields },
      );
      expect((await versionsOf('a')).map(([name]) => name)).toEqual([null, 'h1']);
    });

    it('L18: a purge reaches what only the history holds any more', async () => {
      await apply(row('a', { field_1_a: 'Ada', field_2_b: 7 }));
      await apply(row('a', { field_1_a: 'Ada', field_2_b: 'many' }));
      await stage.place.damage?.dropPlace();
      await write((writer) => writer.apply([row('a', { field_2_b: 7 })], []), { fields: [AGE] });
      const filled = async () =>
        (await stage.target.overview())[0]?.filledFields.map(({ id }) => id);
      expect(await filled()).toEqual([NAME.id, AGE.id]);
      const both = [NAME.id, AGE.id];
      await write((writer) => writer.emptyFields(both, minute(9)), { fields: [AGE] });
      expect(await filled()).toEqual([]);
      expect(
        await sql('SELECT DISTINCT full_name, age, age_text FROM {contact_form_history}'),
      ).toEqual([{ full_name: null, age: null, age_text: null }]);
    });

    it('is told to other tools, and to people who ask what is there', async () => {
      await apply(named('a', 'Ada'));
      const relations = (await stage.target.relations())?.relations ?? [];
      const own = relations.find(({ name }) => name === 'contact_form_history');
      const names = own?.columns.map(({ name }) => name) ?? [];
      const all = 'id status created_at full_name _valid_from _valid_to _is_deleted'.split(' ');
      expect(names).toEqual(all);
      expect(own?.columns.some(({ isUnique }) => isUnique)).toBe(false);
    });

    it('can be shortened: what was true since then stays', async () => {
      for (const name of ['Ada', 'Eva', 'Ida']) await apply(named('a', name));
      await using target = await stage.place.open('default', versions.clock, 'full');
      expect(await target.pruneHistory?.(FORM, minute(1), AT_ONCE)).toBe(1);
      expect((await versionsOf('a')).map(([name]) => name)).toEqual(['Eva', 'Ida']);
      await target.pruneHistory?.(FORM, minute(9), AT_ONCE);
      expect((await versionsOf('a')).map(([name]) => name)).toEqual(['Ida']);
    });

    type Change =
      | { kind: 'submit' | 'delete' | 'restore'; id: string }
      | { kind: 'edit'; id: string; name: string }
      | { kind: 'status' | 'mark'; id: string; status: string };
    const id = fc.constantFrom('a', 'b', 'c');
    const status = fc.constantFrom('NEW', 'PAID', 'DONE');
    const change: fc.Arbitrary<Change> = fc.oneof(
      fc.record({
        kind: fc.constantFrom('submit' as const, 'delete' as const, 'restore' as const),
        id,
      }),
      fc.record({ kind: fc.constant('edit' as const), id, name: fc.constantFrom('', 'x', 'y') }),
      fc.record({ kind: fc.constantFrom('status' as const, 'mark' as const), id, status }),
    );
    const passes = fc.record({
      changes: fc.array(change, { maxLength: 4 }),
      minutes: fc.constantFrom(0, 1, 1, 5),
      label: fc.constantFrom('Full name', 'Name'),
    });

    it('replayed, equals the source at every instant that a pass saw', async () => {
      let case_ = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(passes, { minLength: 1, maxLength: 8 }), async (all) => {
          const form = { ...FORM, id: `frm_${++case_}`, slug: `case-${case_}` };
          const time = new TestClock(BEGIN);
          const source = new Map<string, { name: string; status: string; gone: boolean }>();
          const seen = new Map<number, [string, string, string | null, boolean][]>();
          await using target = await stage.place.open('default', time, 'full');
          for (const { changes, minutes, label } of all) {
            const marked = new Map<string, string>();
            for (const one of changes) {
              const before = source.get(one.id);
              if (one.kind === 'submit' && before === undefined)
                source.set(one.id, { name: 'x', status: 'NEW', gone: false });
              else if (before === undefined) continue;
              else if (one.kind === 'delete') before.gone = true;
              else if (one.kind === 'restore') before.gone = false;
              else if (one.kind === 'edit') before.name = one.name;
              else if (one.kind === 'status') before.status = one.status;
              else if (one.kind === 'mark') marked.set(one.id, one.status);
            }
            const fields: PickedField[] = [field('field_1_a', label), AGE];
            await using writer = await target.openWriter(form, AT_ONCE);
            await writer.prepare(fields);
            const live = [...source].filter(([, { gone }]) => !gone);
            await writer.apply(
              live.map(([key, one]) => named(key, one.name, one.status)),
              [],
            );
            const gone = [...source].filter(([, one]) => one.gone).map(([key]) => key);
            await writer.markDeleted(gone, minute(0));
            for (const key of marked.keys()) if (source.get(key)?.gone === true) marked.delete(key);
            for (const [key, to] of marked) source.get(key)!.status = to;
            await writer.setStatuses(marked);
            seen.set(
              time.now(),
              [...source].map(([key, one]) => [key, one.status, one.name || null, one.gone]),
            );
            await time.sleep(minutes * MINUTE);
          }
          const table = `{case_${case_}_history}`;
          const present = await sql(`SELECT * FROM ${table}`);
          for (const [nowMs, rows] of seen) {
            const at = new Date(nowMs).toISOString();
            const then = present.filter(
              (one) =>
                (timeOf(one['_valid_from']) ?? '') <= at &&
                (one['_valid_to'] === null || (timeOf(one['_valid_to']) ?? '') > at),
            );
            const held = then.map((one) => [
              one['id'],
              one['status'],
              Object.entries(one).find(([name]) => name.endsWith('name'))?.[1] || null,
              isTrue(one['_is_deleted']),
            ]);
            const byId = (one: unknown[], two: unknown[]) =>
              String(one[0]) < String(two[0]) ? -1 : 1;
            expect(held.sort(byId)).toEqual(rows.toSorted(byId));
          }
        }),
        propertyRuns(12),
      );
    });
  });
}
