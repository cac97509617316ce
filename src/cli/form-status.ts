import type { FormOverview } from '../mirror/target.ts';
import type { PassRecord } from '../mirror/types.ts';
import { nextDueMs } from '../settings/schedule-times.ts';
import type { ScheduleSettings } from '../settings/work-settings.ts';

/** How one form stands in one target, as `status --json` prints it. */
export interface FormStatus {
  readonly form: string;
  readonly slug: string;
  readonly name: string;
  readonly target: string;
  /** Table, view or tab to open. */
  readonly location: string;
  readonly rows: number;
  readonly deletedRows: number;
  readonly rejected: number;
  /** Rows that the brake of MAX_DELETE_FRACTION keeps from being marked deleted. */
  readonly withheld: number;
  readonly lastPass: Pick<
    PassRecord,
    'kind' | 'outcome' | 'startedAt' | 'endedAt' | 'error'
  > | null;
  /** When the copy was last proven to hold all that is new, and all there is (ISO, or null). */
  readonly provenAt: string | null;
  readonly fullProvenAt: string | null;
  /** Seconds since `provenAt`. */
  readonly lagSeconds: number | null;
  /** When the schedule wants the next pass; null: at once. Whether a worker runs is not looked at. */
  readonly nextDueAt: string | null;
  readonly goneAt: string | null;
  /** Columns that people deleted in a sheet. */
  readonly droppedColumns: readonly string[];
}

/** Puts together what the target remembers and what the schedule wants. */
export function statusOf(
  target: string,
  form: FormOverview,
  schedule: ScheduleSettings,
  nowMs: number,
): FormStatus {
  const { formId, slug, name, location, rows, deletedRows, rejected, goneAt } = form;
  const { lastPass, lastFull, checkpoint, droppedColumns } = form;
  const provenAt = checkpoint?.provenAt ?? null;
  return {
    form: formId,
    slug,
    name,
    target,
    location,
    rows,
    deletedRows,
    rejected,
    withheld: lastFull?.withheld ?? 0,
    lastPass: lastPass && passOf(lastPass),
    provenAt,
    fullProvenAt: checkpoint?.fullProvenAt ?? null,
    lagSeconds:
      provenAt === null ? null : Math.max(0, Math.round((nowMs - Date.parse(provenAt)) / 1_000)),
    nextDueAt:
      lastPass && new Date(nextDueMs(schedule, Date.parse(lastPass.startedAt))).toISOString(),
    goneAt,
    droppedColumns,
  };
}

const passOf = ({
  kind,
  outcome,
  startedAt,
  endedAt,
  error,
}: PassRecord): FormStatus['lastPass'] => ({
  kind,
  outcome,
  startedAt,
  endedAt,
  error,
});
