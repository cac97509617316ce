import { totalOf } from '../mirror/status-counts.ts';
import type { RowWriter } from '../mirror/target.ts';
import { sameWindow, type WindowRecord } from '../mirror/window.ts';
import { mostDeletions } from './deletions.ts';

/** What the brake of L8 allows over a whole form. */
export interface FormBrake {
  readonly maxDeleteFraction: number;
  readonly acceptDeletes: boolean | number;
}

/** How many absent rows of a form may be looked up in all; -1 where more than that are absent for certain. */
export async function allowedDeletions(
  writer: Pick<RowWriter, 'statusCounts'>,
  total: number,
  brake: FormBrake,
): Promise<number> {
  const live = totalOf(await writer.statusCounts());
  const most = mostDeletions(live, brake);
  return live - total > most ? -1 : most;
}

/**
 * Whether the absent rows of a window still belong to what may be looked up in all. They are noted first, so that of two
 * workers who ask at once one sees what the other asks for.
 */
export async function isWithinAllowed(
  writer: Pick<RowWriter, 'windows' | 'saveWindow'>,
  window: WindowRecord,
  absent: number,
  allowed: number,
): Promise<boolean> {
  await writer.saveWindow({ ...window, absent });
  const others = (await writer.windows()).filter((each) => !sameWindow(each, window));
  const before = others.reduce(
    (sum, each) => sum + each.absent + (each.open ? 0 : each.deleted),
    0,
  );
  return before + absent <= allowed;
}
