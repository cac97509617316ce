import type { Clock } from '../../src/base/clock.ts';
import type { TargetNotice } from '../../src/mirror/port.ts';
import type { Cell, PickedField, Row } from '../../src/mirror/types.ts';

/* Fields, rows and a clock for the tests of the SQL store. */

export const NAME: PickedField = {
  id: 'f_name',
  label: 'Full name',
  position: 0,
  inSchema: true,
  hashed: false,
};
export const AGE: PickedField = { ...NAME, id: 'f_age', label: 'Age', position: 1 };

export const formOf = (slug: string, fields: readonly PickedField[]) => ({
  id: `form_${slug}`,
  slug,
  name: slug,
  fields: fields.map(({ id, label }) => ({ id, label })),
});

export const row = (id: string, cells: Record<string, Cell>, status = 'NEW'): Row => ({
  id,
  status,
  createdAt: '2026-01-01T00:00:00.123456Z',
  cells: new Map(Object.entries(cells)),
});

let nowMs = Date.UTC(2026, 0, 2);
/** Each question is a second after the one before, so that no two commits have one time. */
export const clock: Clock = { now: () => (nowMs += 1_000), sleep: async () => {} };

export const messagesOf = (notices: readonly TargetNotice[]): string[] =>
  notices.map(({ message }) => message);
