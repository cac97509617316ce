import { count } from '../../../base/format.ts';
import {
  type FormHealthText,
  HEALTH_STATES,
  type HealthState,
} from '../../../mirror/health-text.ts';
import { lookedAt } from '../../../mirror/looked.ts';
import type { FormOverview, ListedRejection } from '../../../mirror/target.ts';
import type { TargetNotice } from '../../../mirror/notices.ts';
import { fitText, type SheetValue } from '../api/cell-value.ts';
import type { FieldCatalogue } from '../columns/field-catalogue.ts';
import type { SerialTime } from '../rows/serial-time.ts';
import { IN_THE_WAY } from './blocked.ts';
import { LIMIT_CELL, SUCCESS_COLUMN, TABLE_ROW } from './mirror-tab.ts';

/* What the tables of the Mirror tab say. Where they stand is the concern of `mirror-area.ts`. */

/** Rows of a table; of what is beyond them only the number is shown. */
const MAX_PROBLEMS = 300;
const MAX_FIELDS = 3_000;
const MAX_TEXT = 1_000;

/** A row of a table, cell by cell. */
export type TableRow = readonly SheetValue[];

/** One form as the Mirror tab shows it. */
export interface MirrorForm {
  readonly overview: FormOverview;
  readonly health: FormHealthText;
}

/** A cell that shows a state: a formula, for the clock alone may change it. */
export interface StateCell {
  readonly state: HealthState;
  readonly formula: string;
}

/** The table of forms, with the state of each and of them all. */
export interface FormsTable {
  /** The cells of the states are empty. */
  readonly rows: readonly TableRow[];
  readonly states: readonly StateCell[];
  readonly health: StateCell | undefined;
}

/** Forms by their names, in an order that does not depend on which one is at hand. */
export const byName = ({ overview: a }: MirrorForm, { overview: b }: MirrorForm): number =>
  a.name.localeCompare(b.name) || (a.formId < b.formId ? -1 : 1);

/** Forms {@link byName}. */
export function formsTable(forms: readonly MirrorForm[], time: SerialTime): FormsTable {
  const ordered = forms.toSorted(byName);
  const rows = ordered.map(({ overview, health }): TableRow => [
    overview.name,
    null,
    health.message,
    health.remedy,
    overview.rows,
    overview.deletedRows,
    overview.rejected + overview.notices.length,
    serial(lastSuccess(overview), time),
    serial(overview.lastPass?.endedAt, time),
  ]);
  const severity = ({ health }: MirrorForm): number => HEALTH_STATES.indexOf(health.state);
  const [worst] = ordered.toSorted((a, b) => severity(a) - severity(b));
  return {
    rows: rows.map(shortenedRow),
    states: ordered.map((form, index) => formState(TABLE_ROW + index, form, time)),
    health: worst && overallState(ordered.length, worst.health),
  };
}

/**
 * As of when the copy was last seen to be complete: when that pass began, for what came later need not be here. One that withheld
 * deletions has proven what it brought all the same, and so has a look that found nothing changed.
 */
function lastSuccess(overview: FormOverview): string | undefined {
  const { lastOk, checkpoint } = overview;
  // A comparison of some rows does not tell which submissions there are.
  const pass = lastOk?.kind === 'compare' ? undefined : lastOk?.startedAt;
  const times = [pass, checkpoint?.provenAt, lookedAt(overview) ?? undefined].filter(
    (time) => time !== undefined,
  );
  return times.toSorted((a, b) => Date.parse(a) - Date.parse(b)).at(-1);
}

/** The state of the form that is worst, unless one is stale. */
function overallState(forms: number, { state, title, staleTitle }: FormHealthText): StateCell {
  const states = `$B$${TABLE_ROW + 1}:$B$${TABLE_ROW + forms}`;
  const [stale, shown] = [literal(staleTitle), literal(title)];
  return { state, formula: `=IF(COUNTIF(${states};${stale})>0;${stale};${shown})` };
}

