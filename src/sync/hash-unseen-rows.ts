import { hashedCell, looksHashed } from '../mirror/hashing.ts';
import type { StoredRow, RowWriter } from '../mirror/target.ts';
import type { PickedField, Rejection, Row } from '../mirror/types.ts';

/** Most listings that are looked through for those of rows that are written. */
const MOST_LISTINGS = 100_000;

export interface HashParts {
  readonly writer: RowWriter;
  readonly fields: readonly PickedField[];
  readonly hashKey: string | undefined;
  readonly batchRows: number;
}

/**
 * Hashes what rows that are marked deleted hold in plain text of fields that are to be hashed: the source does not show
 * them any more, so no pass would write them again. What looks like a hash is left: it may be one under an earlier key.
 */
export async function hashDeletedRows(parts: HashParts): Promise<void> {
  const { writer } = parts;
  await hashRows(parts, writer.deletedIds(), async (plain, hashed) => {
    await applyAll(writer, hashed, []);
    // To apply a row is to bring it back: what is told of it must not say that it was.
    for (const [at, group] of Map.groupBy(plain, ({ deletedAt }) => deletedAt ?? '')) {
      await writer.markDeleted(
        group.map(({ id }) => id),
        at,
        { again: true },
      );
    }
  });
}

/**
 * The same of live rows, all or some, that a pass has not met: whether they turn out to be deleted, undecided or withheld, no pass writes
 * them again. What is listed of them stays so.
 */
export async function hashUnmetRows(
  parts: HashParts,
  isMet: (id: string) => boolean,
  liveIds = (): AsyncIterable<string[]> => parts.writer.liveIds(),
): Promise<void> {
  const { writer } = parts;
  let listings: readonly Rejection[] | undefined;
  await hashRows(parts, unmetIds(liveIds(), isMet), async (_plain, hashed) => {
    listings ??= (await writer.rejections(MOST_LISTINGS)).items;
    const ids = new Set(hashed.map(({ id }) => id));
    await applyAll(
      writer,
      hashed,
      listings.filter(({ submissionId }) => ids.has(submissionId)),
    );
  });
}

async function applyAll(
  writer: RowWriter,
  ...batch: readonly [rows: readonly Row[], rejections: readonly Rejection[]]
): Promise<void> {
  const { refused } = await writer.apply(...batch);
  if (refused !== undefined) throw refused;
}

async function* unmetIds(
  liveIds: AsyncIterable<string[]>,
  isMet: (id: string) => boolean,
): AsyncGenerator<string[]> {
  for await (const ids of liveIds) yield ids.filter((id) => !isMet(id));
}

async function hashRows(
  { writer, fields, hashKey, batchRows }: HashParts,
  ids: AsyncIterable<string[]>,
  write: (plain: readonly StoredRow[], hashed: readonly Row[]) => Promise<void>,
): Promise<void> {
  const hashed = fields.filter((field) => field.hashed).map(({ id }) => id);
  if (hashed.length === 0 || hashKey === undefined) return;
  for await (const chunk of ids) {
    for (const piece of piecesOf(chunk, batchRows)) {
      const rows = await writer.rows(piece);
      const plain = [...rows.values()].filter((row) => plainFields(row, hashed).length > 0);
      if (plain.length === 0) continue;
      await write(
        plain,
        plain.map((row) => inHashes(row, hashed, hashKey)),
      );
    }
  }
}

function* piecesOf(ids: readonly string[], size: number): Generator<string[]> {
  for (let from = 0; from < ids.length; from += size) yield ids.slice(from, from + size);
}

/** The fields to be hashed of which a row holds a plain answer. */
export const plainFields = (row: StoredRow, hashed: readonly string[]): string[] =>
  hashed.filter((id) => {
    const cell = row.cells.get(id) ?? null;
    return cell !== null && cell !== '' && !looksHashed(cell);
  });

function inHashes(row: StoredRow, hashed: readonly string[], key: string): Row {
  const cells = new Map(row.cells);
  for (const id of hashed) {
    const cell = cells.get(id) ?? null;
    if (!looksHashed(cell)) cells.set(id, hashedCell(cell, key));
  }
  const { id, status, createdAt } = row;
  return { id, status, createdAt, cells };
}
