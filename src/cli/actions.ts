import type { App } from '../app.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { count, plural } from '../base/format.ts';
import { pauseOf } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { SyncOrder } from '../queue/handlers.ts';
import type { QueueRuntime } from '../queue/runtime.ts';
import { PAUSES } from '../sync/records.ts';
import { reading } from '../sync/target.ts';
import type { ActionOrder, Actor, DoneLine } from '../web/actions.ts';
import { changePauses, placeName } from './pausing.ts';
import { requireForm } from './selection.ts';

/** The actions of a running mirror for a person: runs by its queue, pauses in its targets. Each is one line of the log. */
export const createActor = (app: App, queue: QueueRuntime): Actor => ({
  async act(order) {
    const lines = await act(app, queue, order).catch((error: unknown) => [
      failed(toMirrorError(error).message),
    ]);
    const { do: action, form, target, by } = order;
    const failures = lines.filter(({ ok }) => !ok).map(({ text }) => text);
    const about = { action, form, target, by, ...(failures.length > 0 && { failed: failures }) };
    app.logger[failures.length === 0 ? 'info' : 'warn'](about, 'A person asked for this.');
    return lines;
  },
});

const done = (text: string): DoneLine => ({ ok: true, text });
const failed = (text: string): DoneLine => ({ ok: false, text });

const NEVER = new AbortController().signal;

/** Rejects with USAGE for a form or target that does not exist, and with QUEUE_FAILED. */
async function act(app: App, queue: QueueRuntime, order: ActionOrder): Promise<DoneLine[]> {
  const { do: action, form, target, by } = order;
  if (action === 'pause' || action === 'resume') {
    const since = new Date(app.clock.now()).toISOString();
    const pause = action === 'pause' ? { since, by, reason: null } : null;
    return changePauses(app, { form, target, pause }, NEVER);
  }
  await requireQueue(queue);
  if (action === 'accept') return accept(app, queue, order);
  if (form === null && target === null) {
    await queue.pollNow();
    return [done('A poll begins now. It copies the forms that have changed.')];
  }
  const { begun, underWay } = await begin(queue, await placesOf(app, order), {
    isComparison: false,
  });
  return [
    ...(begun === ''
      ? []
      : [done(`${begun}: brought up to date now, as soon as a worker is free.`)]),
    ...(underWay === ''
      ? []
      : [done(`${underWay}: such a run is in progress, or about to begin.`)]),
  ];
}

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
async function accept(app: App, queue: QueueRuntime, order: ActionOrder): Promise<DoneLine[]> {
  const [place] = await placesOf(app, order);
  if (place === undefined || order.form === null || order.target === null) return [];
  const name = placeName(place.form, place.target);
  const target = await app.target(place.target);
  const held = (await reading(target, place.form.id, async ({ state }) => state.tally.held)) ?? 0;
  if (held === 0) return [failed(`${name}: no deletions are held.`)];
  // The run would mark nothing.
  if ((order.count ?? 0) < held) {
    return [
      failed(
        `${name}: ${plural(held, 'deletion is', 'deletions are')} held now, more than the ${count(order.count ?? 0)} that you saw. Nothing was accepted. Check them again.`,
      ),
    ];
  }
  const how = { isComparison: true, isFull: true, acceptDeletes: held };
  // Only the run that carries the number accepts deletions.
  if ((await begin(queue, [place], how)).begun === '')
    return [
      failed(`${name}: a run of this form is in progress. Accept the deletions when it has ended.`),
    ];
  return [
    done(
      `${name}: compared row by row now, as soon as a worker is free. Up to ${plural(held, 'deletion')} accepted: each row is marked only if the source answers that the submission does not exist.`,
    ),
  ];
}

/** A form in a target, with the form's name for people. */
interface Place {
  readonly form: FormIdentity;
  readonly target: string;
}

/** Beyond this number, places are counted and not named. */
const MANY = 8;

/** Queues runs. Returns the places where a run begins, and those where one is in progress; empty for none. */
async function begin(
  queue: QueueRuntime,
  places: readonly Place[],
  how: Omit<SyncOrder, 'formId' | 'target' | 'counts'>,
) {
  const orders = places.map(({ form, target }) => ({ formId: form.id, target, ...how }));
  const { begun, underWay } = await queue.runNow(orders);
  const textOf = (some: readonly Pick<SyncOrder, 'formId' | 'target'>[]): string => {
    if (some.length > MANY) return `${count(some.length)} copies of forms`;
    const formOf = (id: string) => places.find(({ form }) => form.id === id)?.form ?? null;
    return some.map(({ formId, target }) => placeName(formOf(formId), target)).join(', ');
  };
  return { begun: textOf(begun), underWay: textOf(underWay) };
}

/** The places that an order names, without the paused ones. Throws USAGE if there are none, or for a name that does not exist. */
async function placesOf(
  app: App,
  { form, target }: Pick<ActionOrder, 'form' | 'target'>,
): Promise<readonly Place[]> {
  const { forms } = app.planned ?? (await app.plan(NEVER));
  const only =
    form === null
      ? null
      : requireForm(
          forms.map((plan) => plan.form),
          form,
        ).id;
  const places: Place[] = [];
  for (const name of app.namesOf(target)) {
    // If a target does not answer, nothing is known of it: the run says why.
    const opened = await app.target(name).catch(() => null);
    const pauses = opened === null ? [] : await PAUSES.read(opened.store).catch(() => []);
    for (const plan of forms)
      if (
        (only === null || plan.form.id === only) &&
        plan.targets.includes(name) &&
        pauseOf(pauses, plan.form.id) === null
      )
        places.push({ form: plan.form, target: name });
  }
  if (places.length > 0) return places;
  throw new MirrorError('USAGE', 'No form is mirrored there, or everything there is paused.');
}
