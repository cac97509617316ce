import { randomUUID } from 'node:crypto';
import { toMirrorError } from '../base/errors.ts';
import { withLogFields } from '../base/logger.ts';
import { ProofLedger } from '../mirror/proof.ts';
import { storeAlike } from '../mirror/proven-for.ts';
import type { FormReader, Target } from '../mirror/target.ts';
import type { Checkpoint, Form } from '../mirror/types.ts';
import { isShared, type WindowReading, type WindowRecord } from '../mirror/window.ts';
import type { SyncContext } from './context.ts';
import { type DeletionResult, mostDeletions } from './deletions.ts';
import type { PassRequest } from './pass-request.ts';
import { PassRun } from './pass-run.ts';
import { refusePaused } from './pause-watch.ts';
import type { RowSink } from './row-sink.ts';
import { allowedDeletions, isWithinAllowed } from './window-brake.ts';
import { type TakenWindow, WindowAhead } from './window-ahead.ts';
import { type ClaimedWindow, claimWindow, largestFirst } from './window-claims.ts';
import { beginWindow, proveWindow } from './window-proof.ts';

/** How often at most the progress of a window is written. */
const TELL_MS = 1_000;

/** What to help with: as the pass that it helps stores a form, if the settings are the same. */
export type AssistRequest = Pick<PassRequest, 'formId' | 'picks' | 'hashKey' | 'requireNames'> & {
  /** Asked before each window but the first: whether to take one more. */
  readonly goesOn?: () => boolean;
};

/**
 * Helps the full pass that holds a form: proves windows of it that nobody holds, one after the other, until there is none
 * or the request says so, and returns how many. The pass itself, wherever it runs, counts what was done here, and ends alone. Returns soon after the
 * pass has ended or died. Rejects as the source and the target do, and when stopped: then the window is given back, after the
 * current batch.
 */
export async function assistPass(
  context: SyncContext,
  target: Target,
  request: AssistRequest,
  signal: AbortSignal,
): Promise<number> {
  if (!target.parallelWindows) return 0;
  await refusePaused(target, { id: request.formId, slug: request.formId });
  const reader = await target.reader(request.formId);
  if (reader === undefined || (await sharedWindows(reader)).length === 0) return 0;
  const passId = randomUUID();
  const { goesOn = () => true, ...pass } = request;
  return withLogFields({ passId }, async () => {
    const run = new PassRun({
      context,
      target,
      request: { ...pass, kind: 'full', waitMs: 0 },
      signal,
      passId,
      newLedger: (oldest) => new ProofLedger(oldest),
      silent: true,
    });
    return new Assistant(run, reader, goesOn).run();
  });
}

const sharedWindows = async (reader: FormReader): Promise<WindowRecord[]> =>
  (await reader.windows()).filter(isShared).toSorted(largestFirst);

/** A window that this worker reads. */
type HelpedWindow = ClaimedWindow & TakenWindow;

class Assistant {
  readonly #run: PassRun;
  readonly #reader: FormReader;
  readonly #goesOn: () => boolean;
  readonly #tried = new Set<string | null>();
  #form: Form | undefined;
  #proven = 0;
  /** Requests that windows before account for. */
  #told = 0;

  constructor(run: PassRun, reader: FormReader, goesOn: () => boolean) {
    this.#run = run;
    this.#reader = reader;
    this.#goesOn = goesOn;
  }

