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
import { changePauses, PAUSE_MEANS, placeName } from './pausing.ts';
import { requireForm } from './selection.ts';

/** The actions of a running mirror for a person: runs by its queue, pauses in its targets, test messages. */
export function createActor(
  app: App,
  queue: QueueRuntime,
  notifier: Pick<Notifier, 'test'> | undefined,
): Actor {
  const acting = new Acting(app, queue, notifier);
  return {
    async act(order) {
      const { do: action, form, target, by } = order;
      let lines: readonly DoneLine[] = [];
      try {
        lines = await acting.act(order);
        return lines;
      } catch (error) {
        lines = [failed(toMirrorError(error).message)];
        throw error;
      } finally {
        const failures = lines.filter(({ ok }) => !ok).map(({ text }) => text);
        const about = {
          action,
          form,
          target,
          by,
          ...(failures.length > 0 && { failed: failures }),
        };
        app.logger[failures.length === 0 ? 'info' : 'warn'](about, 'A person asked for this.');
      }
    },
  };
}

const done = (text: string): DoneLine => ({ ok: true, text });
const failed = (text: string): DoneLine => ({ ok: false, text });

/** A form in a target, with the form's name for people. */
interface Place {
  readonly form: FormIdentity;
  readonly target: string;
}

type RunKind = Omit<SyncOrder, 'formId' | 'target' | 'counts'>;

/** Beyond this number, places are counted and not named. */
const MANY = 8;

class Acting {
  readonly #app: App;
  readonly #queue: QueueRuntime;
  readonly #notifier: Pick<Notifier, 'test'> | undefined;

  constructor(app: App, queue: QueueRuntime, notifier: Pick<Notifier, 'test'> | undefined) {
    [this.#app, this.#queue, this.#notifier] = [app, queue, notifier];
  }

  async act(order: ActionOrder): Promise<readonly DoneLine[]> {
    switch (order.do) {
      case 'test': {
        const tried = (await this.#notifier?.test()) ?? [];
        return tried.map(({ channel, ok, message }) => ({ ok, text: `${channel}: ${message}` }));
      }
      case 'sync':
        return order.form === null && order.target === null
          ? this.#poll()
          : this.#run(order, { isComparison: false });
      case 'compare':
        return this.#run(order, { isComparison: true, isFull: true });
      case 'accept':
        return this.#accept(order);
      case 'pause':
      case 'resume':
        return this.#changePauses(order);
    }
  }

  async #changePauses({ do: action, form, target, by }: ActionOrder): Promise<readonly DoneLine[]> {
    const since = new Date(this.#app.clock.now()).toISOString();
    const pause = action === 'pause' ? { since, by, reason: null } : null;
    const outcomes = await changePauses(this.#app, { form, target, pause }, NEVER);
    const isPaused = pause !== null && outcomes.some(({ failure }) => failure === null);
    return [...outcomes.flatMap(({ lines }) => lines), ...(isPaused ? [done(PAUSE_MEANS)] : [])];
  }

  /** A queue that does not answer keeps a request until it is back, and the caller would never learn the outcome. */
  async #requireQueue(): Promise<void> {
    const { isReachable, address } = await this.#queue.status();
    if (isReachable) return;
    throw new MirrorError(
      'QUEUE_FAILED',
      `The queue (${address}) does not answer, so nothing was started. When it answers again, scheduled polls continue by themselves. Repeat any other action then.`,
    );
  }

  async #poll(): Promise<readonly DoneLine[]> {
    await this.#requireQueue();
    await this.#queue.pollNow();
    return [done('A poll begins now. It copies the forms that have changed.')];
  }

  async #run(order: ActionOrder, how: RunKind): Promise<readonly DoneLine[]> {
    await this.#requireQueue();
    const { places, lines } = await this.#places(order);
    const { begun, underWay } = await this.#begin(places, how);
    const what = how.isFull === true ? 'compared row by row' : 'brought up to date';
    return [
      ...lines,
      ...(begun === '' ? [] : [done(`${begun}: ${what} now, as soon as a worker is free.`)]),
      ...(underWay === ''
        ? []
        : [done(`${underWay}: such a run is in progress, or about to begin.`)]),
    ];
  }

  /** Accepts the held deletions of a form in a target, at most as many as the person saw. */
  async #accept(order: ActionOrder): Promise<readonly DoneLine[]> {
    await this.#requireQueue();
    const { places, lines } = await this.#places(order);
    const [place] = places;
    if (place === undefined || order.target === null) return lines;
    const name = placeName(place.form, place.target);
    const target = await this.#app.target(place.target);
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
    if ((await this.#begin([place], how)).begun === '')
      return [
        failed(
          `${name}: a run of this form is in progress. Accept the deletions when it has ended.`,
        ),
      ];
    return [
      done(
        `${name}: compared row by row now, as soon as a worker is free. Up to ${plural(held, 'deletion')} accepted: each row is marked only if the source answers that the submission does not exist.`,
      ),
    ];
  }

  /** Queues runs. Returns the places where a run begins, and those where one is in progress; empty for none. */
  async #begin(places: readonly Place[], how: RunKind) {
    const orders = places.map(({ form, target }) => ({ formId: form.id, target, ...how }));
    const { begun, underWay } = await this.#queue.runNow(orders);
    const textOf = (some: readonly Pick<SyncOrder, 'formId' | 'target'>[]): string => {
      if (some.length > MANY) {
        const forms = new Set(some.map(({ formId }) => formId)).size;
        const targets = new Set(some.map(({ target }) => target)).size;
        return `${plural(forms, 'form')} in ${plural(targets, 'target')}`;
      }
      const formOf = (id: string) => places.find(({ form }) => form.id === id)?.form ?? null;
      return some.map(({ formId, target }) => placeName(formOf(formId), target)).join(', ');
    };
    return { begun: textOf(begun), underWay: textOf(underWay) };
  }

  /** The places that an order names, without the paused ones. Throws USAGE for a name that does not exist. */
  async #places({ form, target }: Pick<ActionOrder, 'form' | 'target'>): Promise<{
    readonly places: readonly Place[];
    /** Why the others are left out. */
    readonly lines: readonly DoneLine[];
  }> {
    const app = this.#app;
    const names = app.namesOf(target);
    const { forms } = app.planned ?? (await app.plan(NEVER));
    const known = forms.map((plan) => plan.form);
    const only = form === null ? undefined : requireForm(known, form);
    const wanted = forms.filter((plan) => only === undefined || plan.form.id === only.id);
    const places: Place[] = [];
    const lines: DoneLine[] = [];
    for (const name of names) {
      // If a target does not answer, nothing is known of it: the run says why.
      const opened = await app.target(name).catch(() => null);
      const pauses = opened === null ? [] : await PAUSES.read(opened.store).catch(() => []);
      for (const plan of wanted.filter(({ targets }) => targets.includes(name))) {
        const pause = pauseOf(pauses, plan.form.id);
        if (pause === null) places.push({ form: plan.form, target: name });
        // An order for everything leaves out paused places on purpose.
        else if (form !== null)
          lines.push(failed(pausedError(pause, plan.form.slug, name).message));
      }
    }
    if (places.length + lines.length === 0)
      lines.push(failed('No form is mirrored there, or everything there is paused.'));
    return { places, lines };
  }
}

const NEVER = new AbortController().signal;
