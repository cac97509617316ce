import { liveRows, sumOf } from '../mirror/form-state.ts';
import type { OpenForm } from '../mirror/port.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { Target } from './target.ts';
import type { Counts } from './counts.ts';
import { type ProfileRecord, type Span } from './profile.ts';
import type { Sink } from './sink.ts';
import { type ListQuery, type Page, PAGE, type Source } from '../forms/source.ts';

/** What a poll's counts say about a form that needs a run. */
export interface Polled {
  /** Our clock just before the poll asked (milliseconds). */
  readonly atMs: number;
  /**
   * The form's own counts, if it is the only one. Null: the poll's newest submissions explained everything that the counts of the workspace
   * showed, so the form's total is enough.
   */
  readonly statuses: Counts | null;
}

/** Options of a run. */
export interface RunOptions {
  /** Reads every range, and compares each answer. */
  readonly isFull?: boolean;
  /** Reads the ranges that are due by their age. */
  readonly isComparison?: boolean;
  /** What the poll that asked for the run has counted. */
  readonly polled?: Polled | undefined;
  /** How many deletions a person accepts: as many as were shown. With any, the run is full. */
  readonly acceptDeletes?: number | undefined;
  /** How long to wait for another process that writes to the form. */
  readonly waitMs?: number | undefined;
  /** Called before the first commit if the target has nothing of the form. If the process is killed later, the next run is not told. */
  readonly onEmpty?: ((form: FormIdentity) => Promise<void>) | undefined;
  /** Called as the run progresses, with the number of submissions seen and the total. */
  readonly onProgress?: ((seen: number, total: number) => void) | undefined;
}

/** What the steps of one run share. */
export interface Work {
  readonly target: Target;
  readonly source: Source;
  readonly form: OpenForm;
  readonly sink: Sink;
  readonly profile: ProfileRecord;
  readonly asked: RunOptions;
  /** How many of the target's rows the source no longer counts, at least. */
  shortBy: number;
  /** How many items lists have shown. */
  seen: number;
}

/** How many submissions of a span are accounted for. */
export const accountedIn = async (of: Pick<OpenForm, 'counts'>, span: Span): Promise<number> =>
  sumOf((await of.counts(span, 'all')).map(({ count }) => count));

/** The most requests of a run: a base, plus some for each page of rows. */
const [FEW_REQUESTS, REQUESTS_A_PAGE] = [300, 4];

/** The pages of a list of the form, within the run's budget. `first`, `ahead`: as in {@link Source.pages}. */
export async function* pagesOf(
  work: Work,
  query: Omit<ListQuery, 'formId'>,
  first?: Page,
  ahead?: number,
): AsyncGenerator<Page, void, undefined> {
  const { source, form } = work;
  for await (const page of source.pages({ ...query, formId: form.state.formId }, first, ahead)) {
    spend(work, page.items.length);
    work.seen += page.items.length;
    work.asked.onProgress?.(work.seen, Math.max(page.total, work.seen));
    yield page;
  }
}

/** Ends a run that takes too many requests. The number of stored rows sets the limit, not the total in a response. */
export function spend({ source, form, sink }: Work, pageSize = PAGE): void {
  const rows = liveRows(form.state.tally) + sink.size;
  const pages = rows / Math.max(1, Math.min(PAGE, pageSize));
  if (source.requests > FEW_REQUESTS + REQUESTS_A_PAGE * pages) throw new Incomplete('REQUESTS');
}

/** Why a run has no proof that it saw everything (L3): each reason is a sentence for a person. */
const REASONS = {
  MOVING:
    'counts and list did not agree: the form changes faster than it can be read, or they contradict each other',
  UNCOUNTED: 'the list does not say how many submissions it has (total)',
  CONTRADICTION: 'the list shows another number of submissions than its total',
  UNPROVEN: 'the list never shows as many submissions as its total, and cannot be divided by date',
  HIDES: 'the list hides submissions that the source has when they are asked for by ID',
  FOREIGN: 'the list shows submissions of other forms: formId is ignored',
  MIXED:
    'its submissions do not name their form, and nothing proves that each form has a list of its own: formId may be ignored',
  REQUESTS: 'the run has used up its requests; the next run continues',
} as const;

/** Ends a run: the submissions it saw are stored, and nothing is claimed. */
export class Incomplete extends Error {
  override readonly name = 'Incomplete';

  /** `detail`: what the run saw, for the person who looks for the cause. */
  constructor(reason: keyof typeof REASONS, detail?: string) {
    super(detail === undefined ? REASONS[reason] : `${REASONS[reason]} (${detail})`);
  }
}
