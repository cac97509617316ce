import { throwIfAborted } from '../base/clock.ts';
import type { CallOptions, FormsClient, SubmissionItem } from '../forms/client.ts';
import type { ProofLedger } from '../mirror/proof.ts';
import type { RowWriter } from '../mirror/target.ts';
import type { Rejection } from '../mirror/types.ts';
import { ById, withKnownStatus } from './by-id.ts';
import type { PassSetup } from './pass-run.ts';
import type { UnstoredCounts } from './unstored-counts.ts';

/** Up to this many absent rows the brake stays off, whatever the fraction: a small form may well lose half of its rows. */
export const BRAKE_MIN_ROWS = 20;

/** How many submissions are requested together; the client limits how many requests are in flight. */
const LOOKUP_CHUNK = 50;

export interface DeletionParts {
  readonly formId: string;
  readonly client: FormsClient;
  readonly writer: RowWriter;
  readonly ledger: ProofLedger;
  /** The last round of the ledger before the list was read. Default: the list is all that it knows of. */
  readonly listedAfter?: number | undefined;
  /** The live rows that the list should show, where it is not the list of the whole form. */
  readonly liveIds?: () => AsyncIterable<string[]>;
  /**
   * How many live rows the list should show, as the target counts them now: where that are as many as the pass has stored,
   * none is absent, and their IDs are not read. Not in a dry run, which stores nothing.
   */
  readonly countLive?: (() => Promise<number>) | undefined;
  /** Whether a submission belongs to that list; one that does not is no sign that the list hides it. */
  readonly isListed?: (item: SubmissionItem) => boolean;
  /** The brake, where other rows count as well; otherwise the absent ones against the live ones. */
  readonly isAllowed?: (absent: number, live: number) => Promise<boolean>;
  /** Reads and proves the list once more, into the same ledger. False: without a proof. */
  readonly readAgain: () => Promise<boolean>;
  /** Called before deletions are marked: throws where they are not to be. */
  readonly beforeMarking?: () => Promise<void>;
  readonly call: CallOptions;
  readonly signal: AbortSignal;
  readonly maxDeleteFraction: number;
  /** True: whatever is absent. A number: so many rows, which a person has been told of, and no more. */
  readonly acceptDeletes: boolean | number;
  /** ISO time for `_deleted_at`. */
  readonly at: string;
  /** Called with submissions that the scan did not show but that still exist. */
  readonly onFound: (items: readonly SubmissionItem[]) => Promise<void>;
  /** Called with absent rows of which nothing can be said, to be listed (L6). */
  readonly onUndecided: (listings: readonly Rejection[]) => Promise<void>;
  /** Rows that cannot be marked deleted, which the target lists, are left out of it. */
  readonly unstored: Pick<UnstoredCounts, 'leaveOutUnmarked'>;
}

/**
 * Counts of rows. `withheld`: absent, but not even looked up because the brake tripped. `undecided`: absent, but asked for
 * by ID the API answers neither with the submission nor that it is gone. `unlisted`: absent, but there when asked for by ID.
 * `hidden`: those of them that no list has shown since.
 */
export interface DeletionResult {
  readonly deleted: number;
  readonly withheld: number;
  readonly undecided: number;
  readonly unlisted: number;
  readonly hidden: number;
}

const NOTHING_ABSENT: DeletionResult = {
  deleted: 0,
  withheld: 0,
  undecided: 0,
  unlisted: 0,
  hidden: 0,
};

/**
 * After a proven full pass: rows that it did not meet are requested by ID, and only a 404 or 410 marks one deleted (L8).
 * Any other refusal says nothing: the row stays as it is and is listed, and the others are marked all the same. More
 * absent rows than {@link BRAKE_MIN_ROWS} and than the fraction of the live rows trip the brake: then nothing is marked.
 *
 * Some may be there when asked for by ID. Either they came back while the list was read, and it shows them when it is read
 * again; or it hides them, and proves nothing of what else it hides. `stands`: whether the list is still a proof;
 * `isProven`: whether the list was proven, whatever it hides.
 */
export async function markAbsent(
  parts: DeletionParts,
): Promise<DeletionResult & { readonly stands: boolean; readonly isProven: boolean }> {
  const { ledger, readAgain, listedAfter } = parts;
  if (await showsEachRow(parts)) return { ...NOTHING_ABSENT, stands: true, isProven: true };
  const first = await markThose(parts, (id) =>
    listedAfter === undefined ? !ledger.has(id) : !ledger.seenAfter(listedAfter, id),
  );
  if (first.unlisted === 0) return { ...first, stands: true, isProven: true };
  const { round } = ledger;
  if (!(await readAgain()))
    return { ...first, unlisted: 0, hidden: first.unlisted, stands: false, isProven: false };
  const again = await markThose(parts, (id) => !ledger.seenAfter(round, id));
  // What was withheld this time was not asked for: it may be the very same.
  const unlisted = again.withheld > 0 ? first.unlisted : again.unlisted;
  const deleted = first.deleted + again.deleted;
  return {
    ...again,
    deleted,
    unlisted,
    hidden: unlisted,
    stands: unlisted === 0,
    isProven: true,
  };
}

