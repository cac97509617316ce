import { throwIfAborted } from '../base/clock.ts';
import type { SubmissionItem } from '../forms/client.ts';
import { type ById, withKnownStatus } from './by-id.ts';
import type { SyncContext } from './context.ts';
import type { Patience } from './patience.ts';
import type { RowComparer, RowResult } from './row-comparer.ts';

/** How many rows are read from the target in one go. */
const BATCH = 100;
/** How often the target is looked at, at least and at most, and in how many parts the whole wait. */
const LOOK_EVERY_MS = { least: 250, most: 5_000, parts: 20 };

/** As {@link RowResult}; `extra`: a live row whose submission answers 404; `denied`: the list showed it, it answers 404, and no row has it. */
export type SuspectResult = RowResult | 'extra' | 'denied';

/** A submission that differed from its row when it was first compared. */
export interface Suspect {
  readonly id: string;
  /** The submission as it was seen last; null: it answers 404. */
  item: SubmissionItem | null;
  result: SuspectResult;
  readonly createdAtMs: number | null;
  /** When it was first seen to differ, and when the source was last asked for it. */
  readonly seenAtMs: number;
  lookedAtMs: number;
  /** When it was last seen to have changed at the source between two looks; null: it stood unchanged throughout. */
  changedAtMs: number | null;
}

/** Whether a suspect that still differs is explained by a change too young to have been brought over. Pure. */
export function isLag(suspect: Suspect, { explainedMs }: Patience, nowMs: number): boolean {
  const isYoung = (sinceMs: number | null): boolean =>
    sinceMs !== null && Math.abs(nowMs - sinceMs) < explainedMs;
  if (isYoung(suspect.changedAtMs)) return true;
  return suspect.result === 'missing' && isYoung(suspect.createdAtMs);
}

/** What settling works with. */
export interface SettlingParts {
  readonly context: SyncContext;
  readonly comparer: RowComparer;
  readonly patience: Patience;
  readonly byId: ById;
  readonly signal: AbortSignal;
  /** Called before each pause: so many differ still, and until when they are looked at. */
  readonly onWait: (differing: number, untilMs: number) => void;
  /** Called with each suspect that was decided and is not the same: as a difference, or as lag. */
  readonly onDecided: (suspect: Suspect, lag: boolean) => void;
}

/**
 * Asks again for what differed, source and target, until it agrees or has been looked at for long enough. Between the
 * first look and the last only the target is read, and the source for those whose row moved: one request a suspect as a
 * rule. Ends after `patience.waitMs`, whatever the source does.
 */
export class Settling {
  readonly #parts: SettlingParts;
  readonly #suspects: Map<string, Suspect>;

  constructor(parts: SettlingParts, suspects: readonly Suspect[]) {
    this.#parts = parts;
    this.#suspects = new Map(suspects.map((suspect) => [suspect.id, suspect]));
  }

