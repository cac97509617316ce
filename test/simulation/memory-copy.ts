import { cellText } from '../../src/mirror/cell.ts';
import type { Cell } from '../../src/mirror/types.ts';
import type { MemoryPlace } from '../core/memory-store.ts';
import type { CopiedForm, CopiedRow, Copy } from './copy.ts';

const cellOf = (cell: Cell): unknown => (typeof cell === 'number' ? cell : cellText(cell));

/** A copy in memory, as an analyst would read it. */
export function readMemory(place: MemoryPlace): Copy {
  const copy = new Map<string, CopiedForm>();
  for (const [formId, { rows, fields, entries }] of place.forms) {
    const copied = [...rows.values()].map((row): CopiedRow => ({
      id: row.id,
      status: row.status,
      createdAt: String(row.createdAt),
      changedAt: String(row.changedUs),
      isDeleted: row.isDeleted,
      deletedAt: row.deletedMs === null ? null : new Date(row.deletedMs).toISOString(),
      cells: Object.fromEntries([...row.cells].map(([id, cell]) => [`f ${id}`, cellOf(cell)])),
    }));
    const listed = [...entries.values()].filter(
      ({ kind }) => kind === 'rejected' || kind === 'undecided',
    );
    copy.set(formId, {
      formId,
      table: formId,
      rows: new Map(copied.map((row) => [row.id, row])),
      twice: [],
      astray: [],
      fields: fields.map(({ id, label, column }) => ({
        fieldId: id,
        column: column === null ? null : `f ${id}`,
        textColumn: null,
        label,
      })),
      statuses: new Map([...rows.values()].map(({ id, statuses }) => [id, statuses])),
      rejected: new Map(
        listed.map(({ id, reason }) => [id, { reason, isStored: rows.has(id) }] as const),
      ),
    });
  }
  return copy;
}
