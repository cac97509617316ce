import { throwIfAborted } from '../base/clock.ts';
import type { CallOptions, FormsClient, SubmissionItem, SubmissionPage } from '../forms/client.ts';
import type { FormPages, PageQuery } from '../forms/form-pages.ts';
import { canonicalTime } from '../mirror/canonical-time.ts';
import type { MsSpan } from '../mirror/cut-span.ts';
import type { FormWriter } from '../mirror/target.ts';
import { type FormWindow, isWithin, type QueryBounds } from '../mirror/window.ts';
import type { ById } from './by-id.ts';
import { type Found, lookUp, withStatuses } from './deletions.ts';
import type { RowSink } from './row-sink.ts';

/** Why a comparison by counts ends without having made both sides agree. */
export type Obstacle =
  /** `dateFrom` and `dateTo`, or the list itself, show something else than was asked for. */
  | 'bounds'
  /** More rows are absent than may be marked deleted. */
  | 'brake'
  /** As many requests were made as a comparison may cost. */
  | 'spent'
  /** `status` has no effect. */
  | 'counts'
  /** The source kept changing. */
  | 'moving';

/** Ends a comparison from within. */
export class ComparisonEnded extends Error {
  readonly obstacle: Obstacle;

  constructor(obstacle: Obstacle) {
    super(`a comparison by counts ended: ${obstacle}`);
    this.obstacle = obstacle;
  }
}

/** A span did not show what its bounds say: they may be read in another way. */
export class OutOfBounds extends Error {}

export interface LeafParts {
  readonly formId: string;
  readonly client: Pick<FormsClient, 'getForm'>;
  readonly pages: Pick<FormPages, 'read'>;
  readonly writer: FormWriter;
  readonly sink: Pick<RowSink, 'take' | 'flush' | 'store' | 'list' | 'unstored'>;
  readonly byId: ById;
  readonly call: CallOptions;
  readonly signal: AbortSignal;
  readonly batchRows: number;
  /** ISO time for `_deleted_at`. */
  readonly at: string;
  /** Called before each request; throws {@link ComparisonEnded} when there have been enough. */
  readonly spend: () => void;
  /** Whether so many rows of a leaf may be found deleted: false where the brake trips. */
  readonly mayDelete: (absent: number) => boolean;
}

/** The submissions of a status, dated within a span. */
export interface Leaf {
  /** Null: of any status. */
  readonly status: string | null;
  readonly span: MsSpan;
  /** What to ask with for the span. */
  readonly bounds: QueryBounds;
}

/** What came of a leaf. */
export interface LeafResult {
  /** What the source counts in it and the target has no row of, less the rows of which it says nothing, and unmarked ones. */
  readonly unstored: number;
  readonly deleted: number;
  readonly undecided: number;
}

/** How often a list that moves while it is read is read. */
const TRIES = 3;
/** So many are asked for by ID first: where the list shows something else than was asked for, each of them is there. */
const FIRST_LOOKUP = 5;
const LOOKUP_CHUNK = 50;

/**
 * Reads the submissions of a leaf and makes the rows the same: what is shown is stored, and rows of the leaf that are not
 * shown are asked for by their IDs. Every request is made after the one before has been stored, so that nothing older is
 * ever stored over something newer. Throws {@link OutOfBounds} for a list that does not show what it was asked for.
 */
export async function settleLeaf(parts: LeafParts, leaf: Leaf): Promise<LeafResult> {
  const shown = await readLeaf(parts, leaf);
  if (shown === null) return { unstored: 0, deleted: 0, undecided: 0 };
  const { absent, others } = await compareIds(parts, leaf, shown.keys);
  const first = absent.splice(0, FIRST_LOOKUP);
  // So many may be absent because the list shows something else: then those that are asked for first are there.
  const isTooMuch = !parts.mayDelete(first.length + absent.length);
  let { deleted, undecided, unmarked } = await settleAbsent(parts, leaf, first, !isTooMuch);
  if (isTooMuch) throw new ComparisonEnded('brake');
  while (absent.length > 0) {
    throwIfAborted(parts.signal);
    const found = await settleAbsent(parts, leaf, absent.splice(0, LOOKUP_CHUNK), true);
    deleted += found.deleted;
    undecided += found.undecided;
    unmarked += found.unmarked;
  }
  return { unstored: others + shown.further - undecided - unmarked, deleted, undecided };
}

interface Shown {
  readonly keys: ReadonlySet<string>;
  /** Entries that repeat a submission, where the source counts each. */
  readonly further: number;
}

/**
 * Stores what the list shows. Null: it kept moving, and says nothing of what it does not show. An entry counts as a further one
 * of its submission where one response shows both: ties that change places between two pages show one twice, and hide another.
 */
