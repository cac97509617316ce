import { describe, expect, it } from 'vitest';
import type { PassReport } from '../../src/sync/events.ts';
import { LookPlace, type LookPlaceOptions } from '../support/look-place.ts';
import { FORM, SyncPlace, type SyncPlaceOptions } from '../support/sync-place.ts';

/*
 * Between any two adjacent requests somebody submits, and somebody deletes another submission with the same status: no count moves.
 * Each claim of success is judged at the moment when it is made.
 */

/** Whether a report claims that its form is as the source had it when the run or the poll began. */
const claims = ({ outcome, absent }: PassReport): boolean => outcome === 'ok' && absent === 0;

/** A source that changes in one gap, and the claims that are made over it. */
class Gaps {
  readonly breaches: string[] = [];
  /** Requests of the tick or run that goes on. */
  asked = 0;
  #at = Infinity;
  #change = (): void => {};
  /** What came and went, in order. */
  readonly #changes: { readonly formId: string; readonly id: string; readonly isGone: boolean }[] =
    [];
  readonly #live: (formId: string) => ReadonlySet<string>;

  constructor(live: (formId: string) => ReadonlySet<string>) {
    this.#live = live;
  }

  came(formId: string, id: string): void {
    this.#changes.push({ formId, id, isGone: false });
  }

  went(formId: string, id: string): void {
    this.#changes.push({ formId, id, isGone: true });
  }

  /** To be made before the request with this number (from 1) is answered. */
  plan(at: number, change: () => void): void {
    [this.asked, this.#at, this.#change] = [0, at, change];
  }

  onRequest(): void {
    if (++this.asked === this.#at) this.#change();
  }

  /** How many changes there have been: what came before is to be in a claim that begins now. */
  get now(): number {
    return this.#changes.length;
  }

  judge(report: PassReport, began: number): void {
    if (!claims(report)) return;
    const live = this.#live(report.form.id);
    const ends = new Map(this.#changes.map(({ id, isGone }) => [id, isGone]));
    for (const { formId, id, isGone } of this.#changes.slice(0, began)) {
      if (formId !== report.form.id || ends.get(id) !== isGone || live.has(id) !== isGone) continue;
      const what = isGone ? 'was deleted, and is live here' : 'came, and is missing here';
      const who = report.byLook === true ? 'a poll' : `a run (${report.kind})`;
      this.breaches.push(`request ${this.#at}: ${who} claims ${formId}, where ${id} ${what}`);
    }
  }
}

describe('a poll, while somebody submits and somebody deletes', () => {
  const worlds: [string, LookPlaceOptions][] = [
    ['of a workspace whose forms are all mirrored', {}],
    ['of some of the forms', { env: { TARGET_FORMS: 'f0,f1' } }],
    ['where the workspace can not be asked', { behaviour: { workspaceList: 'refused' } }],
  ];

  /** In which forms a submission is deleted before the poll, and then one comes and another goes. */
  const places = [
    ['f0', 'f0', 'f1'],
    ['f0', 'f1', 'f1'],
  ] as const;

  it.each(worlds)('L17, L2: claims nothing that is not so: %s', async (_name, world) => {
    const { behaviour, ...options } = world;
    const place = await LookPlace.open({
      forms: 3,
      each: 25,
      behaviour: { maxLimit: 20, ...behaviour },
      ...options,
    });
    await place.settle();
    const gaps = new Gaps(
      (formId) =>
        new Set(
          (JSON.parse(place.rows('default', formId)) as [string, { _deleted_at: unknown }][])
            .filter(([, row]) => row._deleted_at === null)
            .map(([id]) => id),
        ),
    );
    place.onRequest = () => gaps.onRequest();
    await using app = place.process();
    const began = new Map<string, number>();
    let polled = 0;
    app.events.on('pass.started', ({ passId }) => began.set(passId, gaps.now));
    app.events.on('pass.ended', (report) => gaps.judge(report, began.get(report.passId) ?? polled));
    const tick = async (): Promise<void> => {
      polled = gaps.now;
      await place.tickOf(app);
    };
    const remove = (formId: string): void => {
      const id = place.oldest(formId);
      place.store.delete(id);
      gaps.went(formId, id);
    };
    let cases = 0;
    for (const [before, comes, goes] of places) {
      for (let at = 1, last = 1; at <= last; at++) {
        remove(before);
        gaps.plan(at, () => {
          gaps.came(comes, place.submit(comes));
          remove(goes);
        });
        await tick();
        last = Math.max(last, gaps.asked);
        gaps.plan(Infinity, () => {});
        place.submit(before);
        place.submit(goes);
        await tick();
        cases++;
      }
    }
    expect(gaps.breaches).toEqual([]);
    expect(cases).toBeGreaterThan(30);
    expect(
      place.differences('default', options.env === undefined ? undefined : ['f0', 'f1']),
    ).toEqual([]);
  });
});

describe('a run, while somebody submits and somebody deletes', () => {
  const worlds: [string, Partial<SyncPlaceOptions['behaviour']>, boolean][] = [
    ['that compares counts', {}, true],
    ['that looks for newcomers', {}, false],
    ['of a list in no order', { sort: 'ignored', baseOrder: 'id' }, true],
  ];

  it.each(worlds)(
    'L17, L2: claims nothing that is not so: %s',
    async (_name, behaviour, compareCounts) => {
      const place = await SyncPlace.open({ behaviour: { maxLimit: 10, ...behaviour } });
      const submit = (): string => {
        place.wait(3 * 60 * 60_000);
        return place.submit();
      };
      for (let n = 0; n < 130; n++) submit();
      expect((await place.pass('full')).outcome).toBe('ok');
      const gaps = new Gaps(() => new Set(place.liveIds()));
      place.onRequest = () => gaps.onRequest();
      let began = 0;
      place.onEvents = (events) => {
        events.on('pass.ended', (report) => gaps.judge(report, began));
      };
      const run = async (): Promise<void> => {
        began = gaps.now;
        await place.pass('incremental', { compareCounts });
      };
      const remove = (nth: number): void => {
        const id = place.store.ids(FORM)[nth] ?? '';
        place.store.delete(id);
        gaps.went(FORM, id);
      };
      let cases = 0;
      // What was deleted before makes a pair with the newcomer; or another one does, as well.
      for (let at = 2, last = 1; at <= 2 * last + 1; at++) {
        remove(40);
        const isPair = at % 2 === 1;
        gaps.plan(at >> 1, () => {
          gaps.came(FORM, submit());
          if (isPair) remove(90);
        });
        await run();
        last = Math.max(last, Math.min(gaps.asked, 60));
        gaps.plan(Infinity, () => {});
        submit();
        await run();
        cases++;
      }
      expect(gaps.breaches).toEqual([]);
      expect(cases).toBeGreaterThan(5);
    },
  );
});
