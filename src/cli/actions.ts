import type { App } from '../app.ts';
import type { Clock } from '../base/clock.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { count, plural } from '../base/format.ts';
import { type Pause, pausedError, pauseOf } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { FormPlace } from '../queue/handlers.ts';
import type { RunOrder } from '../queue/run-places.ts';
import type { QueueRuntime } from '../queue/runtime.ts';
import type { ActionName, ActionOrder, Actor, DoneLine } from '../web/action-order.ts';
import type { Announcer } from '../web/server.ts';
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

/** What a running mirror does at a person's word: passes by its queue, pauses in its targets, tests by its `alerts`. */
export function createActor(
  app: App,
  queue: QueueRuntime,
  clock: Clock,
  alerts: Pick<Announcer, 'test'> | undefined,
): Actor {
  return {
    async act(order) {
      const { do: action, form, target, by } = order;
      let lines: readonly DoneLine[] = [];
      try {
        lines = await new Acting(app, queue, clock, alerts).act(order);
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

async function tested(alerts: Pick<Announcer, 'test'> | undefined): Promise<readonly DoneLine[]> {
  if (alerts === undefined) {
    const text = 'No channel is configured: set ALERT_WEBHOOK_URL or ALERT_EMAIL_TO.';
    return [{ ok: false, text }];
  }
  const tried = await alerts.test();
  return tried.map(({ channel, ok, message }) => ({ ok, text: `${channel}: ${message}` }));
}

/** A form in a target, with how people know it. */
interface Place extends FormPlace {
  readonly form: FormIdentity;
}

/** Which places can be worked on now, and why not the others. */
interface FoundPlaces {
  readonly places: readonly Place[];
  readonly lines: readonly DoneLine[];
}

class Acting {
  readonly #app: App;
  readonly #queue: QueueRuntime;
  readonly #clock: Clock;
  readonly #alerts: Pick<Announcer, 'test'> | undefined;

  constructor(
    app: App,
    queue: QueueRuntime,
    clock: Clock,
    alerts: Pick<Announcer, 'test'> | undefined,
  ) {
    this.#app = app;
    this.#queue = queue;
    this.#clock = clock;
    this.#alerts = alerts;
  }

  async act(order: ActionOrder): Promise<readonly DoneLine[]> {
    if (NEED_QUEUE.has(order.do)) await this.#requireQueue();
    switch (order.do) {
      case 'alert':
        return tested(this.#alerts);
      case 'look':
        return order.form === null ? this.#look(order) : this.#run(order, 'incremental');
      case 'compare':
        return this.#run(order, 'full');
      case 'retry':
        return this.#retry(order);
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

  /** What a store that is away is asked waits until it is back: nobody would learn what became of it. */
  async #requireQueue(): Promise<void> {
    const { reachable, address } = await this.#queue.status();
    if (reachable) return;
    throw new MirrorError(
      'QUEUE_FAILED',
      `The queue (${address}) does not answer, so nothing was begun. Once it does, the scheduled looks go on by themselves; ask again for anything else.`,
    );
  }

  async #pause({ form, target, by, reason }: ActionOrder): Promise<readonly DoneLine[]> {
    const places = await findPausePlaces(this.#app, named({ form, target }), NEVER);
    const since = new Date(this.#clock.now()).toISOString();
    const lines = pausedLines(await pausePlaces(this.#app, places, { since, by, reason }));
    return lines.some(({ ok }) => ok) ? [...lines, { ok: true, text: PAUSE_MEANS }] : lines;
  }

  /** One look asks about all targets at once. */
  async #look({ target }: ActionOrder): Promise<readonly DoneLine[]> {
    if (target !== null) this.#app.settingsOf(target);
    await this.#queue.runNow('incremental');
    const text = 'A look begins now: the forms that it finds changed are read into their targets.';
    return [{ ok: true, text }];
  }

  async #run(order: ActionOrder, kind: RunOrder['kind']): Promise<readonly DoneLine[]> {
    const { places, lines } = await this.#places(order);
    return [...lines, ...(await this.#begin(kind, places))];
  }

  /** A full pass that failed waits to be tried again; whatever else failed is tried by an incremental one. */
  async #retry(order: ActionOrder): Promise<readonly DoneLine[]> {
    const { places, lines } = await this.#places(order);
    const { retries } = await this.#queue.status();
    const waits = ({ formId, target }: Place): boolean =>
      retries.some((retry) => retry.formId === formId && retry.target === target);
    return [
      ...lines,
      ...(await this.#begin('full', places.filter(waits))),
      ...(await this.#begin(
        'incremental',
        places.filter((place) => !waits(place)),
      )),
    ];
  }

  async #accept(order: ActionOrder): Promise<readonly DoneLine[]> {
    const { places, lines } = await this.#places(order);
    const done: DoneLine[] = [...lines];
    // The number that a person has seen is that of one target.
    if (order.count !== null && places.length > 1) {
      const names = places.map(placeOf).join(', ');
      const text = `Nothing was accepted: the number that you saw is not that of each place (${names}). Accept what each withholds by itself.`;
      return [...done, { ok: false, text }];
    }
    for (const place of places) {
      const withheld = await this.#withheld(place);
      const most = order.count ?? withheld;
      // The pass would mark nothing.
      if (most < withheld) {
        const text = `${placeOf(place)}: ${plural(withheld, 'deletion is', 'deletions are')} withheld by now, more than the ${count(most)} that you saw. Nothing was accepted; look again.`;
        done.push({ ok: false, text });
        continue;
      }
      if (withheld === 0) {
        done.push({ ok: false, text: `${placeOf(place)}: no deletions are withheld.` });
        continue;
      }
      const begun = await this.#begin('full', [place], withheld);
      const what = `${plural(withheld, 'deletion')} accepted: each row is marked only if the source answers that the submission does not exist.`;
      done.push(
        ...begun.map(({ ok, text }) => ({ ok, text: ok ? `${text} Up to ${what}` : text })),
      );
    }
    return done;
  }

  async #withheld({ formId, target }: Place): Promise<number> {
    const reader = await (await this.#app.target(target)).reader(formId);
    return (await reader?.checkpoint())?.withheld ?? 0;
  }

  async #begin(
    kind: RunOrder['kind'],
    places: readonly Place[],
    acceptDeletes?: number,
  ): Promise<readonly DoneLine[]> {
    if (places.length === 0) return [];
    const plain = places.map(({ formId, target }) => ({ formId, target }));
    const { begun, underWay } = await this.#queue.runPasses({ kind, places: plain, acceptDeletes });
    const nameOf = ({ formId, target }: FormPlace): string =>
      placeName(places.find((place) => place.formId === formId)?.form ?? null, target);
    const what = kind === 'full' ? 'is compared row by row now' : 'is looked at now';
    const lines =
      MANY < begun.length
        ? [
            {
              ok: true,
              text: `${countOf(begun)}: each ${what}, as soon as a worker is free.`,
            },
          ]
        : begun.map((place) => ({
            ok: true,
            text: `${nameOf(place)} ${what}, as soon as a worker is free.`,
          }));
    if (MANY < underWay.length) {
      const text = `${countOf(underWay)}: such a pass runs already, or is about to.`;
      return [...lines, { ok: true, text }];
    }
    const isAccepting = acceptDeletes !== undefined;
    const already = underWay.map((place) => ({
      ok: !isAccepting,
      text: isAccepting
        ? `${nameOf(place)}: a full pass is at work on it; accept them when it has ended.`
        : `${nameOf(place)}: such a pass runs already, or is about to.`,
    }));
    return [...lines, ...already];
  }

  /** The places that an order means, without those that are paused. Throws USAGE for names that nobody has. */
  async #places({ form, target }: Pick<ActionOrder, 'form' | 'target'>): Promise<FoundPlaces> {
    const app = this.#app;
    if (target !== null) app.settingsOf(target);
    const { forms } = app.planned.plan ?? (await app.plan(NEVER));
    const only =
      form === null
        ? undefined
        : requireForm(
            forms.map((plan) => plan.form),
            form,
          );
    const places: Place[] = [];
    const lines: DoneLine[] = [];
    const pauses = new Map<string, readonly Pause[] | undefined>();
    for (const plan of forms) {
      if (only !== undefined && plan.form.id !== only.id) continue;
      for (const name of plan.targets) {
        if (target !== null && name !== target) continue;
        if (!pauses.has(name)) pauses.set(name, await this.#pausesOf(name));
        const pause = pauseOf(pauses.get(name) ?? [], plan.form.id);
        if (pause === null) places.push({ formId: plan.form.id, target: name, form: plan.form });
        // Where all is meant, what is paused is left out on purpose.
        else if (form !== null)
          lines.push({ ok: false, text: pausedError(pause, plan.form.slug, name).message });
      }
    }
    if (places.length + lines.length === 0) {
      lines.push({ ok: false, text: 'No form is mirrored there, or all that is there is paused.' });
    }
    return { places, lines };
  }

  /** Of a target that does not answer nothing is known: the pass says why. */
  async #pausesOf(name: string): Promise<readonly Pause[] | undefined> {
    try {
      return await (await this.#app.target(name)).pauses();
    } catch {
      return undefined;
    }
  }
}

/** What is done by jobs; the others go to targets and channels themselves. */
const NEED_QUEUE: ReadonlySet<ActionName> = new Set(['look', 'compare', 'retry', 'accept']);

/** How many forms there are in how many targets. */
function countOf(places: readonly FormPlace[]): string {
  const [forms, targets] = (['formId', 'target'] as const).map(
    (key) => new Set(places.map((place) => place[key])).size,
  );
  return `${plural(forms ?? 0, 'form')} in ${plural(targets ?? 0, 'target')}`;
}

/** Beyond so many places, they are counted and not named. */
const MANY = 8;

const NEVER = new AbortController().signal;

const placeOf = ({ form, target }: Place): string => placeName(form, target);

const named = ({
  form,
  target,
}: Pick<ActionOrder, 'form' | 'target'>): { form?: string; target?: string } => ({
  ...(form !== null && { form }),
  ...(target !== null && { target }),
});