  async run(): Promise<void> {
    const { context, patience, signal, comparer } = this.#parts;
    while (this.#suspects.size > 0) {
      throwIfAborted(signal);
      await comparer.open();
      const moved = await this.#compareAgain();
      const nowMs = context.clock.now();
      const due = [...this.#suspects.values()].filter(
        (suspect) => moved.has(suspect) || this.#isDue(suspect, nowMs),
      );
      await this.#lookAt(due);
      this.#decide();
      if (this.#suspects.size === 0) return;
      const ends = [...this.#suspects.values()].map(({ seenAtMs }) => seenAtMs + patience.waitMs);
      this.#parts.onWait(this.#suspects.size, Math.max(...ends));
      await context.clock.sleep(this.#pauseMs(Math.min(...ends)), signal);
    }
  }

  /** Compares with the rows as they are now, without asking the source. Returns those whose row moved, but not to agree. */
  async #compareAgain(): Promise<Set<Suspect>> {
    const moved = new Set<Suspect>();
    for (const suspects of batchesOf([...this.#suspects.values()])) {
      const before = new Map(suspects.map((suspect) => [suspect, picture(suspect.result)]));
      await this.#compare(suspects);
      for (const suspect of suspects) {
        if (suspect.result === 'same') this.#suspects.delete(suspect.id);
        else if (suspect.result === 'listed' || suspect.result === 'forgotten')
          this.#decided(suspect, false);
        else if (picture(suspect.result) !== before.get(suspect)) moved.add(suspect);
      }
    }
    return moved;
  }

  async #compare(suspects: readonly Suspect[]): Promise<void> {
    const { comparer } = this.#parts;
    const results = await comparer.compare(suspects.flatMap(({ item }) => item ?? []));
    const gone = suspects.filter(({ item }) => item === null).map(({ id }) => id);
    const live = await comparer.live(gone);
    for (const suspect of suspects) {
      if (suspect.item !== null) suspect.result = results.get(suspect.item.key) ?? 'same';
      // Gone at the source, and no live row: nothing is left to compare.
      else suspect.result = live.has(suspect.id) ? 'extra' : 'same';
    }
  }

  /** A last look at its end; during a long wait one often enough to tell how old a change is. */
  #isDue({ seenAtMs, lookedAtMs }: Suspect, nowMs: number): boolean {
    const { waitMs, explainedMs } = this.#parts.patience;
    return nowMs - seenAtMs >= waitMs || (explainedMs > 0 && nowMs - lookedAtMs >= explainedMs);
  }

  /** Asks the source for them, some at a time, and compares them. */
  async #lookAt(suspects: readonly Suspect[]): Promise<void> {
    const { context, signal } = this.#parts;
    for (const some of batchesOf(suspects, context.readAhead)) {
      throwIfAborted(signal);
      await Promise.all(some.map((suspect) => this.#ask(suspect)));
      const missing = some.filter(({ result }) => result === 'missing');
      await this.#compare(some);
      // Deleted since the list showed it, or the source contradicts itself: asking again tells no difference.
      for (const suspect of missing)
        if (suspect.item === null && suspect.result === 'same') suspect.result = 'denied';
      for (const suspect of some) {
        if (suspect.result === 'same') this.#suspects.delete(suspect.id);
        else if (suspect.result === 'denied') this.#decided(suspect, false);
      }
    }
  }

  async #ask(suspect: Suspect): Promise<void> {
    const { context, comparer, byId } = this.#parts;
    const answer = await byId.ask(suspect.id);
    suspect.lookedAtMs = context.clock.now();
    // Without an answer it counts as it was seen last: in the list.
    if (answer.kind === 'undecided') return;
    const before = suspect.item;
    const known = before?.submission?.status ?? (await comparer.storedStatus(suspect.id));
    const item = answer.kind === 'gone' ? null : withKnownStatus(answer.item, known);
    const changed =
      before !== null && item !== null ? await comparer.changed(before, item) : before !== item;
    if (changed) suspect.changedAtMs = suspect.lookedAtMs;
    suspect.item = item;
  }

  /** Those that were looked at for long enough are what they are. */
  #decide(): void {
    const nowMs = this.#parts.context.clock.now();
    const { patience } = this.#parts;
    for (const suspect of this.#suspects.values()) {
      if (suspect.lookedAtMs - suspect.seenAtMs < patience.waitMs) continue;
      this.#decided(suspect, isLag(suspect, patience, nowMs));
    }
  }

  #decided(suspect: Suspect, lag: boolean): void {
    this.#suspects.delete(suspect.id);
    this.#parts.onDecided(suspect, lag);
  }

  #pauseMs(firstEndMs: number): number {
    const { least, most, parts } = LOOK_EVERY_MS;
    const everyMs = Math.min(most, Math.max(least, this.#parts.patience.waitMs / parts));
    const leftMs = firstEndMs - this.#parts.context.clock.now();
    return Math.max(1, Math.min(everyMs * Math.ceil(this.#suspects.size / BATCH), leftMs));
  }
}

const picture = (result: SuspectResult): string => JSON.stringify(result);

function* batchesOf<T>(all: readonly T[], size = BATCH): Generator<T[]> {
  for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size);
}
