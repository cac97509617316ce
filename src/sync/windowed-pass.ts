import { plural } from '../base/format.ts';
import { IdSet } from '../mirror/id-set.ts';
import { ProofLedger } from '../mirror/proof.ts';
import {
  minusCounts,
  NO_COUNTS,
  plusCounts,
  type StatusCounts,
  totalOf,
} from '../mirror/status-counts.ts';
import type { FormReader } from '../mirror/target.ts';
import type { Checkpoint } from '../mirror/types.ts';
import {
  oldestProof,
  sameWindow,
  unstoredIn,
  WHOLE_FORM,
  type WindowRecord,
} from '../mirror/window.ts';
import { countOlder, countWindows, type FirstCounts } from './count-windows.ts';
import { markAbsent, mostDeletions } from './deletions.ts';
import { addFound, type FoundRows, proveOpenWindows, type WindowsOutcome } from './open-windows.ts';
import type { OpenForm, PassRun } from './pass-run.ts';
import {
  counterOf,
  type FormSize,
  leaveUncut,
  type PlannedWindows,
  planWindows,
} from './window-plan.ts';
import { allowedDeletions, isWithinAllowed } from './window-brake.ts';
import {
  beginWindow,
  countDated,
  isRefusal,
  proveWindow,
  type WindowWork,
} from './window-proof.ts';

/** Most rows without a date in a form that is read in windows: each is asked for by its ID, as no window need show it. */
const MOST_UNDATED = 100;

/** How a pass over windows ended. `uncut`: the form is to be read whole, in this pass; what it has stored stays so. */
export interface WindowedEnd {
  readonly outcome: 'proven' | 'unproven' | 'uncut';
  /** Rows that it marked deleted, withheld, and so on. */
  readonly found: FoundRows;
  /** After a proof: how many submissions of the source are accounted for, since when all of them were (ISO), and up to which date. */
  readonly total: number;
  readonly since: string;
  /** By status, what the target has no row of; null: not known. */
  readonly unstored: StatusCounts | null;
  readonly watermark: string | null;
}

/**
 * Reads a large form window by window. SPEC.md, "Windows", has the argument; in outline: the bounds have to show that they
 * work, then every window that a dead pass has not proven is, the largest first and the newest last, then everything is
 * counted again. What contradicts the windows makes them useless: then the form is read whole, and that is remembered.
 *
 * Null where the form is not read in windows.
 */
export async function windowedPass(
  run: PassRun,
  open: OpenForm,
  checkpoint: Checkpoint | undefined,
  size: FormSize,
): Promise<WindowedEnd | null> {
  const planned = await planWindows(run, open, size, checkpoint === undefined);
  if (planned === null) return null;
  const pass = new WindowedPass(run, open, checkpoint, planned.counts);
  return pass.run(size.total, planned.windows);
}

class WindowedPass {
  readonly #run: PassRun;
  readonly #open: OpenForm;
  readonly #work: WindowWork;
  #watermark: string | null;
  readonly #found: FoundRows = { deleted: 0, withheld: 0, undecided: 0, unlisted: 0, hidden: 0 };
  /** How many absent rows may be looked up in all. */
  #allowed = 0;
  /** Whether what windows held back may be looked up now: over the whole form it is not too much. */
  #releases = false;
  /** What was counted of the form and its older windows while the newest was read. */
  #counted: Promise<FirstCounts> | undefined;
  /** Rows without a date that were not looked up. */
  #undatedHeld = 0;
  /** Those that the source does not count, by status. */
  #undated = NO_COUNTS;
  /** Windows that a dead pass has proven. */
  #taken: readonly WindowRecord[] = [];

  readonly #counts: PlannedWindows['counts'];
  /** What they said. */
  #verdict: Awaited<PlannedWindows['counts']> = null;

  constructor(
    run: PassRun,
    open: OpenForm,
    checkpoint: Checkpoint | undefined,
    counts: PlannedWindows['counts'],
  ) {
    this.#run = run;
    this.#counts = counts;
    this.#watermark = checkpoint?.watermark ?? null;
    this.#open = open;
    const isAllowed: WindowWork['isAllowed'] = (...which) => this.#isAllowed(...which);
    const isInVain = (): boolean => typeof this.#verdict === 'string';
    this.#work = { run, open, checkpoint, isAllowed, isInVain };
  }

