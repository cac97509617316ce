import { FormPages } from '../forms/form-pages.ts';
import { SourceCounts } from '../forms/submission-counts.ts';
import { canonicalTime, laterOf } from '../mirror/canonical-time.ts';
import {
  boundsOf,
  type FormWindow,
  isCut,
  uncutForm,
  unreadWindow,
  WHOLE_FORM,
  type WindowRecord,
} from '../mirror/window.ts';
import { countOlder, countWindows, type WindowCounts } from './count-windows.ts';
import { cutWindows } from './cut-windows.ts';
import type { OpenForm, PassRun } from './pass-run.ts';
import { isRefusal, proofKey } from './window-proof.ts';
import { WINDOW_SIZES, type WindowSizes } from './window-sizes.ts';

/** How long a form that does not work in windows is left as it is. */
const FAILED_REST_MS = 7 * 24 * 60 * 60_000;
/** A pass that ended within this time without having proven every window is gone on with. */
const RUN_MS = 24 * 60 * 60_000;

/** How large the windows of this pass are. */
export const windowSizesOf = ({ setup }: PassRun): WindowSizes =>
  setup.context.windowSizes ?? WINDOW_SIZES;

/** Asks how many submissions a form has in a window. */
export function counterOf(run: PassRun): (window: FormWindow) => Promise<number> {
  const counts = new SourceCounts(run.setup.context.client, run.call);
  return (window) => counts.count({ formId: run.form.id, ...boundsOf(window) });
}

/** What the first page of the form said. */
export interface FormSize {
  readonly total: number;
  /** The newest date that it showed (canonical time); null: none. */
  readonly newest: string | null;
}

/** The windows that a full pass reads the form in, as they are kept in the target. */
export interface PlannedWindows {
  readonly windows: readonly WindowRecord[];
  /** Whether they account for the whole form; until then their proofs prove nothing. Null: they do. */
  readonly counts: Promise<WindowCounts | 'contradiction' | 'moving'> | null;
}

/**
 * Plans the windows that a full pass reads the form in; null where it is read whole. In a
 * `backfill`, of a form that was never proven, those that a full pass before this one has proven are not open, if that one
 * died lately and their proofs still say what this pass has to bring about. Otherwise all are: this pass begins anew.
 */
export async function planWindows(
  run: PassRun,
  { writer }: OpenForm,
  size: FormSize,
  backfill: boolean,
): Promise<PlannedWindows | null> {
  const { aim, most } = windowSizesOf(run);
  // Few forms are large: of the others nothing is read.
  if (size.total <= aim) return null;
  const known = await writer.windows();
  if (size.total <= most && !isCut(known)) return null;
  const [first] = known;
  if (
    first !== undefined &&
    first.failedAt !== null &&
    isRecent(run, first.failedAt, FAILED_REST_MS)
  )
    return null;
  const cut = await cutForm(run, known, size, backfill);
  if (cut === null) return null;
  if (cut === 'fault') {
    await leaveUncut(run, { writer }, size.total);
    return null;
  }
  const goesOn = backfill && known.some(({ open }) => open);
  const planned = openWindows(run, cut, goesOn);
  if (JSON.stringify(planned) !== JSON.stringify(known)) await writer.planWindows(planned);
  return { windows: planned, counts: cut.counts };
}

/** Remembers that the form is read whole, so that windows are not tried at each pass. */
export async function leaveUncut(
  run: PassRun,
  { writer }: Pick<OpenForm, 'writer'>,
  total: number,
): Promise<void> {
  await writer.planWindows([uncutForm(total, run.now())]);
}

interface CutForm {
  readonly windows: readonly WindowRecord[];
  /** How many there are in each. */
  readonly each: readonly number[];
  readonly counts: PlannedWindows['counts'];
}

/**
 * The form as it is cut, or as it is now, with its counts; null: while it moves so, nothing can be said. What nothing rests on
 * before a full pass has been proven, as in a backfill, may be counted while it is read.
 */
