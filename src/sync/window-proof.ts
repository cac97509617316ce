import { LinkedSignal } from '../base/linked-signal.ts';
import type { CallOptions, SubmissionItem } from '../forms/client.ts';
import { FormsApiError } from '../forms/errors.ts';
import { FormPages } from '../forms/form-pages.ts';
import { canonicalTime } from '../mirror/canonical-time.ts';
import { fingerprint } from '../mirror/hashing.ts';
import { countsText, minusCounts } from '../mirror/status-counts.ts';
import type { FormReader, RowWriter } from '../mirror/target.ts';
import type { TimeSpan } from '../mirror/time-counts.ts';
import type { Checkpoint, Form } from '../mirror/types.ts';
import { type FormWindow, isWithin, type WindowRecord } from '../mirror/window.ts';
import { countsLive, type DeletionResult, markAbsent } from './deletions.ts';
import { fullScan, type ItemSink, type ScanParts } from './full-scan.ts';
import { hashUnmetRows } from './hash-unseen-rows.ts';
import { oldestPlausible } from './incremental-scan.ts';
import type { PassRun } from './pass-run.ts';
import type { RowSink } from './row-sink.ts';

/** What windows of a form are read through. */
export interface OpenWindows {
  readonly form: Form;
  readonly writer: RowWriter;
  readonly sink: RowSink;
}

/** How one window of a form is proven; the same for each window of a pass. */
export interface WindowWork {
  readonly run: PassRun;
  readonly open: OpenWindows;
  readonly checkpoint: Checkpoint | undefined;
  /** The brake of L8, over the whole form: whether so many absent rows, of so many live ones of this window, may be looked up. */
  readonly isAllowed: (window: WindowRecord, absent: number, live: number) => Promise<boolean>;
  /** Asked before each window: whether it is known by now that windows prove nothing. */
  readonly isInVain?: () => boolean;
  /** See {@link ScanParts}. */
  readonly onTail?: () => void;
}

/** The list of a window that has been begun to be read. Disposing of it breaks off what of it is on its way. */
export interface BegunWindow extends AsyncDisposable {
  readonly pages: FormPages;
  /** Since when (ISO): what is proven by it was so then. */
  readonly since: string;
}

/** Begins to read a window, while another one is proven. Nobody else may write to it meanwhile. */
export function beginWindow(run: PassRun, window: FormWindow): BegunWindow {
  const since = run.now();
  const stop = new LinkedSignal(run.call.signal);
  const pages = pagesOf(run, window, { ...run.call, signal: stop.signal });
  pages.begin(run.setup.context.readAhead);
  const dispose = async (): Promise<void> => {
    stop.abort();
    await pages.drop();
    stop[Symbol.dispose]();
  };
  return { pages, since, [Symbol.asyncDispose]: dispose };
}

/**
 * What became of a window. `unproven`: what was seen is stored. `fault`: the source does not read the bounds as they are
 * meant, or its list hides submissions; then no window of the form proves anything.
 */
export type WindowOutcome =
  | { readonly kind: 'proven'; readonly window: WindowRecord; readonly found: DeletionResult }
  | { readonly kind: 'unproven' | 'fault'; readonly found: DeletionResult };

const NOTHING_FOUND: DeletionResult = {
  deleted: 0,
  withheld: 0,
  undecided: 0,
  unlisted: 0,
  hidden: 0,
};

/**
 * What the proof of a window depends on besides the source: what its rows are stored as, and what the target had lost when
 * the pass began. A proof under another key says nothing of what this pass has to bring about.
 */
export function proofKey(run: PassRun): string {
  const { provenFor } = run.proven();
  if (run.lost.length === 0) return provenFor;
  return `${provenFor}.${fingerprint(run.lost.map((loss) => JSON.stringify(loss)).toSorted())}`;
}

/**
 * Reads one window of a form, proves it as a form is proven, settles its absent rows, and saves its record in the target once
 * its rows are durable. `begun`: it is being read already. Rejects as the source and the target do.
 */
