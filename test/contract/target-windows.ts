import { describe, expect, it } from 'vitest';
import { uncutForm, unreadWindow, type WindowRecord } from '../../src/mirror/window.ts';
import {
  AGE,
  CHECKPOINT,
  type Damage,
  NAME,
  pass,
  row,
  type TargetStage,
} from './target-harness.ts';

const MAY = '2026-05-01T00:00:00.000Z';
const OLDER = unreadWindow({ from: null, to: MAY }, 21_000);
const NEWER = unreadWindow({ from: MAY, to: null }, 12_000);
const PROVEN: WindowRecord = {
  ...OLDER,
  total: 20_990,
  provenAt: '2026-06-01T10:00:00.000Z',
  provenFor: 'abc.0.def',
  deleted: 7,
  absent: 3,
  unstored: '[["NEW",2]]',
  open: false,
};

/** The windows of a form, and what was proven of them. */
export function describeWindows(stage: TargetStage): void {
  describe('windows', () => {
    const windows = async (): Promise<readonly WindowRecord[]> => (await stage.read()).windows();
    const plan = (...planned: WindowRecord[]): Promise<void> =>
      stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.planWindows(planned);
      });

    it('are none in a form that is read whole', async () => {
      await stage.write((writer) => writer.prepare([NAME]));
      expect(await windows()).toEqual([]);
      await stage.write(async (writer) => expect(await writer.windows()).toEqual([]));
    });

    it('are kept as they were planned, and each as it was proven', async () => {
      await plan(OLDER, NEWER);
      expect(await windows()).toEqual([OLDER, NEWER]);
      await stage.write(async (writer) => {
        await writer.saveWindow(PROVEN);
        expect(await writer.windows()).toEqual([PROVEN, NEWER]);
      });
      expect(await windows()).toEqual([PROVEN, NEWER]);
    });

    it('are replaced when the form is cut anew; what was not planned is not kept', async () => {
      await plan(OLDER, NEWER);
      await plan(uncutForm(33_000, MAY));
      await stage.write((writer) => writer.saveWindow(PROVEN));
      expect(await windows()).toEqual([uncutForm(33_000, MAY)]);
      await plan();
      expect(await windows()).toEqual([]);
    });

    it('stay open until they are proven, or a full pass is', async () => {
      await plan(PROVEN, NEWER);
      await stage.write((writer) => writer.finish(pass(), { checkpoint: CHECKPOINT }));
      await stage.write((writer) => writer.finish(pass({ kind: 'full', outcome: 'failed' }), {}));
      expect(await windows()).toEqual([PROVEN, NEWER]);
      const full = pass({ kind: 'full' });
      await stage.write((writer) => writer.finish(full, { checkpoint: CHECKPOINT }));
      expect(await windows()).toEqual([PROVEN, { ...NEWER, open: false }]);
    });

    it('account for what was forgotten of them, as the source counts it all the same', async () => {
      const known = { ...PROVEN, ...NEWER, unstored: '[]' };
      await plan(PROVEN, known);
      await stage.write((writer) => writer.apply([row('a', {}), row('b', {})], []));
      await stage.write((writer) => writer.forget(['a', 'never seen'], MAY));
      expect(await windows()).toEqual([{ ...PROVEN, unstored: '[["NEW",3]]' }, known]);
      await stage.write((writer) => writer.forget(['a'], MAY));
      expect(await windows()).toEqual([{ ...PROVEN, unstored: '[["NEW",3]]' }, known]);
    });

    it('are forgotten with what takes the rows away that they speak of', async () => {
      await plan(PROVEN, NEWER);
      await stage.write((writer) => writer.forget(['a'], MAY));
      expect(await windows()).toEqual([PROVEN, NEWER]);
      await stage.write((writer) => writer.remember(['nobody']));
      expect(await windows()).toEqual([PROVEN, NEWER]);
      await stage.write((writer) => writer.remember(['a']));
      expect(await windows()).toEqual([]);
      await plan(PROVEN, NEWER);
      await stage.write((writer) => writer.emptyFields([NAME.id], MAY));
      expect(await windows()).toEqual([]);
    });

    const HARM: readonly [string, (damage: Damage) => Promise<void> | undefined][] = [
      ['the table or tab', (damage) => damage.dropPlace()],
      ['a column', (damage) => damage.dropAge?.()],
    ];
    it.each(HARM)(
      'L1, L17: count as proven no longer once %s is lost, each time, and stay so for who goes on',
      async (_, harm) => {
        const { damage } = stage.place;
        /** A full pass that proves the older window, and is killed. */
        const attempt = async (): Promise<readonly WindowRecord[]> =>
          stage.write(async (writer) => {
            await writer.prepare([NAME, AGE]);
            await writer.losses();
            const found = await writer.windows();
            await writer.planWindows([OLDER, NEWER]);
            await writer.apply([row('a', { field_1_a: 'x', field_2_b: 7 })], []);
            await writer.saveWindow(PROVEN);
            return found;
          });
        await attempt();
        expect(await attempt()).toEqual([PROVEN, NEWER]);
        for (let times = 0; times < 3; times++) {
          const done = damage && harm(damage);
          if (done === undefined) return;
          await done;
          const found = await attempt();
          expect(found).toMatchObject([
            { open: true, provenFor: null, provenAt: null },
            { open: true, provenFor: null, provenAt: null },
          ]);
          expect(await attempt()).toEqual([PROVEN, NEWER]);
        }
      },
    );

    it('L6: a pass over some of them keeps what others list, unless it was last met before all of them', async () => {
      const bad = { submissionId: 'bad', reason: 'has no data', stored: false };
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a')], [bad]);
      });
      const end = (comparedSince: string): Promise<unknown> =>
        stage.write((writer) =>
          writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT, comparedSince }),
        );
      await end('2020-01-01T00:00:00.000Z');
      expect((await (await stage.read()).rejections(5)).total).toBe(1);
      await end('2999-01-01T00:00:00.000Z');
      expect((await (await stage.read()).rejections(5)).total).toBe(0);
    });
  });
}
