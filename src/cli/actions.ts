import type { App } from '../app.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { count, plural } from '../base/format.ts';
import { pauseOf, wholePause } from '../mirror/pauses.ts';
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
  const isPoll = form === null && target === null;
  // First, because a target that does not answer delays the list of places.
  if (isPoll) await queue.pollNow();
  const { open, paused } = await placesOf(app, order);
  const lines = (some: readonly Place[], text: string): DoneLine[] =>
    some.length === 0 ? [] : [done(`${placesText(some)}: ${text}`)];
  const leftOut = lines(paused, 'left out, because paused.');
  if (isPoll)
    return [done('A poll begins now. It copies the forms that have changed.'), ...leftOut];
  const { begun, underWay } = await begin(queue, requireSome(open), { isComparison: false });
  return [
    ...lines(begun, 'brought up to date now, as soon as a worker is free.'),
    ...lines(underWay, 'such a run is in progress, or about to begin.'),
    ...leftOut,
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
  const [place] = requireSome((await placesOf(app, order)).open);
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
  if ((await begin(queue, [place], how)).begun.length === 0)
    return [
      failed(`${name}: a run of this form is in progress. Accept the deletions when it has ended.`),
    ];
  return [
    done(
      `${name}: compared row by row now, as soon as a worker is free. Up to ${plural(held, 'deletion')} accepted: each row is marked only if the source answers that the submission does not exist.`,
    ),
  ];
}

/** A form in a target; null: the target as a whole. */
interface Place {
  readonly form: FormIdentity | null;
  readonly target: string;
}
type FormPlace = Place & { readonly form: FormIdentity };

/** Beyond this number, places are counted and not named. */
const MANY = 8;

const placesText = (places: readonly Place[]): string =>
  places.length > MANY
    ? `${count(places.length)} copies of forms`
    : places.map(({ form, target }) => placeName(form, target)).join(', ');

/** Queues runs. Returns the places where a run begins, and those where one is in progress. */
async function begin(
  queue: QueueRuntime,
  places: readonly FormPlace[],
  how: Omit<SyncOrder, 'formId' | 'target' | 'counts'>,
) {
  const orders = places.map(({ form, target }) => ({ formId: form.id, target, ...how }));
  const { begun, underWay } = await queue.runNow(orders);
  const placesIn = (some: readonly Pick<SyncOrder, 'formId' | 'target'>[]): FormPlace[] =>
    places.filter(({ form, target }) =>
      some.some((order) => order.formId === form.id && order.target === target),
    );
  return { begun: placesIn(begun), underWay: placesIn(underWay) };
}

/** The places that an order names, and those of them that are paused. Throws USAGE for a name that does not exist. */
async function placesOf(
  app: App,
  { form, target }: Pick<ActionOrder, 'form' | 'target'>,
): Promise<{ readonly open: readonly FormPlace[]; readonly paused: readonly Place[] }> {
  const { forms } = app.planned ?? (await app.plan(NEVER));
  const only =
    form === null
      ? null
      : requireForm(
          forms.map((plan) => plan.form),
          form,
        ).id;
  const open: FormPlace[] = [];
  const paused: Place[] = [];
  for (const name of app.namesOf(target)) {
    // If a target does not answer, nothing is known of it: the run says why.
    const opened = await app.target(name).catch(() => null);
    const pauses = opened === null ? [] : await PAUSES.read(opened.store).catch(() => []);
    const here = forms
      .filter((plan) => (only === null || plan.form.id === only) && plan.targets.includes(name))
      .map((plan) => ({ form: plan.form, target: name }));
    const isPaused = (place: FormPlace): boolean => pauseOf(pauses, place.form.id) !== null;
    open.push(...here.filter((place) => !isPaused(place)));
    if (wholePause(pauses) === null) paused.push(...here.filter(isPaused));
    else if (here.length > 0) paused.push({ form: null, target: name });
  }
  return { open, paused };
}

/** The same places. Throws USAGE if there are none. */
function requireSome(places: readonly FormPlace[]): readonly FormPlace[] {
  if (places.length > 0) return places;
  throw new MirrorError('USAGE', 'No form is mirrored there, or everything there is paused.');
}
