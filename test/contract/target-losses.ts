import { beforeEach, describe, expect, it } from 'vitest';
import type { Loss } from '../../src/mirror/losses.ts';
import type { FormWriter } from '../../src/mirror/target.ts';
import {
  AGE,
  CHECKPOINT,
  type Damage,
  NAME,
  pass,
  row,
  type TargetStage,
} from './target-harness.ts';

const FIELDS = [NAME, AGE];
const ROWS = ['a', 'b', 'c', 'd'].map((id) => row(id, { field_1_a: id, field_2_b: 7 }));
const AT = '2026-03-05T10:00:00.000Z';

/** What a target says was lost (L1, L17): it counts what it stores, and compares that with what is there. */
export function describeLosses(stage: TargetStage): void {
  describe('L17: what is lost', () => {
    /** What a writer says is lost once its columns are prepared, as a pass asks it. */
    const told = (): Promise<readonly Loss[]> =>
      stage.write(async (writer) => {
        await writer.prepare(FIELDS);
        return writer.losses();
      });
    /** A full pass that is proven. */
    const readAll = (
      rows = ROWS,
      between: (writer: FormWriter) => Promise<unknown> = async () => {},
    ): Promise<void> =>
      stage.write(async (writer) => {
        await writer.prepare(FIELDS);
        await writer.losses();
        await writer.apply(rows, []);
        await between(writer);
        await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
      });
    const shown = async (): Promise<readonly Loss[] | undefined> =>
      (await stage.target.overview())[0]?.losses;

    it('is nothing when nobody touched it, whatever was stored, marked and restored', async () => {
      expect(await told()).toEqual([]);
      await readAll();
      expect(await told()).toEqual([]);
      const bad = { submissionId: 'bad', reason: 'has no data', stored: false };
      await stage.write(async (writer) => {
        await writer.prepare(FIELDS);
        await writer.apply([...ROWS.slice(0, 2), row('e')], [bad]);
        await writer.markDeleted(['a', 'b'], AT);
        await writer.setStatuses(new Map([['c', 'DONE']]));
        await writer.apply([row('a', { field_1_a: 'back' }), row('f')], []);
        await writer.apply([row('f'), row('bad')], []);
        await writer.forget(['b', 'd'], AT);
        await writer.markDeleted(['f'], AT);
        await writer.purgeDeleted('2026-03-06T10:00:00.000Z');
        await writer.finish(pass(), { checkpoint: CHECKPOINT });
      });
      expect(await told()).toEqual([]);
      expect(await shown()).toEqual([]);
      expect(await (await stage.read()).losses()).toEqual([]);
    });

    it('L5: is not believed of a column that is new: a pass that fails before it is filled leaves no checkpoint', async () => {
      await readAll();
      await stage.write((writer) =>
        writer.prepare([...FIELDS, { ...AGE, id: 'field_3_c', label: 'New', position: 2 }]),
      );
      expect(await (await stage.read()).checkpoint()).toBeUndefined();
      expect(await told()).toEqual([]);
    });

    it('L1: is not believed of a field that is picked again: what came meanwhile has no answer of it', async () => {
      await readAll();
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('e', { field_1_a: 'e' })], []);
        await writer.finish(pass(), { checkpoint: CHECKPOINT });
        expect(await writer.checkpoint()).toBeDefined();
      });
      await stage.write((writer) => writer.prepare(FIELDS));
      expect(await (await stage.read()).checkpoint()).toBeUndefined();
    });

    it('is nothing after a pass that was not proven', async () => {
      await stage.write(async (writer) => {
        await writer.prepare(FIELDS);
        await writer.apply(ROWS, []);
        await writer.finish(pass({ kind: 'full', outcome: 'incomplete' }), {});
      });
      expect(await told()).toEqual([]);
    });

    const CASES: readonly [
      string,
      (damage: Damage) => Promise<void> | undefined,
      readonly Partial<Loss>[],
    ][] = [
      ['rows that people deleted', (d) => d.deleteRows(['a', 'c']), [{ what: 'rows', missing: 2 }]],
      ['all rows', (d) => d.empty(), [{ what: 'rows', missing: 4 }]],
      ['the table or tab', (d) => d.dropPlace(), [{ what: 'place' }]],
      ['a column', (d) => d.dropAge?.(), [{ what: 'column', name: 'Age' }]],
    ];
    describe.each(CASES)('%s', (_, harm, losses) => {
      const hurt = async (): Promise<boolean> => {
        const { damage } = stage.place;
        const done = damage && harm(damage);
        await done;
        return done !== undefined;
      };
      const expected = losses.map((loss) => expect.objectContaining(loss));
      beforeEach(() => readAll());

      it('is told to writers and shown to people until a proven full pass has read everything', async () => {
        if (!(await hurt())) return;
        const isRows = losses.some(({ what }) => what === 'rows');
        const atOnce = stage.place.damage?.rowsAreCountedAtOnce === true || !isRows;
        expect(await shown()).toEqual(atOnce ? expected : []);
        expect(await (await stage.read()).losses()).toEqual(expected);
        expect(await told()).toEqual(expected);
        // The writer before may have died; an incremental pass or one without proof has not made it good.
        await stage.write(async (writer) => {
          await writer.prepare(FIELDS);
          await writer.losses();
          await writer.apply([row('new')], []);
          await writer.finish(pass(), { checkpoint: CHECKPOINT });
          await writer.finish(pass({ kind: 'full', outcome: 'incomplete' }), {});
        });
        expect(await told()).toEqual(expected);
        expect(await shown()).toEqual(expected);
        await readAll([...ROWS, row('new')]);
        expect(await told()).toEqual([]);
        expect(await shown()).toEqual([]);
      });

      it('is told although a pass has stored as many rows since', async () => {
        if (!(await hurt())) return;
        await stage.write(async (writer) => {
          await writer.prepare(FIELDS);
          await writer.apply([row('n1'), row('n2'), row('n3'), row('n4')], []);
        });
        expect(await told()).toEqual(expected);
      });

      it('is told to the next pass when it happens during a full one', async () => {
        let harmed = false;
        await readAll(ROWS, async () => {
          harmed = await hurt();
        });
        if (!harmed) return;
        expect(await told()).toEqual(expected);
      });

      it('is told to the next pass when it happens during the full pass that made another good', async () => {
        const { damage } = stage.place;
        if (damage === undefined) return;
        await damage.deleteRows(['b']);
        // The other half of what is lost, where it is rows as well.
        let harmed = false;
        await readAll(ROWS, async () => {
          harmed = await hurt();
        });
        if (!harmed) return;
        expect((await told()).length).toBeGreaterThan(0);
        await readAll();
        expect(await told()).toEqual([]);
      });
    });
  });
}