/**
 * Compares the last success, and when the last complete pass ended, which may have taken long, with NOW(), so that a mirror that
 * died shows by itself. A form that is gone gets no older.
 */
function formState(row: number, { overview, health }: MirrorForm, time: SerialTime): StateCell {
  // What people have paused is as old as it is on purpose.
  const isOver = health.state === 'ended' || health.state === 'paused' || overview.goneAt !== null;
  const shown = literal(health.title);
  const success = `$${SUCCESS_COLUMN}${row + 1}`;
  const { lastOk } = overview;
  const ended = serial(lastOk?.kind === 'compare' ? undefined : lastOk?.endedAt, time) ?? success;
  const age = `NOW()-MAX(${success};${ended})`;
  // People's rows and columns may have put something else there.
  const limit = `IF(ISNUMBER(${LIMIT_CELL});${LIMIT_CELL};${health.staleAfterMinutes})`;
  const current = `IF(${age}>${limit}/1440;${literal(health.staleTitle)};${shown})`;
  const formula = isOver ? `=${shown}` : `=IF(${success}="";${shown};${current})`;
  return { state: health.state, formula };
}

/** A text inside a formula. */
const literal = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** What the table of problems shows of a form. */
export interface FormProblems {
  readonly form: string;
  readonly notices: readonly TargetNotice[];
  readonly rejections: readonly ListedRejection[];
}

/** What to do about a listed submission; what is in its way has a line of its own in the table. */
function remedyOf(reason: string, stored: boolean): string {
  if (reason.includes(IN_THE_WAY)) {
    return 'The line about what is in the way says what to do; this follows by itself.';
  }
  return stored
    ? 'Its row is here, with the defect shown. Correct it at the source.'
    : 'It has no row here. Correct it at the source.';
}

/** What people did to the tabs first, then listed submissions. */
export function problemRows(forms: readonly FormProblems[], time: SerialTime): TableRow[] {
  const doings = forms.flatMap(({ form, notices }) =>
    notices.map(({ message, remedy }): TableRow => [form, null, message, remedy]),
  );
  const listed = forms.flatMap(({ form, rejections }) =>
    rejections.map(({ submissionId, reason, stored, firstSeenAt, lastSeenAt }): TableRow => [
      form,
      submissionId,
      reason,
      remedyOf(reason, stored),
      stored ? 'yes' : 'no',
      null,
      null,
      serial(firstSeenAt, time),
      serial(lastSeenAt, time),
    ]),
  );
  return limited([...doings, ...listed], MAX_PROBLEMS, 'None.');
}

/** The dictionary of fields. */
export function fieldRows(
  forms: readonly { readonly form: string; readonly catalogue: FieldCatalogue }[],
  time: SerialTime,
): TableRow[] {
  const all = forms.flatMap(({ form, catalogue }) =>
    catalogue.fields.map((field): TableRow => [
      form,
      field.id,
      field.label,
      field.former.map(({ label, until }) => `${label} (until ${until.slice(0, 10)})`).join('; '),
      null,
      null,
      null,
      serial(field.removedAt, time),
      field.dropped ? 'yes' : null,
    ]),
  );
  return limited(all, MAX_FIELDS, 'None yet.');
}

/** As many rows as are shown, with what is to be said of the others, or of there being none. */
function limited(rows: readonly TableRow[], most: number, none: string): TableRow[] {
  if (rows.length === 0) return [[none]];
  const shown = rows.slice(0, most).map(shortenedRow);
  if (rows.length > most) shown.push([null, null, `… and ${count(rows.length - most)} more`]);
  return shown;
}

const serial = (time: string | null | undefined, zone: SerialTime): SheetValue =>
  time === null || time === undefined ? null : (zone.toSerial(time) ?? time);

const shortenedRow = (row: TableRow): TableRow => row.map(shortened);

function shortened(value: SheetValue): SheetValue {
  if (typeof value !== 'string') return value;
  const { text } = fitText(value);
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1).toWellFormed()}…`;
}