  async run(): Promise<number> {
    const checkpoint = await this.#reader.checkpoint();
    await using ahead = new WindowAhead<HelpedWindow>();
    do {
      const taken = await ahead
        .next()
        .then((next) => next ?? this.#take())
        .catch(overWhenLost);
      if (taken === undefined) return this.#proven;
      await using _writer = taken.writer;
      await using _begun = taken.begun;
      const onTail = (): void => ahead.begin(() => this.#takeNext());
      const goesOn = await this.#prove(taken, checkpoint, onTail).catch(overWhenLost);
      if (goesOn !== true) return this.#proven;
    } while (this.#goesOn());
    return this.#proven;
  }

  /** A window that nobody holds and that was not tried here, begun to be read. */
  async #take(): Promise<HelpedWindow | undefined> {
    const { request, signal, target } = this.#run.setup;
    const shared = await sharedWindows(this.#reader);
    const left = shared.filter(({ from }) => !this.#tried.has(from));
    const claimed = await claimWindow(target, request.formId, left, signal);
    if (claimed === undefined) return undefined;
    this.#tried.add(claimed.window.from);
    return { ...claimed, begun: beginWindow(this.#run, claimed.window) };
  }

  async #takeNext(): Promise<HelpedWindow | undefined> {
    return this.#goesOn() ? this.#take() : undefined;
  }

  /** Reads a window; false where there is nothing to be done for that pass any more. */
  async #prove(
    { window, writer, begun }: HelpedWindow,
    checkpoint: Checkpoint | undefined,
    onTail: () => void,
  ): Promise<boolean> {
    const run = this.#run;
    const before = this.#told;
    // Not before there is a window to read: while others hold them all, this costs no request.
    const form = await this.#readForm();
    if (form === null) return false;
    const sink = run.openSink(form, writer);
    await sink.open(false);
    const wanted = window.provenFor ?? '';
    if (!storeAlike(run.proven().provenFor, wanted)) {
      const { name } = run.setup.target;
      run.setup.context.logger.warn(
        { target: name, form: form.id },
        'Another worker reads this form with other settings: this one does not help. Give all workers the same settings.',
      );
      return false;
    }
    const reading = (found: DeletionResult): WindowReading =>
      readingNow(run, sink, run.requests - before, found);
    run.onBatch = tellWindow(run, () =>
      writer.saveWindow({ ...window, reading: reading(NOTHING_YET) }),
    );
    const { kind } = await proveWindow(
      {
        run,
        open: { form, sink, writer },
        checkpoint,
        onTail,
        isAllowed: async (each, absent, live) => {
          const { maxDeleteFraction } = run.setup.context;
          const brake = { maxDeleteFraction, acceptDeletes: false };
          const windows = await writer.windows();
          const total = windows.reduce((sum, one) => sum + one.total, 0);
          const allowed = await allowedDeletions(writer, total, brake);
          const isLittle = await isWithinAllowed(writer, each, absent, allowed);
          return isLittle && absent <= mostDeletions(live, brake);
        },
        readingOf: (found) => {
          this.#told = run.requests;
          return reading(found);
        },
      },
      window,
      begun,
    );
    if (kind === 'proven') this.#proven++;
    // What contradicts the windows, the pass itself will meet and judge.
    return kind !== 'fault';
  }

  async #readForm(): Promise<Form | null> {
    if (this.#form !== undefined) return this.#form;
    const { request, signal } = this.#run.setup;
    const form = await this.#run.readForm();
    if (form === null) return null;
    await request.requireNames?.(form, signal);
    this.#run.form = form;
    this.#form = form;
    return form;
  }
}

const NOTHING_YET: DeletionResult = {
  deleted: 0,
  withheld: 0,
  undecided: 0,
  unlisted: 0,
  hidden: 0,
};

function readingNow(
  run: PassRun,
  sink: RowSink,
  requests: number,
  { deleted, undecided }: DeletionResult,
): WindowReading {
  const { inserted, updated, unchanged, rejected } = sink;
  return {
    seen: run.ledger.distinct,
    inserted,
    updated,
    unchanged,
    rejected,
    deleted,
    undecided,
    requests,
  };
}

/** Writes the progress of a window now and then; what cannot be written is told with the next. */
function tellWindow(run: PassRun, save: () => Promise<void>): () => void {
  const { clock } = run.setup.context;
  let toldMs = clock.now();
  return () => {
    if (clock.now() - toldMs < TELL_MS) return;
    toldMs = clock.now();
    save().catch(() => {});
  };
}

/** The pass has ended, or another one has begun: there is nothing to help with. */
function overWhenLost(error: unknown): undefined {
  if (toMirrorError(error).code !== 'TARGET_LOST_LOCK') throw error;
}