  async run(total: number, planned: readonly WindowRecord[]): Promise<WindowedEnd> {
    const { writer } = this.#open;
    this.#run.total = total;
    this.#taken = planned.filter((window) => !window.open);
    this.#run.takenOver = this.#taken.reduce((sum, window) => sum + window.total, 0);
    this.#allowed = await allowedDeletions(writer, total, this.#brake);
    if ((await countUndated(writer)) > MOST_UNDATED) return this.#uncut(total);
    const outcome = await this.#prove();
    if (outcome === 'fault') return this.#uncut(total);
    return this.#end(outcome);
  }

  /** The windows, then the newest, then what the counts say of them. */
  async #prove(): Promise<WindowsOutcome> {
    const { writer } = this.#open;
    const judged = this.#counts?.then((counts) => (this.#verdict = counts));
    const older = await allEnded(proveOpenWindows(this.#work, this.#found), judged);
    await judged;
    if (typeof this.#verdict === 'string') return 'fault';
    if (older !== 'proven') return older;
    // After the older ones: a bound that compares the time of a change moves what they have not met into it.
    const newest = await this.#proveNewest({ counts: true });
    if (newest !== 'proven') return newest;
    const grown = await this.#count();
    if (grown === 'fault' || grown === 'unproven') return grown;
    for (const window of grown) await writer.saveWindow({ ...window, open: true });
    const again = await proveOpenWindows(this.#work, this.#found);
    if (again !== 'proven') return again;
    await this.#settleUndated();
    return this.#releaseHeld();
  }

  /**
   * It stays open until the pass has ended: it is what a dead pass has not proven. The counts that follow it are begun beside it:
   * the older windows have been proven by now.
   */
  async #proveNewest({ counts }: { counts: boolean }): Promise<WindowsOutcome> {
    for (let tries = 0; ; tries++) {
      const windows = await this.#open.writer.windows();
      const newest = windows.at(-1);
      if (newest === undefined) return 'unproven';
      await using begun = beginWindow(this.#run, newest);
      // One request of several is left to the pages of the newest, which come one after the other.
      const atOnce = Math.max(1, this.#run.setup.context.readAhead - 1);
      if (counts) this.#counted ??= countOlder(windows, counterOf(this.#run), { atOnce });
      const proving = proveWindow(this.#work, newest, begun);
      // A failure of the counting is thrown by what counts on.
      const { kind, found } = await allEnded(proving, this.#counted);
      addFound(this.#found, found);
      if (kind === 'proven') this.#watermark = this.#run.ledger.watermark(this.#watermark);
      if (kind !== 'unproven' || tries > 0) return kind;
    }
  }

  /** Counts the windows again, which must add up. Those in which more is now than was accounted for. */
  async #count(): Promise<readonly WindowRecord[] | 'fault' | 'unproven'> {
    const windows = await this.#open.writer.windows();
    const counts = await this.#countThese(windows).catch((error: unknown) => {
      if (isRefusal(error)) return 'contradiction' as const;
      throw error;
    });
    if (counts === 'contradiction') return 'fault';
    // They added up when the pass began: by chance, perhaps, where something was deleted and something else arrived.
    if (counts === 'moving') return 'unproven';
    this.#run.total = counts.whole;
    return windows.filter(({ to, total }, at) => to !== null && (counts.each[at] ?? 0) > total);
  }

  async #countThese(windows: readonly WindowRecord[]): ReturnType<typeof countWindows> {
    const first = await this.#counted;
    const newest = windows.at(-1)?.total;
    return countWindows(windows, counterOf(this.#run), first && { ...first, newest });
  }

  /**
   * Windows that have lost much leave it until all have been read: only then it is known what the form has lost in all. None
   * marks more than the form may lose.
   */
  async #isAllowed(window: WindowRecord, absent: number, live: number): Promise<boolean> {
    const { writer } = this.#open;
    if (!(await isWithinAllowed(writer, window, absent, this.#allowed))) return false;
    return this.#releases || absent <= mostDeletions(live, this.#brake);
  }

  get #brake(): { maxDeleteFraction: number; acceptDeletes: boolean | number } {
    const { context, request } = this.#run.setup;
    const { maxDeleteFraction } = context;
    return { maxDeleteFraction, acceptDeletes: request.acceptDeletes ?? false };
  }

  /** Reads those windows again that held deletions back which the whole form may well have. */
  async #releaseHeld(): Promise<WindowsOutcome> {
    const { writer } = this.#open;
    const windows = await writer.windows();
    const held = windows.filter(({ absent }) => absent > 0);
    const all = windows.reduce((sum, { deleted, absent }) => sum + deleted + absent, 0);
    if (held.length === 0 || all > this.#allowed) return 'proven';
    this.#releases = true;
    for (const window of held) {
      // Those of the dead passes before this one are not among the found.
      this.#found.withheld = Math.max(0, this.#found.withheld - window.absent);
      await writer.saveWindow({ ...window, open: true });
    }
    const outcome = await proveOpenWindows(this.#work, this.#found);
    const isNewest = held.some(({ to }) => to === null);
    return outcome === 'proven' && isNewest ? this.#proveNewest({ counts: false }) : outcome;
  }

  /** Rows without a date are in no window: each is asked for by its ID. */
  async #settleUndated(): Promise<void> {
    const { form, sink, writer } = this.#open;
    if ((await countUndated(writer)) === 0) return;
    const before = sink.unstored.all;
    const { call, setup } = this.#run;
    const { context, signal } = setup;
    const found = await markAbsent({
      formId: form.id,
      client: context.client,
      writer,
      ledger: new ProofLedger(),
      liveIds: () => undatedIds(writer),
      isListed: () => false,
      isAllowed: async () => this.#allowed >= 0,
      readAgain: async () => false,
      call,
      signal,
      maxDeleteFraction: context.maxDeleteFraction,
      acceptDeletes: setup.request.acceptDeletes ?? false,
      at: this.#run.now(),
      onFound: (items) => sink.store(items),
      onUndecided: (listings) => sink.list(listings),
      unstored: sink.unstored,
    });
    addFound(this.#found, found);
    this.#undated = minusCounts(sink.unstored.all, before);
    this.#undatedHeld = found.withheld;
  }

  async #uncut(total: number): Promise<WindowedEnd> {
    // What moved too fast to be counted may be cut the next time.
    if (this.#verdict === 'moving') await this.#open.writer.planWindows([]);
    else await leaveUncut(this.#run, this.#open, total);
    return {
      outcome: 'uncut',
      found: this.#found,
      total,
      since: '',
      unstored: null,
      watermark: null,
    };
  }

  async #end(outcome: 'proven' | 'unproven'): Promise<WindowedEnd> {
    const windows = await this.#open.writer.windows();
    const inWindows = unstoredIn(windows);
    const held = windows.reduce((sum, { absent }) => sum + absent, 0);
    this.#found.withheld = held + this.#undatedHeld;
    if (outcome === 'proven') this.#tellTaken(windows);
    return {
      outcome,
      found: this.#found,
      total: windows.reduce((sum, { total }) => sum + total, 0),
      since: oldestProof(windows) ?? this.#run.now(),
      unstored: inWindows && plusCounts(inWindows, this.#undated),
      watermark: this.#watermark,
    };
  }

  /** What this pass claims of windows that it took over is as old as their proofs. */
  #tellTaken(windows: readonly WindowRecord[]): void {
    const left = this.#taken.filter((taken) =>
      windows.some((now) => sameWindow(now, taken) && now.provenAt === taken.provenAt),
    );
    const since = oldestProof(left);
    if (since === null) return;
    this.#run.explain(
      `It went on with a pass that was cut off: ${left.length} of ${plural(windows.length, 'window')} had been compared since ${since}, and what changed there later is found by the next comparison.`,
    );
  }
}

/** What the first comes to, once both have ended. */
async function allEnded<T>(first: Promise<T>, second: Promise<unknown> | undefined): Promise<T> {
  await Promise.allSettled([first, second]);
  return first;
}

/** How many live rows have no date. */
async function countUndated(reader: FormReader): Promise<number> {
  const dated = await countDated(reader, WHOLE_FORM);
  return totalOf(await reader.statusCounts()) - dated;
}

/** Which they are. Memory: 10 bytes for each row that has one. */
async function* undatedIds(reader: FormReader): AsyncGenerator<string[]> {
  const dated = new IdSet();
  for await (const ids of reader.liveIdsWithin(WHOLE_FORM)) for (const id of ids) dated.add(id);
  for await (const ids of reader.liveIds()) yield ids.filter((id) => !dated.has(id));
}
