import { closeSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { CliPlace } from '../support/cli-sandbox.ts';

/* What happens to a source and to a file that is mirrored into. */

/** Lets a source answer no more, or otherwise than it should. */
export const FAULTS = {
  throttles: { status: 429, retryAfter: 20, times: Infinity },
  hangs: { delayMs: 600_000, times: Infinity },
  refuses: { status: 401, times: Infinity },
} as const;

/** SQLite takes a file whose header asks for a newer version for writing as read-only, for root too. */
export function makeReadOnly(file: string): void {
  {
    using database = new DatabaseSync(file);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.from([3]), 0, 1, 18);
  closeSync(descriptor);
}

/** Deletes the oldest submission, without which the pages that are read for new ones stay as they are. */
export function deleteOldest({ sandbox }: CliPlace, howMany: number): void {
  const { id: formId } = sandbox.store.formBySlug('customer-feedback')!;
  const all = [...sandbox.store.all(formId)].toSorted((a, b) =>
    a.createdAt.localeCompare(b.createdAt),
  );
  for (const { id } of all.slice(0, howMany)) sandbox.store.delete(id);
}
