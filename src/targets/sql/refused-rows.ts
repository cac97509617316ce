import { MirrorError } from '../../base/errors.ts';
import { plural } from '../../base/format.ts';
import type { FormIdentity } from '../../mirror/types.ts';

/** What refuses which rows. */
export interface Refusals {
  readonly form: FormIdentity;
  /** The table, for people. */
  readonly table: string;
  /** One reason for each row; see {@link RowDefect.reason}. */
  readonly reasons: readonly string[];
  /** The table refuses a row even without its answers: nothing of the batch is stored. */
  readonly takesNone: boolean;
}

/** The database refuses rows for a reason of its own, such as a constraint or a trigger of people's: the target failed (L6). */
export class RefusedRows extends Error {
  readonly refusals: Refusals;

  constructor(refusals: Refusals) {
    super(`${refusals.table} refuses rows`);
    this.refusals = refusals;
  }
}

/** Most reasons that a message gives. */
const MOST_REASONS = 3;

/** The same for people. */
export function describeRefused({ refusals }: RefusedRows, place: string): MirrorError {
  const { form, table, reasons, takesNone } = refusals;
  const each = [...new Set(reasons)];
  const others = each.length - MOST_REASONS;
  const why = `${each.slice(0, MOST_REASONS).join('; ')}${others > 0 ? `; and ${plural(others, 'other reason')}` : ''}`;
  const name = `form "${form.name}" (${form.id})`;
  const what = takesNone
    ? `the table ${table} refuses rows of ${name} even without their answers, so nothing of this batch was stored`
    : `the table ${table} refuses ${plural(reasons.length, 'row')} of ${name}; the other rows of this batch were stored`;
  return new MirrorError(
    'TARGET_FAILED',
    `${place}: ${what}. The reason: ${why}. No submission is at fault. Drop or change what was added to the table: give a ` +
      'NOT NULL column a default, and let constraints, unique indexes and triggers take every row. The next pass tries again.',
    { retryable: false },
  );
}
