import type { Cell, SelectedField, Row } from '../../src/mirror/types.ts';

/** A selected field that the form has. */
export function field(id: string, label: string, rest: Partial<SelectedField> = {}): SelectedField {
  return { id, label, position: 0, inSchema: true, hashed: false, ...rest };
}

/** Fields in the order of the form. */
export const fieldList = (...fields: SelectedField[]): SelectedField[] =>
  fields.map(({ id, label, inSchema, hashed }, position) => ({
    id,
    label,
    position,
    inSchema,
    hashed,
  }));

/** A row; `cells` by field ID. */
export function row(id: string, cells: Record<string, Cell> = {}, rest: Partial<Row> = {}): Row {
  return {
    id,
    status: 'NEW',
    createdAt: '2026-03-01T12:00:00.000Z',
    cells: new Map(Object.entries(cells)),
    ...rest,
  };
}