async function cutForm(
  run: PassRun,
  known: readonly WindowRecord[],
  size: FormSize,
  backfill: boolean,
): Promise<CutForm | 'fault' | null> {
  const { aim, most } = windowSizesOf(run);
  const count = counterOf(run);
  // A list may begin with the oldest.
  const newest = laterOf(size.newest, run.now()) ?? run.now();
  const cut = async ({ from }: FormWindow, total: number): Promise<WindowRecord[]> => {
    const likely = await likelySpan(run, from, size);
    const windows = await cutWindows({ from, total, newest, likely, aim, count });
    return windows.map((window) => unreadWindow(window, window.total));
  };
  try {
    let windows: readonly WindowRecord[] = isCut(known) ? known : await cut(WHOLE_FORM, size.total);
    if (!isCut(windows)) return 'fault';
    const each = windows.map(({ total }) => total);
    if (backfill && !isCut(known)) {
      return { windows, each, counts: countBeside(windows, count, size.total) };
    }
    let counts = await countWindows(
      windows,
      count,
      await countOlder(windows, count, { known: size.total }),
    );
    const last = windows.at(-1);
    const grown = typeof counts === 'string' ? 0 : (counts.each.at(-1) ?? 0);
    if (last !== undefined && grown > most) {
      const pieces = await cut(last, grown);
      // A day that has it all stays one window.
      if (isCut(pieces)) {
        windows = [...windows.slice(0, -1), ...pieces];
        counts = await countWindows(windows, count);
      }
    }
    if (counts === 'contradiction') return 'fault';
    return counts === 'moving' ? null : { windows, each: counts.each, counts: null };
  } catch (error) {
    if (isRefusal(error)) return 'fault';
    throw error;
  }
}

/** Counts windows while they are read. */
function countBeside(
  windows: readonly FormWindow[],
  count: (window: FormWindow) => Promise<number>,
  total: number,
): ReturnType<typeof countWindows> {
  const counts = countOlder(windows, count, { known: total })
    .then((first) => countWindows(windows, count, first))
    .catch((error: unknown) => {
      if (isRefusal(error)) return 'contradiction' as const;
      throw error;
    });
  // A failure is thrown where it is waited for.
  counts.catch(() => {});
  return counts;
}

/** Between which dates submissions are likely to lie, from some day on: by what an end of the list shows. */
async function likelySpan(
  run: PassRun,
  from: string | null,
  { newest }: FormSize,
): Promise<readonly [string, string] | null> {
  if (newest === null) return null;
  const pages = new FormPages(run.setup.context.client, run.form.id, run.call);
  const other = from ?? (await pages.readReversed(1, 1))?.items[0]?.submission?.createdAt;
  const oldest = canonicalTime(other ?? '');
  if (oldest === null) return null;
  return laterOf(oldest, newest) === newest ? [oldest, newest] : [newest, oldest];
}

/** Which windows are open to this pass. */
function openWindows(run: PassRun, { windows, each }: CutForm, goesOn: boolean): WindowRecord[] {
  const key = proofKey(run);
  const accepts = run.setup.request.acceptDeletes ?? false;
  const isDone = (window: WindowRecord, counted: number): boolean =>
    goesOn &&
    !window.open &&
    window.provenFor === key &&
    window.provenAt !== null &&
    isRecent(run, window.provenAt, RUN_MS) &&
    // Something came or went since then.
    window.total === counted &&
    !(accepts && window.absent > 0);
  return windows.map((window, at) => {
    const total = each[at] ?? 0;
    if (at < windows.length - 1 && isDone(window, total)) return { ...window };
    return { ...window, total, provenFor: key, deleted: 0, absent: 0, open: true };
  });
}

const isRecent = (run: PassRun, at: string, withinMs: number): boolean =>
  Math.abs(run.setup.context.clock.now() - Date.parse(at)) < withinMs;