/** Whether a pass may count live rows instead of reading their IDs: it stores what it meets, and counting costs less. */
export const countsLive = ({ request, target }: PassSetup): boolean =>
  request.dryRun !== true && target.isMetered !== true;

/** Each submission that was stored is a live row of the list: as many rows are these very ones. */
async function showsEachRow({
  countLive,
  ledger,
  listedAfter = 0,
}: DeletionParts): Promise<boolean> {
  return countLive !== undefined && listedAfter === 0 && (await countLive()) === ledger.stored;
}

async function markThose(
  parts: DeletionParts,
  isAbsent: (id: string) => boolean,
): Promise<DeletionResult> {
  const { live, absent } = await countAbsent(liveIdsOf(parts), isAbsent);
  if (absent === 0) return NOTHING_ABSENT;
  const { acceptDeletes, isAllowed } = parts;
  const isMuch =
    isAllowed === undefined || acceptDeletes === true
      ? absent > mostDeletions(live, parts)
      : !(await isAllowed(absent, live));
  if (isMuch) return { ...NOTHING_ABSENT, withheld: absent };
  let [deleted, undecided, unlisted] = [0, 0, 0];
  const byId = new ById(parts.client, parts.call);
  for await (const ids of absentChunks(parts, isAbsent)) {
    const found = await lookUp(ids, byId);
    if (found.alive.length > 0) await parts.onFound(await withStatuses(found.alive, parts.writer));
    const { isListed = () => true } = parts;
    unlisted += found.alive.filter(isListed).length;
    if (found.gone.length + found.undecided.length === 0) continue;
    // If the form, the workspace or the API vanished meanwhile, no answer about a submission says anything. This throws then.
    await parts.client.getForm(parts.formId, parts.call);
    if (found.gone.length > 0) {
      await parts.beforeMarking?.();
      const marked = await parts.writer.markDeleted(found.gone, parts.at);
      if (marked < found.gone.length)
        parts.unstored.leaveOutUnmarked(await parts.writer.rows(found.gone));
      deleted += marked;
    }
    if (found.undecided.length > 0) await parts.onUndecided(found.undecided);
    undecided += found.undecided.length;
  }
  return { ...NOTHING_ABSENT, deleted, undecided, unlisted };
}

/** So many rows of a form may be found absent before the brake of L8 trips. */
export function mostDeletions(
  live: number,
  { maxDeleteFraction, acceptDeletes }: Pick<DeletionParts, 'maxDeleteFraction' | 'acceptDeletes'>,
): number {
  if (acceptDeletes === true) return Infinity;
  const accepted = acceptDeletes === false ? 0 : acceptDeletes;
  return Math.max(BRAKE_MIN_ROWS, Math.floor(live * maxDeleteFraction), accepted);
}

const liveIdsOf = ({ liveIds, writer }: DeletionParts): AsyncIterable<string[]> =>
  liveIds === undefined ? writer.liveIds() : liveIds();

async function countAbsent(
  liveIds: AsyncIterable<string[]>,
  isAbsent: (id: string) => boolean,
): Promise<{ live: number; absent: number }> {
  let [live, absent] = [0, 0];
  for await (const ids of liveIds) {
    live += ids.length;
    absent += ids.filter(isAbsent).length;
  }
  return { live, absent };
}

async function* absentChunks(
  parts: DeletionParts,
  isAbsent: (id: string) => boolean,
): AsyncGenerator<string[]> {
  const pending: string[] = [];
  for await (const ids of liveIdsOf(parts)) {
    throwIfAborted(parts.signal);
    pending.push(...ids.filter(isAbsent));
    while (pending.length >= LOOKUP_CHUNK) yield pending.splice(0, LOOKUP_CHUNK);
  }
  if (pending.length > 0) yield pending;
}

/** What became of some absent rows. */
export interface Found {
  readonly alive: SubmissionItem[];
  readonly gone: string[];
  readonly undecided: Rejection[];
}

/** Asks for absent rows by their IDs. */
export async function lookUp(ids: readonly string[], byId: ById): Promise<Found> {
  const found: Found = { alive: [], gone: [], undecided: [] };
  await Promise.all(
    ids.map(async (id) => {
      const answer = await byId.ask(id);
      if (answer.kind === 'shown') found.alive.push(answer.item);
      else if (answer.kind === 'gone') found.gone.push(id);
      else
        found.undecided.push({
          submissionId: id,
          reason: whyUndecided(answer.reason),
          stored: true,
        });
    }),
  );
  return found;
}

/** Those whose answer leaves the status out keep the one that is stored. */
export async function withStatuses(
  items: readonly SubmissionItem[],
  writer: Pick<RowWriter, 'rows'>,
): Promise<SubmissionItem[]> {
  const bare = items.filter(({ submission }) => submission?.status === '').map(({ key }) => key);
  const rows = bare.length === 0 ? undefined : await writer.rows(bare);
  return items.map((item) => withKnownStatus(item, rows?.get(item.key)?.status ?? null));
}

const whyUndecided = (answer: string): string =>
  `absent from the list, and whether it was deleted is not known: asked for by ID, ${answer}`;
