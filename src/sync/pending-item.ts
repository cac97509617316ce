import type { SubmissionItem } from '../forms/client.ts';
import { compareRow } from '../mirror/changes.ts';
import type { Sighting } from '../mirror/proof.ts';
import type { Rejection, Row } from '../mirror/types.ts';

/** An item of the list as it is to be written. */
export interface PendingItem {
  key: string;
  createdAt: string | null;
  /** As the source shows it; empty where it shows none that can be read. */
  status: string;
  row: Row | null;
  rejections: readonly Rejection[];
  doubled: boolean;
  /** What a later page of the same sweep showed in its place, with other contents. */
  later?: PendingItem;
}

/** An item that has no row. */
export function listedItem(
  { key }: SubmissionItem,
  createdAt: string | null,
  status: string,
  reasons: readonly string[],
): PendingItem {
  const rejections = reasons.map((reason) => ({ submissionId: key, reason, stored: false }));
  return { key, createdAt, status: status.toWellFormed(), row: null, rejections, doubled: false };
}

/** What the ledger is told of an item, once it is settled. `existed`, `stored`: see {@link Sighting}. */
export const sighting = (
  { key, createdAt, doubled }: PendingItem,
  existed: boolean,
  stored = false,
): Sighting => ({ key, createdAt, existed, doubled, stored });

/** Why a submission is listed that the list shows twice, and not alike. */
export const TWICE =
  'the list shows it more than once at a time, with different contents; the first is stored';

/** The listing of such a submission. */
export const twice = (submissionId: string): Rejection => ({
  submissionId,
  reason: TWICE,
  stored: true,
});

/** Whether it is listed as such. */
export const isTwice = ({ rejections }: PendingItem): boolean =>
  rejections.some(({ reason }) => reason === TWICE);

/** Its rejections, and that it is such a one. */
export function withTwice(item: PendingItem): readonly Rejection[] {
  if (item.row === null || isTwice(item)) return item.rejections;
  return [...item.rejections, twice(item.row.id)];
}

/** Whether two looks at a submission make the same row; where one makes none, there is nothing to compare. */
export function sameContents(row: Row | null, other: Row | null): boolean {
  if (row === null || other === null) return true;
  const fieldIds = [...new Set([...row.cells.keys(), ...other.cells.keys()])];
  return compareRow(row, { ...other, deletedAt: null }, fieldIds) === undefined;
}