export async function proveWindow(
  work: WindowWork,
  window: WindowRecord,
  begun?: BegunWindow,
): Promise<WindowOutcome> {
  const { run, open } = work;
  const { sink, writer } = open;
  const provenAt = begun?.since ?? run.now();
  const unstored = sink.unstored.all;
  const pages = begun?.pages ?? pagesOf(run, window, run.call);
  const parts = windowParts(work, window, pages);
  try {
    const proven = await fullScan({ ...parts, first: await pages.first() });
    await sink.flush();
    const { hashKey } = run.setup.request;
    const { batchRows } = run.setup.target;
    const hashParts = { writer, fields: sink.fields, hashKey, batchRows };
    const liveIds = (): AsyncIterable<string[]> => writer.liveIdsWithin(window);
    await hashUnmetRows(hashParts, (id) => parts.ledger.has(id), liveIds);
    if (!proven) return { kind: 'unproven', found: NOTHING_FOUND };
    const { stands, isProven, ...found } = await settleAbsent(work, window, parts);
    if (!stands) return { kind: isProven ? 'fault' : 'unproven', found };
    const record: WindowRecord = {
      ...window,
      total: parts.ledger.accounted,
      provenAt,
      provenFor: proofKey(run),
      deleted: found.deleted,
      absent: found.withheld,
      unstored: countsText(minusCounts(sink.unstored.all, unstored)),
      // The newest is what a pass ends with.
      open: window.to === null && window.open,
    };
    await writer.saveWindow(record);
    return { kind: 'proven', window: record, found };
  } catch (error) {
    if (!isFault(error)) throw error;
    await sink.flush();
    return { kind: 'fault', found: NOTHING_FOUND };
  }
}

const pagesOf = ({ setup, form }: PassRun, window: FormWindow, call: CallOptions): FormPages =>
  new FormPages(setup.context.client, form.id, call, window);

/** How many live rows are dated within the span. */
export async function countDated(
  reader: Pick<FormReader, 'timeCounts'>,
  span: TimeSpan,
): Promise<number> {
  const dated = await reader.timeCounts(span, 'day');
  return dated.reduce((sum, { rows }) => sum + rows, 0);
}

function windowParts(
  { run, open, checkpoint, onTail }: WindowWork,
  window: FormWindow,
  pages: FormPages,
): ScanParts {
  return {
    ...run.scanParts(open, checkpoint !== undefined),
    pages,
    onTail,
    sink: new WindowSink(open.sink, window),
    ledger: run.beginWindow(oldestPlausible(checkpoint), window),
    // The form's is known, and a window's is none.
    onTotal: () => {},
  };
}

function settleAbsent(
  { run, open, isAllowed }: WindowWork,
  window: WindowRecord,
  parts: ScanParts,
): ReturnType<typeof markAbsent> {
  const { form, sink, writer } = open;
  const { context, request, signal } = run.setup;
  return markAbsent({
    formId: form.id,
    client: context.client,
    writer,
    ledger: parts.ledger,
    liveIds: () => writer.liveIdsWithin(window),
    // The row had another date: the window that it is in now shows it.
    isListed: (item) => isWithin(window, timeOf(item)),
    isAllowed: (absent, live) => isAllowed(window, absent, live),
    countLive: countsLive(run.setup) ? () => countDated(writer, window) : undefined,
    readAgain: () => fullScan(parts),
    beforeMarking: () => run.refusePaused(),
    call: run.call,
    signal,
    maxDeleteFraction: context.maxDeleteFraction,
    acceptDeletes: request.acceptDeletes ?? false,
    at: run.now(),
    onFound: (items) => sink.store(items),
    onUndecided: (listings) => sink.list(listings),
    unstored: sink.unstored,
  });
}

const timeOf = ({ submission }: SubmissionItem): string | null =>
  canonicalTime(submission?.createdAt ?? '');

/** Thrown when a list shows a submission that is dated outside of its window. */
class OutsideWindow extends Error {}

/** The API refuses the bounds (400), or reads them otherwise. */
const isFault = (error: unknown): boolean => error instanceof OutsideWindow || isRefusal(error);

/** Whether the API refused a request for what is in it (400, 422), as it may do with bounds. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof FormsApiError && (error.status === 400 || error.status === 422);

/** Passes on what a window shows, and ends its scan where that does not belong to it. */
class WindowSink implements ItemSink {
  readonly #sink: ItemSink;
  readonly #window: FormWindow;

  constructor(sink: ItemSink, window: FormWindow) {
    this.#sink = sink;
    this.#window = window;
  }

  async take(items: readonly SubmissionItem[]): Promise<void> {
    await this.#sink.take(items);
    if (!items.every((item) => isWithin(this.#window, timeOf(item)))) throw new OutsideWindow();
  }

  flush(): Promise<void> {
    return this.#sink.flush();
  }
}
