import { problemCodeOrNull } from '../base/catalogue.ts';
import {
  accounted,
  claimOf,
  type FormState,
  liveRows,
  type OutcomeName,
  sumOf,
} from '../mirror/form-state.ts';
import type { Run, StoredForm } from '../mirror/port.ts';
import type { DescribeForm } from '../targets/google-sheets/mirror-tab.ts';
import type { DescribeHealth } from '../mirror/health-text.ts';
import { pauseOf } from '../mirror/pauses.ts';
import { pausesIn } from '../sync/pauses.ts';
import { type Agreement, agreementOf, claimWith } from '../sync/poll-records.ts';
import type { FormOverview, MarkingRecord } from '../mirror/target.ts';
import type { Loss } from '../mirror/losses.ts';
import type { Checkpoint, PassOutcome, PassRecord } from '../mirror/types.ts';

/*
 * The state of the new core in the words that commands, page and health have for it, until they read it themselves.
 */

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

export const PASS_OUTCOMES = {
  ok: 'ok',
  held: 'withheld',
  incomplete: 'incomplete',
  gone: 'gone',
  failed: 'failed',
  paused: 'paused',
  busy: 'busy',
  stopped: 'cancelled',
} as const satisfies Record<OutcomeName, PassOutcome>;

/** The record of a run. */
export function passRecordOf(run: Run): PassRecord {
  const { inserted, updated, unchanged, deleted, rejected, held, requests, error } = run;
  const outcome = PASS_OUTCOMES[run.outcome];
  return {
    kind: run.isWhole ? 'full' : 'incremental',
    startedAt: iso(run.startedAtMs),
    endedAt: iso(run.endedAtMs),
    outcome,
    requests,
    total: null,
    distinct: inserted + updated + unchanged,
    inserted,
    updated,
    unchanged,
    deleted,
    rejected,
    withheld: held,
    code: outcome === 'ok' ? null : problemCodeOrNull(run.code),
    error,
  };
}

/** What a form is claimed to hold; null where nothing is. */
export function checkpointOf(state: FormState): Checkpoint | null {
  const { submissionsAsOfMs, statusesAsOfMs, answersAsOfMs } = claimOf(state, null);
  if (submissionsAsOfMs === null) return null;
  const { tally } = state;
  const statuses = accounted(tally);
  return {
    watermark: isoOrNull(state.watermarkMs),
    total: sumOf(statuses.values()),
    absent: tally.undecided,
    withheld: tally.held,
    hidden: state.isListDoubted ? 1 : 0,
    provenAt: iso(submissionsAsOfMs),
    fullProvenAt: isoOrNull(answersAsOfMs),
    provenFor: '',
    statuses,
    unstored: new Map(Object.entries(tally.unstored)),
    countsAt: isoOrNull(statusesAsOfMs),
  };
}

/** What else is known of a form's target. */
interface Known {
  /** The newest runs, the newest first. */
  readonly runs: readonly Run[];
  readonly agreement: Agreement | null;
  readonly marking: MarkingRecord | null;
}

/** A form as its target holds it. */
export function overviewOf(
  { state, fields, losses, notices, location, place }: StoredForm,
  { runs, agreement, marking }: Known,
): FormOverview {
  const { formId, slug, name, tally, goneAtMs, storedUnder } = state;
  const passes = runs.map(passRecordOf);
  const isAgreed = agreement?.formIds.includes(formId) === true;
  return {
    formId,
    slug,
    name,
    location,
    place,
    rows: liveRows(tally),
    deletedRows: tally.deleted,
    rejected: tally.rejected + tally.undecided,
    goneAt: isoOrNull(goneAtMs),
    checkpoint: checkpointOf(state),
    look: isAgreed
      ? {
          at: iso(agreement.atMs),
          isOpen: false,
          ...(!agreement.onStatuses && { countedAt: null }),
        }
      : null,
    marking,
    losses: lossesOf(state, losses, passes),
    lastPass: passes[0] ?? null,
    lastOk: passes.find(({ outcome }) => outcome === 'ok') ?? null,
    lastFull: passes.find(({ kind }) => kind === 'full') ?? null,
    filledFields: fields.flatMap(({ id, label, isFilled }) => (isFilled ? [{ id, label }] : [])),
    forgotten: tally.forgotten,
    notices,
    storedUnder,
  };
}

/** What keeps the state from claiming anything, though a run has succeeded. */
function lossesOf(
  { submissionsAsOfMs, goneAtMs }: FormState,
  losses: readonly string[],
  passes: readonly PassRecord[],
): Loss[] {
  const found = losses.map((text): Loss => ({ what: 'other', text }));
  if (found.length > 0 || submissionsAsOfMs !== null || goneAtMs !== null) return found;
  const wasProven = passes.some(({ outcome }) => outcome === 'ok' || outcome === 'withheld');
  return wasProven ? [{ what: 'other', text: 'All rows are due to be read again.' }] : [];
}

/** A form's health in words for the Mirror tab, as of what its spreadsheet holds. */
export const describeForm =
  (describe: DescribeHealth): DescribeForm =>
  (form, runs, recordOf, nowMs) => {
    const agreement = agreementOf(recordOf);
    const pauses = pausesIn(recordOf);
    const overview = overviewOf(
      { ...form, losses: [], location: '', place: {} },
      { runs, agreement, marking: null },
    );
    return {
      health: describe(overview, nowMs, pauseOf(pauses, form.state.formId)),
      asOfMs: claimWith(form.state, null, agreement).submissionsAsOfMs,
    };
  };
