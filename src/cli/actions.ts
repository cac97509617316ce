import type { App } from '../app.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { count, plural } from '../base/format.ts';
import { pausedError, pauseOf } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { Notifier } from '../notify/notifier.ts';
import type { SyncOrder } from '../queue/handlers.ts';
import type { QueueRuntime } from '../queue/runtime.ts';
import { PAUSES } from '../sync/records.ts';
import { reading } from '../sync/target.ts';
import type { ActionOrder, Actor, DoneLine } from '../web/actions.ts';
import {
  findPausePlaces,
  pausedLines,
  pausePlaces,
  PAUSE_MEANS,
  placeName,
  resumedLines,
  resumePlaces,
} from './pausing.ts';
import { requireForm } from './selection.ts';

/** What a running mirror does when a person asks for it: runs by its queue, pauses in its targets, test messages. */
export function createActor(
  app: App,
  queue: QueueRuntime,
  notifier: Pick<Notifier, 'test'> | undefined,
): Actor {
  return {
    async act(order) {
      const { do: action, form, target, by } = order;
      let lines: readonly DoneLine[] = [];
      try {
        lines = await new Acting(app, queue, notifier).act(order);
        return lines;
      } catch (error) {
        lines = [{ ok: false, text: toMirrorError(error).message }];
        throw error;
      } finally {
        const failed = lines.filter(({ ok }) => !ok).map(({ text }) => text);
        const about = { action, form, target, by, ...(failed.length > 0 && { failed }) };
        app.logger[failed.length === 0 ? 'info' : 'warn'](about, 'A person asked for this.');
      }
    },
  };
}

/** A form in a target, with how people know it. */
interface Place {
  readonly form: FormIdentity;
  readonly target: string;
}

class Acting {
  readonly #app: App;
  readonly #queue: QueueRuntime;
  readonly #notifier: Pick<Notifier, 'test'> | undefined;