async function readLeaf(parts: LeafParts, leaf: Leaf): Promise<Shown | null> {
  let isUnclear = false;
  for (let tries = 0; tries < TRIES; tries++) {
    const keys = new Set<string>();
    const first = await readPage(parts, leaf, 1, keys);
    let [entries, further, isStill] = [first.items.length, doublesOf(first), true];
    for (let page = 2; page <= first.totalPages; page++) {
      const next = await readPage(parts, leaf, page, keys);
      entries += next.items.length;
      further += doublesOf(next);
      isStill &&= next.total === first.total;
    }
    await parts.sink.flush();
    if (!isStill) continue;
    if (keys.size === first.total) return { keys, further: 0 };
    if (entries === first.total && entries - keys.size === further) return { keys, further };
    isUnclear = true;
  }
  // Only reading everything tells whether such entries hide a submission.
  if (isUnclear) throw new ComparisonEnded('bounds');
  return null;
}

const doublesOf = ({ items }: SubmissionPage): number =>
  items.length - new Set(items.map(({ key }) => key)).size;

async function readPage(
  parts: LeafParts,
  { status, span, bounds }: Leaf,
  page: number,
  keys: Set<string>,
): Promise<SubmissionPage> {
  throwIfAborted(parts.signal);
  parts.spend();
  const query: PageQuery = {
    ...bounds,
    page,
    ...(status !== null && { status }),
  };
  const response = await parts.pages.read(query);
  await parts.sink.take(response.items);
  for (const { key } of response.items) keys.add(key);
  const window = windowOf(span);
  if (response.items.every((item) => isAsked(item, status, window))) return response;
  await parts.sink.flush();
  throw new OutOfBounds();
}

function isAsked(
  { submission }: SubmissionItem,
  status: string | null,
  window: FormWindow,
): boolean {
  if (submission === null) return true;
  // One that shows no status is counted with what the source takes it to have.
  if (status !== null && submission.status !== status && submission.status !== '') return false;
  return isWithin(window, canonicalTime(submission.createdAt));
}

/** Rows of the leaf that the list did not show, and how many of those shown have no row. */
async function compareIds(
  { writer, batchRows, mayDelete }: LeafParts,
  { status, span }: Leaf,
  keys: ReadonlySet<string>,
): Promise<{ absent: string[]; others: number }> {
  const absent: string[] = [];
  const rest = new Set(keys);
  for await (const ids of writer.liveIdsWithin(windowOf(span), status ?? undefined)) {
    for (const id of ids) if (!rest.delete(id)) absent.push(id);
    if (!mayDelete(absent.length)) break;
  }
  // A row without a date is in no span.
  let others = rest.size;
  const unseen = [...rest];
  for (let at = 0; at < unseen.length; at += batchRows) {
    for (const row of (await writer.rows(unseen.slice(at, at + batchRows))).values()) {
      if (row.deletedAt === null && (status === null || row.status === status)) others--;
    }
  }
  return { absent, others };
}

async function settleAbsent(
  parts: LeafParts,
  leaf: Leaf,
  ids: readonly string[],
  mayMark: boolean,
): Promise<{ deleted: number; undecided: number; unmarked: number }> {
  const { writer, sink, byId } = parts;
  for (const _id of ids) parts.spend();
  const found = await lookUp(ids, byId);
  const alive = await withStatuses(found.alive, writer);
  if (alive.length > 0) await sink.store(alive);
  const hidden = alive.filter((item) => isAsked(item, leaf.status, windowOf(leaf.span)));
  if (hidden.length > 0) await requireShown(parts, leaf, hidden);
  const { deleted, unmarked } = mayMark ? await markGone(parts, found) : NONE_MARKED;
  return { deleted, undecided: found.undecided.length, unmarked };
}

/** What is there by ID belongs to the leaf, so its list shows it by now, or shows something else than was asked for. */
async function requireShown(
  parts: LeafParts,
  leaf: Leaf,
  hidden: readonly SubmissionItem[],
): Promise<void> {
  const again = await readLeaf(parts, leaf);
  if (again !== null && hidden.some(({ key }) => !again.keys.has(key))) throw new OutOfBounds();
}

const NONE_MARKED = { deleted: 0, unmarked: 0 };

/** `unmarked`: rows of submissions that are gone which could not be marked, and which the target lists. */
async function markGone(
  { formId, client, writer, sink, call, at, spend }: LeafParts,
  { gone, undecided }: Found,
): Promise<{ deleted: number; unmarked: number }> {
  if (gone.length + undecided.length === 0) return NONE_MARKED;
  // If the form, the workspace or the API vanished meanwhile, no answer about a submission says anything. This throws then.
  spend();
  await client.getForm(formId, call);
  if (undecided.length > 0) await sink.list(undecided);
  if (gone.length === 0) return NONE_MARKED;
  const deleted = await writer.markDeleted(gone, at);
  if (deleted === gone.length) return { deleted, unmarked: 0 };
  return { deleted, unmarked: sink.unstored.leaveOutUnmarked(await writer.rows(gone)) };
}

/** As the target and the windows of the form call it. */
function windowOf({ fromMs, toMs }: MsSpan): FormWindow {
  const iso = (ms: number | null): string | null =>
    ms === null ? null : new Date(ms).toISOString();
  return { from: iso(fromMs), to: iso(toMs) };
}
