import type { App } from '../app.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { count, plural } from '../base/format.ts';
import { pauseOf } from '../mirror/pauses.ts';
import type { QueueRuntime } from '../queue/runtime.ts';
import type { Place } from '../sync/planner.ts';
import { PAUSES } from '../sync/records.ts';
import type { ActionOrder, DoneLine } from '../web/actions.ts';
import { copyName } from './lines.ts';
import { changePauses } from './pausing.ts';
import { heldIn, partOf } from './selection.ts';

/**
 * Carries out a person's action in a running mirror: runs through its queue, pauses in its targets. Each action is one log line.
 * Never rejects.
 */
export async function carryOut(
  app: App,
  queue: QueueRuntime,
  order: ActionOrder,
): Promise<DoneLine[]> {
  const lines = await act(app, queue, order).catch((error: unknown) => [
    failed(toMirrorError(error).message),
  ]);
  const { do: action, form, target, by } = order;
  const failures = lines.filter(({ ok }) => !ok).map(({ text }) => text);
  const about = { action, form, target, by, ...(failures.length > 0 && { failed: failures }) };
  app.logger[failures.length === 0 ? 'info' : 'warn'](about, 'A person asked for this.');
  return lines;
}

const done = (text: string): DoneLine => ({ ok: true, text });
const failed = (text: string): DoneLine => ({ ok: false, text });

const NEVER = new AbortController().signal;

/** Rejects with USAGE for a form or target that does not exist, and with QUEUE_FAILED. */
async function act(app: App, queue: QueueRuntime, order: ActionOrder): Promise<DoneLine[]> {
  const { do: action, form, target } = order;
  if (action === 'pause' || action === 'resume')
    return changePauses(app, { ...order, do: action, reason: null }, NEVER);
  await requireQueue(queue);
  if (action === 'accept') return [await accept(app, queue, order)];
  if (form === null && target === null) {
    await queue.pollNow();
    return [done(POLL_BEGINS)];
  }
  const places = await openPlaces(app, order);
  const orders = places.map((place) => {
    return { formId: place.form.id, target: place.target, isComparison: false };
  });
  const begun = (await queue.runNow(orders)).length;
  const running = orders.length - begun;
  const [begins, runs] = [
    plural(begun, 'run begins', 'runs begin'),
    plural(running, 'run is', 'runs are'),
  ];
  return [
    ...(begun > 0 ? [done(`${begins} as soon as a worker is free.`)] : []),
    ...(running > 0 ? [done(`${runs} in progress. The next poll finds later changes.`)] : []),
  ];
}

const POLL_BEGINS =
  'A poll begins now, unless one is under way. It copies the forms that have changed, except paused ones.';

/** A queue that does not answer keeps a request until it is back, and the caller would never learn the outcome. */
async function requireQueue(queue: QueueRuntime): Promise<void> {
  const { isReachable, address } = await queue.status();
  if (isReachable) return;
  throw new MirrorError(
    'QUEUE_FAILED',
    `The queue (${address}) does not answer, so nothing was started. When it answers again, scheduled polls continue by themselves. Repeat any other action then.`,
  );
}

/** Accepts the held deletions of a form in a target, at most as many as the person saw. */
async function accept(app: App, queue: QueueRuntime, order: ActionOrder): Promise<DoneLine> {
  const [place] = await openPlaces(app, order);
  if (place === undefined || order.form === null || order.target === null)
    return failed('Accept deletions of one form in one target.');
  const name = copyName(place);
  const held = await heldIn(app, place);
  const seen = order.count ?? 0;
  // The run would mark nothing.
  if (held === 0 || seen < held) {
    const now = `${plural(held, 'deletion is', 'deletions are')} held now, you saw ${count(seen)}`;
    return failed(`${name}: ${now}. Nothing was accepted. Check them again.`);
  }
  const run = { formId: place.form.id, target: place.target, isComparison: true };
  const begun = await queue.runNow([{ ...run, acceptDeletes: held }]);
  // Only the run with this number accepts deletions.
  if (begun.length === 0)
    return failed(
      `${name}: a run of this form is in progress. Accept the deletions when it has ended.`,
    );
  return done(
    `${name}: compared row by row as soon as a worker is free. Up to ${plural(held, 'deletion')} accepted: each row is marked only if the source answers that the submission does not exist.`,
  );
}

/** The places that an order names and that are not paused. Throws USAGE for a name that does not exist, and if no place is left. */
async function openPlaces(app: App, order: ActionOrder): Promise<readonly Place[]> {
  const { places: all } = app.planner.planned ?? (await app.plan(NEVER));
  const byTarget = Map.groupBy(partOf(app, all, order), ({ target }) => target);
  const open = [...byTarget].map(async ([name, places]) => {
    // If a target does not answer, nothing is known about it. Its run says why.
    const pauses = await app
      .target(name)
      .then(({ store }) => PAUSES.read(store))
      .catch(() => []);
    return places.filter(({ form }) => pauseOf(pauses, form.id) === null);
  });
  const places = (await Promise.all(open)).flat();
  if (places.length > 0) return places;
  throw new MirrorError('USAGE', 'No form is mirrored there, or everything there is paused.');
}