  constructor(app: App, queue: QueueRuntime, notifier: Pick<Notifier, 'test'> | undefined) {
    [this.#app, this.#queue, this.#notifier] = [app, queue, notifier];
  }

  async act(order: ActionOrder): Promise<readonly DoneLine[]> {
    switch (order.do) {
      case 'test':
        return this.#test();
      case 'sync':
        return order.form === null && order.target === null
          ? this.#poll()
          : this.#run(order, { isComparison: false });
      case 'compare':
        return this.#run(order, { isComparison: true, isFull: true });
      case 'accept':
        return this.#accept(order);
      case 'pause':
        return this.#pause(order);
      case 'resume':
        return resumedLines(
          await resumePlaces(this.#app, await findPausePlaces(this.#app, named(order), NEVER)),
        );
    }
  }

  async #test(): Promise<readonly DoneLine[]> {
    if (this.#notifier === undefined) return [{ ok: false, text: 'No receiver is configured.' }];
    const tried = await this.#notifier.test();
    return tried.map(({ channel, ok, message }) => ({ ok, text: `${channel}: ${message}` }));
  }

  /** A queue that does not answer keeps a request until it is back, and the caller would never learn the outcome. */
  async #requireQueue(): Promise<void> {
    const { isReachable, address } = await this.#queue.status();
    if (isReachable) return;
    throw new MirrorError(
      'QUEUE_FAILED',
      `The queue (${address}) does not answer, so nothing was begun. Once it does, scheduled polls go on by themselves; ask again for anything else.`,
    );
  }

  async #pause({ form, target, by }: ActionOrder): Promise<readonly DoneLine[]> {
    const places = await findPausePlaces(this.#app, named({ form, target }), NEVER);
    const since = new Date(this.#app.clock.now()).toISOString();
    const lines = pausedLines(await pausePlaces(this.#app, places, { since, by, reason: null }));
    return lines.some(({ ok }) => ok) ? [...lines, { ok: true, text: PAUSE_MEANS }] : lines;
  }

  async #poll(): Promise<readonly DoneLine[]> {
    await this.#requireQueue();
    await this.#queue.pollNow();
    const text = 'A poll begins now: the forms that it finds changed are read into their targets.';
    return [{ ok: true, text }];
  }

  async #run(order: ActionOrder, how: RunKind): Promise<readonly DoneLine[]> {
    await this.#requireQueue();
    const { places, lines } = await this.#places(order);
    return [...lines, ...(await this.#begin(places, how))];
  }

  async #accept(order: ActionOrder): Promise<readonly DoneLine[]> {
    await this.#requireQueue();
    const { places, lines } = await this.#places(order);
    // The number that a person has seen is that of one target.
    if (order.count !== null && places.length > 1) {
      const names = places.map(({ form, target }) => placeName(form, target)).join(', ');
      const text = `Nothing was accepted: the number that you saw is not that of each place (${names}). Accept the held deletions of each by itself.`;
      return [...lines, { ok: false, text }];
    }
    const done: DoneLine[] = [...lines];
    for (const place of places) done.push(...(await this.#acceptIn(place, order.count)));
    return done;
  }

  async #acceptIn(place: Place, seen: number | null): Promise<readonly DoneLine[]> {
    const name = placeName(place.form, place.target);
    const target = await this.#app.target(place.target);
    const held = (await reading(target, place.form.id, async ({ state }) => state.tally.held)) ?? 0;
    if (held === 0) return [{ ok: false, text: `${name}: no deletions are held.` }];
    // The run would mark nothing.
    if (seen !== null && seen < held) {
      const text = `${name}: ${plural(held, 'deletion is', 'deletions are')} held by now, more than the ${count(seen)} that you saw. Nothing was accepted; look again.`;
      return [{ ok: false, text }];
    }
    const order = { isComparison: true, isFull: true, acceptDeletes: held };
    const begun = await this.#begin([place], order);
    const text = `Up to ${plural(held, 'deletion')} accepted: each row is marked only if the source answers that the submission does not exist.`;
    return begun.map((line) => (line.ok ? { ok: true, text: `${line.text} ${text}` } : line));
  }

  async #begin(places: readonly Place[], how: RunKind): Promise<readonly DoneLine[]> {
    if (places.length === 0) return [];
    const orders = places.map(({ form, target }) => ({ formId: form.id, target, ...how }));
    const { begun, underWay } = await this.#queue.runNow(orders);
    const nameOf = ({ formId, target }: Pick<SyncOrder, 'formId' | 'target'>): string =>
      placeName(places.find(({ form }) => form.id === formId)?.form ?? null, target);
    const what = how.isFull === true ? 'is compared row by row now' : 'is brought up to date now';
    const started =
      begun.length > MANY
        ? [{ ok: true, text: `${countOf(begun)}: each ${what}, as soon as a worker is free.` }]
        : begun.map((place) => {
            return { ok: true, text: `${nameOf(place)} ${what}, as soon as a worker is free.` };
          });
    // Only the run that carries the number accepts deletions.
    const isLost = how.acceptDeletes !== undefined;
    const why = isLost
      ? 'a run is at work on it; accept them when it has ended.'
      : 'such a run is under way, or about to begin.';
    const already =
      underWay.length > MANY
        ? [{ ok: !isLost, text: `${countOf(underWay)}: ${why}` }]
        : underWay.map((place) => ({ ok: !isLost, text: `${nameOf(place)}: ${why}` }));
    return [...started, ...already];
  }

  /** The places that an order names, without the paused ones. Throws USAGE for a name that does not exist. */
  async #places({ form, target }: Pick<ActionOrder, 'form' | 'target'>): Promise<{
    readonly places: readonly Place[];
    /** Why the others are left out. */
    readonly lines: readonly DoneLine[];
  }> {
    const app = this.#app;
    if (target !== null) app.settingsOf(target);
    const { forms } = app.planned.plan ?? (await app.plan(NEVER));
    const known = forms.map((plan) => plan.form);
    const only = form === null ? undefined : requireForm(known, form);
    const wanted = forms.filter((plan) => only === undefined || plan.form.id === only.id);
    const places: Place[] = [];
    const lines: DoneLine[] = [];
    for (const name of app.targetNames.filter((each) => target === null || each === target)) {
      // Of a target that does not answer nothing is known: the run says why.
      const opened = await app.target(name).catch(() => null);
      const pauses = opened === null ? [] : await PAUSES.read(opened.store).catch(() => []);
      for (const plan of wanted.filter(({ targets }) => targets.includes(name))) {
        const pause = pauseOf(pauses, plan.form.id);
        if (pause === null) places.push({ form: plan.form, target: name });
        // An order for everything leaves out paused places on purpose.
        else if (form !== null)
          lines.push({ ok: false, text: pausedError(pause, plan.form.slug, name).message });
      }
    }
    if (places.length + lines.length === 0)
      lines.push({ ok: false, text: 'No form is mirrored there, or all that is there is paused.' });
    return { places, lines };
  }
}

type RunKind = Omit<SyncOrder, 'formId' | 'target' | 'counts'>;

/** How many forms there are in how many targets. */
function countOf(places: readonly Pick<SyncOrder, 'formId' | 'target'>[]): string {
  const forms = new Set(places.map(({ formId }) => formId)).size;
  const targets = new Set(places.map(({ target }) => target)).size;
  return `${plural(forms, 'form')} in ${plural(targets, 'target')}`;
}

/** Beyond so many places, they are counted and not named. */
const MANY = 8;

const NEVER = new AbortController().signal;

const named = ({
  form,
  target,
}: Pick<ActionOrder, 'form' | 'target'>): { form?: string; target?: string } => ({
  ...(form !== null && { form }),
  ...(target !== null && { target }),
});
