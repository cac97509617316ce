import type { FormHealthText } from '../mirror/health-text.ts';
import type { StoredForm } from '../mirror/port.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { AGREEMENTS, PAUSES } from '../sync/records.ts';
import { judge } from './judge.ts';
import type { FormReport } from './report.ts';

/** A sheet shows a form as stale after three missed polls, by itself. Not sooner, because a run does not always write to the sheet. */
const MISSED_POLLS = 3;
const LEAST_MINUTES = 45;

/**
 * Describes a form's health for a sheet, from the content of its spreadsheet. The sheet's clock decides about staleness. `target`:
 * its name; `longestGapMs`: the longest time between two polls; `isChosen`: whether the settings choose a form for it.
 */
export const describeForm =
  (
    target: string,
    longestGapMs: number,
    isChosen: (form: Pick<FormIdentity, 'id' | 'slug'>) => boolean,
  ) =>
  (
    form: Pick<StoredForm, 'state' | 'fields' | 'notices' | 'runs'>,
    recordOf: (key: string) => unknown,
    nowMs: number,
    timeText: (iso: string) => string,
  ): FormHealthText => {
    // The store calls this after a commit: a loss is in the state by then, and the state claims nothing.
    const nothing = { losses: [], location: '', place: {}, writeBack: null, refilledAtMs: null };
    const value = {
      forms: [{ ...form, ...nothing }],
      pauses: PAUSES.in(recordOf),
      agreements: AGREEMENTS.in(recordOf),
    };
    const report = judge({
      nowMs,
      version: '',
      targets: [{ name: target, kind: '', address: '', value, readAtMs: nowMs, problem: null }],
      queue: null,
      problems: [],
      plan: null,
      kept: { runs: [], source: null },
      isChosen: (_, form) => isChosen(form),
      // The sheet's own clock shows that it is stale.
      nextPollMs: () => Infinity,
    });
    // Forms of the spreadsheet that are paused before their first run come after it.
    const [{ state, title, problems, claim, pause }] = report.forms as [FormReport];
    const worst = problems[0] ?? report.targets[0]?.problem ?? report.problems[0];
    const compared =
      claim.answersAsOf === null
        ? 'Answers were never compared.'
        : `Answers as of ${timeText(claim.answersAsOf)}.`;
    const paused = pause === null ? null : (pause.reason ?? PAUSED);
    return {
      // The sheet has no other headline for a failure that all its forms share.
      state: state === 'waiting' && worst?.level === 'error' ? 'failed' : state,
      title: pause === null ? title : `Paused since ${timeText(pause.since)} by ${pause.by}`,
      message: paused ?? worst?.message ?? (state === 'ok' ? compared : null),
      remedy: pause !== null ? RESUME : worst === undefined ? null : TELL,
      staleAfterMinutes: Math.max(LEAST_MINUTES, Math.ceil((MISSED_POLLS * longestGapMs) / 60_000)),
      asOfMs: claim.submissionsAsOf === null ? null : Date.parse(claim.submissionsAsOf),
    };
  };

// For people without a command line.
const TELL = 'If this lasts, or nobody meant it to happen, tell the admin of this mirror.';
const PAUSED = 'Nothing is written here until a person resumes it.';
const RESUME = 'To go on, ask the admin of this mirror to resume it.';
