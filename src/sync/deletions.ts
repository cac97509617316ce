import { throwIfAborted } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { CallOptions, FormsClient, SubmissionItem } from '../forms/client.ts';
import type { ProofLedger } from '../mirror/proof.ts';
import type { FormWriter } from '../mirror/target.ts';

/** Up to this many absent rows the brake stays off, whatever the fraction: a small form may lose half of its rows. */
export const BRAKE_MIN_ROWS = 20;

/** How many submissions are asked for at once; the client bounds what is in flight. */
const ASK_CHUNK = 50;

/** What {@link markAbsent} works with. */
export interface DeletionParts {
  readonly formId: string;
  readonly client: FormsClient;
  readonly writer: FormWriter;
  readonly ledger: ProofLedger;
  readonly call: CallOptions;
  readonly signal: AbortSignal;
  readonly maxDeleteFraction: number;
  readonly acceptDeletes: boolean;
  /** ISO time for `_deleted_at`. */
  readonly at: string;
  /** Takes submissions that the scan did not show and that are there all the same. */
  readonly onFound: (items: readonly SubmissionItem[]) => Promise<void>;
}

/** `withheld`: absent rows that the brake kept from being asked about. */
export interface DeletionResult {
  readonly deleted: number;
  readonly withheld: number;
}

/**
 * After a proven full pass: rows that it did not meet are asked for by ID, and only a 404 marks one deleted (L8). More
 * of them than {@link BRAKE_MIN_ROWS} and than the fraction of the live rows trip the brake: then nothing is marked.
 */
export async function markAbsent(parts: DeletionParts): Promise<DeletionResult> {
  const { live, absent } = await countAbsent(parts);
  if (absent === 0) return { deleted: 0, withheld: 0 };
  const allowed = Math.max(BRAKE_MIN_ROWS, Math.floor(live * parts.maxDeleteFraction));
  if (absent > allowed && !parts.acceptDeletes) return { deleted: 0, withheld: absent };
  let deleted = 0;
  for await (const ids of absentChunks(parts)) {
    const gone = await askFor(ids, parts);
    if (gone.length === 0) continue;
    // A form or workspace that vanished meanwhile answers 404 for every submission; that is no proof of anything.
    await parts.client.getForm(parts.formId, parts.call);
    deleted += await parts.writer.markDeleted(gone, parts.at);
  }
  return { deleted, withheld: 0 };
}

async function countAbsent({
  writer,
  ledger,
}: DeletionParts): Promise<{ live: number; absent: number }> {
  let [live, absent] = [0, 0];
  for await (const ids of writer.liveIds()) {
    live += ids.length;
    absent += ids.filter((id) => !ledger.has(id)).length;
  }
  return { live, absent };
}

async function* absentChunks({ writer, ledger, signal }: DeletionParts): AsyncGenerator<string[]> {
  const pending: string[] = [];
  for await (const ids of writer.liveIds()) {
    throwIfAborted(signal);
    pending.push(...ids.filter((id) => !ledger.has(id)));
    while (pending.length >= ASK_CHUNK) yield pending.splice(0, ASK_CHUNK);
  }
  if (pending.length > 0) yield pending;
}

/** The IDs among these that answer 404; the others are handed to `onFound`. */
async function askFor(ids: readonly string[], parts: DeletionParts): Promise<string[]> {
  const gone: string[] = [];
  const found: SubmissionItem[] = [];
  await Promise.all(
    ids.map(async (id) => {
      const item = await submissionOrNull(parts.client, id, parts.call);
      if (item === null) gone.push(id);
      else found.push(item);
    }),
  );
  if (found.length > 0) await parts.onFound(found);
  return gone;
}

/** A submission, or null when it answers 404. */
export async function submissionOrNull(
  client: FormsClient,
  id: string,
  call: CallOptions,
): Promise<SubmissionItem | null> {
  try {
    return await client.getSubmission(id, call);
  } catch (error) {
    if (error instanceof MirrorError && error.code === 'FORMS_NOT_FOUND') return null;
    throw error;
  }
}
