import { differencesOf } from './differences.ts';
import type { World } from './world.ts';

/** So many steps down show that a page is in the order of dates. */
const STEPS_OF_AN_ORDER = 5;

/** A submission that was deleted, while somebody submitted another in a form that is not mirrored. */
export interface Replaced {
  /** A sentence for each target that shows it still. */
  readonly breaches: () => string[];
}

/**
 * Deletes a submission of a form that is mirrored, and has another come elsewhere with its status, which the newest page
 * shows: no count of the workspace moves. Null where there is none to delete, or where that page would not make certain
 * that the other one is new. To be done when a look has just found nothing.
 */
export function replaceElsewhere(
  world: World,
  chosen: readonly (readonly string[])[],
  which: number,
): Replaced | null {
  const { store, views, forgotten, meddler } = world;
  const elsewhere = store.forms().find(({ id }) => !world.forms.includes(id));
  const { sort, baseOrder } = world.sandbox.behaviour;
  const hasOrder = sort !== 'ignored' || baseOrder === 'newest';
  if (
    elsewhere === undefined ||
    !hasOrder ||
    meddler.odd.size > 0 ||
    meddler.hid ||
    !isInOrder(newestOf(world))
  ) {
    return null;
  }
  const known = new Set(chosen.flat());
  const ids = world.forms.filter((formId) => known.has(formId)).flatMap((id) => store.ids(id));
  const id = ids[which % Math.max(1, ids.length)];
  const gone = id === undefined ? undefined : store.get(id);
  if (id === undefined || gone === undefined || forgotten.has(id)) return null;
  const { formId, status } = gone;
  const into = [0, 1].filter((target) => chosen[target]!.includes(formId));
  const isSame = into.every((target) => {
    return differencesOf(store, views[target]!, formId, forgotten).length === 0;
  });
  if (!isSame) return null;
  const before = newestOf(world);
  store.delete(id);
  const createdAt = store.now();
  store.insert({ formId: elsewhere.id, data: {}, status, createdAt });
  const isCertain = createdAt > (before.at(-1) ?? Infinity) && isInOrder(newestOf(world));
  const stands = (target: number): boolean =>
    views[target]!.rows(formId).get(id)?._deleted_at === null;
  const told = `${id} of ${formId}, ${status}, was deleted while one came elsewhere`;
  return {
    breaches: () =>
      isCertain
        ? into.filter(stands).map((target) => `L16: target ${target} does not say that ${told}`)
        : [],
  };
}

/** The dates on the newest page of the workspace, newest first. */
function newestOf({ store, sandbox }: World): number[] {
  const dates = store.forms().flatMap(({ id }) => {
    return [...store.all(id)].map(({ createdAt }) => Date.parse(createdAt));
  });
  return dates.toSorted((a, b) => b - a).slice(0, sandbox.behaviour.maxLimit);
}

const isInOrder = (dates: readonly number[]): boolean => new Set(dates).size > STEPS_OF_AN_ORDER;
