import { describe, expect, it } from 'vitest';
import { seededRandom } from '../seeded-random.ts';
import { type LargeSubmission, LargeWorkspace, WIRE_STATUSES } from './large-workspace.ts';

const ALL = Number.POSITIVE_INFINITY;

describe('a large workspace', () => {
  it('answers as a plain list of everything does, whatever was done to it', () => {
    const random = seededRandom(11);
    const workspace = new LargeWorkspace({ forms: 3, submissions: 400 });
    const plain = new Map<string, LargeSubmission>();
    const note = (id: string): void => void plain.set(id, workspace.get(id)!);
    for (const id of workspace.ids({}, 0, ALL)) note(id);
    expect(plain.size).toBe(400);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
    const dates = [...plain.values()].map(({ createdAt }) => Date.parse(createdAt));
    for (let step = 0; step < 300; step++) {
      const id = pick([...plain.keys()]);
      const status = pick(WIRE_STATUSES);
      if (step % 3 === 0) {
        workspace.remove(id);
        plain.delete(id);
      } else if (step % 3 === 1) {
        workspace.setStatus(id, status);
        note(id);
      } else {
        note(workspace.insert(pick(workspace.formIds), status, pick(dates)));
      }
    }
    for (let question = 0; question < 200; question++) {
      const narrowing = {
        ...(random() < 0.7 && { formId: pick(workspace.formIds) }),
        ...(random() < 0.7 && { status: pick(WIRE_STATUSES) }),
        ...(random() < 0.5 && { fromMs: pick(dates) }),
        ...(random() < 0.5 && { toMs: pick(dates) }),
      };
      const { formId, status, fromMs = -ALL, toMs = ALL } = narrowing;
      const matching = [...plain.values()].filter((each) => {
        const atMs = Date.parse(each.createdAt);
        const isIn = (formId ?? each.formId) === each.formId;
        return isIn && (status ?? each.status) === each.status && atMs >= fromMs && atMs <= toMs;
      });
      expect(workspace.count(narrowing)).toBe(matching.length);
      const newestFirst = workspace.ids(narrowing, 0, ALL);
      expect(newestFirst.toSorted()).toEqual(matching.map(({ id }) => id).toSorted());
      expect(workspace.ids(narrowing, 0, ALL, true).toReversed()).toEqual(newestFirst);
      expect(workspace.ids(narrowing, 2, 5)).toEqual(newestFirst.slice(2, 7));
      const times = newestFirst.map((id) => plain.get(id)!.createdAt);
      expect(times).toEqual(times.toSorted().toReversed());
    }
  });

  it('knows no submission by an ID of its own making', () => {
    const workspace = new LargeWorkspace({ forms: 1, submissions: 3 });
    const [id = ''] = workspace.ids({}, 0, 1);
    expect(workspace.get(id)).toMatchObject({ id, formId: 'frm-1' });
    for (const other of ['', 'sub-', 'sub-zzzzzzz', `${id}0`, id.slice(0, -1), '..']) {
      expect(workspace.get(other)).toBeUndefined();
    }
  });
});
