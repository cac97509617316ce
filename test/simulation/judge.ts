import type { Breach } from './breach.ts';
import { type CopiedForm, type CopiedRow, type Copy } from './copy.ts';
import type { Claimed } from './program.ts';
import { type Excuse, type Groups, excuseFor } from './excuses.ts';
import {
  type Answers,
  Digits,
  existedThroughout,
  goneThroughout,
  type Source,
  type Submission,
  versionsBetween,
} from './source.ts';

/** When a claim can have been wrong without a fault of the program. */
export interface Asked {
  /** When it was first observed: nothing later can be the cause. */
  readonly askedTo: number;
  /** When the copies were last read before: later changes may have been unknown when counts were requested. */
  readonly knownUntil: number;
  /** When polls began. */
  readonly polledAt: readonly number[];
  /** What was excused when the claim was observed before: the change that hid it may be stored by now. */
  readonly excused: Set<string>;
}

/** A claim of the program about a form in a target, and its time (milliseconds; null: it claims nothing). */
export interface Assertion extends Asked, Claimed {
  /** `status`, `sync` and so on. */
  readonly by: string;
  /** When its counts were requested: a change in between may or may not be part of them. */
  readonly askedFrom: number;
  /** The time since which changes may not have been counted: the last comparison row by row. */
  readonly comparedAt: number;
  /** Rows were compared, so that no count was needed. */
  readonly isWhole: boolean;
}

/** Changes by people, which earlier claims do not cover. */
export interface Special {
  /** Forgotten, or possibly so: no claim covers them. */
  readonly forgotten: ReadonlySet<string>;
  /** Certainly forgotten: kept out. */
  readonly erased: ReadonlySet<string>;
  /** When people last changed a form's table in a target, by target and form. */
  readonly touched: ReadonlyMap<string, number>;
  /** Whether people protected cells of a form in a target. */
  readonly isProtected: (target: string, formId: string) => boolean;
  readonly isSelected: (fieldId: string) => boolean;
  readonly isHashed: (fieldId: string) => boolean;
}

/** The events of histories. */
export interface Tally {
  claims: number;
  excused: number;
  runs: number;
  incomplete: number;
  crashes: number;
  patches: number;
  /** Changes by people to targets and settings, and by commands, such as sorting a sheet. */
  acts: number;
}

export const newTally = (): Tally => ({
  claims: 0,
  excused: 0,
  runs: 0,
  incomplete: 0,
  crashes: 0,
  patches: 0,
  acts: 0,
});

/** Checks one claim against the source, when it is made. */
export function judgeClaim(
  source: Source,
  copy: Copy,
  claim: Assertion,
  special: Special,
  groups: Groups,
  tally: Tally,
  onExcuse: (excuse: Excuse) => void,
): Breach[] {
  const form = source.formOf(claim.formId);
  const now = source.now;
  const since = claim.submissionsAsOf;
  if (since === null || form === undefined) return [];
  // Claims do not cover a form that was added or removed since then.
  if (!form.exists || form.lives.some(({ at }) => at > since)) return [];
  const touched = special.touched.get(`${claim.target} ${claim.formId}`) ?? 0;
  if (touched > claim.askedFrom) return [];
  tally.claims++;
  const held = copy.get(claim.formId);
  const breaches: Breach[] = [];
  const claimed = `${claim.by} claims ${claim.formId} in ${claim.target} (${timesOf(claim)})`;
  const newest = Math.max(claim.statusesAsOf ?? 0, claim.answersAsOf ?? 0);
  if (newest > since) breaches.push(`L17: ${claimed}, of which parts are newer than submissions`);
  const plain = held === undefined ? null : plainAnswer(held, special);
  if (plain !== null) breaches.push(`L11: ${claimed}, and ${plain}`);
  const alien = held === undefined ? null : alienRow(source, held, since);
  if (alien !== null) breaches.push(`L3: ${claimed}, but ${alien}`);
  let isExcused = false;
  const report = (
    law: `L${number}`,
    submission: Submission,
    aspect: Unseen,
    text: string,
  ): void => {
    const key = `${aspect} ${submission.id}`;
    const excuse = excuseFor(source, copy, submission, aspect, claim, groups);
    if (excuse === null && !claim.excused.has(key)) {
      breaches.push(`${law}: ${claimed}, but ${text}`);
      return;
    }
    isExcused = true;
    claim.excused.add(key);
    if (excuse !== null) onExcuse(excuse);
  };
  let [ghosts, blocked] = [0, 0];
  for (const submission of source.submissions.values()) {
    if (submission.formId !== claim.formId || submission.defect === 'id') continue;
    if (special.forgotten.has(submission.id)) continue;
    const row = held?.rows.get(submission.id);
    const isLive = row !== undefined && !row.isDeleted;
    const isListed = held?.rejected.has(submission.id) === true;
    if (existedThroughout(submission, since, now)) {
      if (!isLive && !isListed)
        report(
          'L2',
          submission,
          'missing',
          `${nameOf(submission)} is ${row === undefined ? 'missing' : 'marked deleted'}`,
        );
    } else if (
      isLive &&
      !isListed &&
      goneThroughout(submission, since, now) &&
      ++ghosts > claim.except
    ) {
      report('L1', submission, 'ghost', `${nameOf(submission)} is gone and is live`);
    }
    if (!isLive || !submission.exists) continue;
    // Cells of its row could not be written, which the list reports, and the claim gives the number of such rows.
    let isCounted = false;
    const isNamed = (): boolean => {
      if (held?.rejected.get(submission.id)?.isBlocked !== true) return false;
      if (!isCounted) blocked++;
      isCounted = true;
      return blocked <= claim.rejected;
    };
    const { statusesAsOf } = claim;
    // A cell that people cleared stays empty until the next comparison.
    const answersAsOf = touched > (claim.answersAsOf ?? 0) ? null : claim.answersAsOf;
    if (
      statusesAsOf !== null &&
      submission.defect !== 'status' &&
      existedThroughout(submission, statusesAsOf, now)
    ) {
      const seen = versionsBetween(submission, statusesAsOf, now);
      const isRight = seen.some(({ status }) => status === row.status);
      // A claim does not cover a row that it excludes.
      if (!isRight && !isNamed() && !(isListed && ++ghosts <= claim.except))
        report(
          'L17',
          submission,
          'status',
          `${nameOf(submission)} is stored as ${row.status}, and was ${seen.map(({ status }) => status).join(', ')}`,
        );
    }
    if (
      answersAsOf === null ||
      held === undefined ||
      submission.defect === 'data' ||
      !existedThroughout(submission, answersAsOf, now)
    )
      continue;
    const seen = versionsBetween(submission, answersAsOf, now);
    const wrong = seen.map(({ answers }) => differingField(held, row, answers, special));
    if (!wrong.includes(null) && !isNamed() && !(isListed && ++ghosts <= claim.except))
      report(
        'L10',
        submission,
        'answers',
        `${nameOf(submission)} has another answer in ${String(wrong.at(-1))} than it had: ${describe(held, row, seen.at(-1)?.answers, wrong.at(-1))}`,
      );
    const createdAt = new Date(submission.createdMs).toISOString();
    const isDated =
      submission.defect === 'date' || Date.parse(row.createdAt) === submission.createdMs;
    if (!isDated && !isNamed())
      breaches.push(
        `L1: ${nameOf(submission)} is dated ${row.createdAt}, and was created at ${createdAt}`,
      );
  }
  if (isExcused && breaches.length === 0) tally.excused++;
  return breaches;
}

export type Unseen = 'missing' | 'ghost' | 'status' | 'answers';

const nameOf = ({ id, versions }: Submission): string =>
  `${id} (${versions
    .map(({ at, status, exists }) => `${exists ? status : 'gone'}@${clockTime(at)}`)
    .slice(-3)
    .join(' ')})`;
export const clockTime = (ms: number): string => new Date(ms).toISOString().slice(11, 23);
const timesOf = ({ submissionsAsOf, statusesAsOf, answersAsOf }: Assertion): string =>
  [
    ['submissions', submissionsAsOf],
    ['statuses', statusesAsOf],
    ['answers', answersAsOf],
  ]
    .flatMap(([what, at]) => (typeof at === 'number' ? [`${what} as of ${clockTime(at)}`] : []))
    .join(', ');

const describe = (
  held: CopiedForm,
  row: CopiedRow,
  answers: Answers | undefined,
  fieldId: string | null | undefined,
): string => {
  const field = held.fields.find((each) => each.fieldId === fieldId);
  const cell = (name: string | null | undefined): unknown =>
    name === null || name === undefined ? undefined : row.cells[name];
  const show = (value: unknown): string =>
    typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? 'nothing');
  return `${show(answers?.get(fieldId ?? ''))} at the source, ${show(cell(field?.column))} and ${show(cell(field?.textColumn))} in ${field?.column ?? 'no column'}`;
};

/** A live row of a submission of another form, if that form was neither added nor removed since then. */
function alienRow(source: Source, { formId, rows }: CopiedForm, since: number): string | null {
  for (const { id, isDeleted } of rows.values()) {
    const owner = source.formOf(source.submissions.get(id)?.formId ?? formId);
    if (isDeleted || owner === undefined || owner.id === formId) continue;
    if (owner.lives.every(({ at }) => at <= since)) return `${id} of ${owner.id} is live there`;
  }
  return null;
}

/** A cell that must be a hash, and shows its answer. */
function plainAnswer({ fields, rows, people }: CopiedForm, special: Special): string | null {
  for (const { fieldId, column } of fields) {
    if (column === null || !special.isHashed(fieldId)) continue;
    for (const { id, cells } of [...rows.values(), ...(people?.others ?? [])]) {
      const cell = cells[column];
      if (/^s\w+n\d+\.\d/.test(String(cell)))
        return `${fieldId} of ${id} is to be hashed, and stored as ${JSON.stringify(cell)}`;
    }
  }
  return null;
}

/** The first field whose cell does not match the answers; null if all do. */
function differingField(
  held: CopiedForm,
  row: CopiedRow,
  answers: Answers,
  special: Special,
): string | null {
  const known = new Map(held.fields.map((field) => [field.fieldId, field]));
  for (const [fieldId, value] of answers) {
    if (special.isSelected(fieldId) && !known.has(fieldId) && !isBlank(value)) return fieldId;
  }
  for (const { fieldId, column, textColumn } of held.fields) {
    const value = special.isSelected(fieldId) ? answers.get(fieldId) : undefined;
    const cell = column === null ? undefined : row.cells[column];
    const text = textColumn === null ? undefined : row.cells[textColumn];
    const stored = text ?? cell ?? null;
    if (!special.isSelected(fieldId)) continue;
    if (special.isHashed(fieldId)) {
      if (isBlank(value) !== isBlank(stored)) return fieldId;
      continue;
    }
    if (!isSame(value, stored)) return fieldId;
  }
  return null;
}

const isBlank = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Whether a cell contains an answer: blanks are equal, texts stay texts, numbers keep all their digits. */
export function isSame(value: unknown, stored: unknown): boolean {
  if (isBlank(value)) return isBlank(stored);
  if (isBlank(stored)) return false;
  if (typeof value === 'string')
    return typeof stored === 'string' && (stored === value || isJson(stored, value));
  if (value instanceof Digits) return String(stored) === value.text;
  if (typeof value === 'number') return Number(stored) === value;
  if (typeof value === 'boolean' && String(stored) === String(value)) return true;
  return isJson(stored, value);
}

/** Whether a text is the JSON of a value, with any spacing. */
function isJson(stored: unknown, value: unknown): boolean {
  try {
    const parsed: unknown = typeof stored === 'string' ? JSON.parse(stored) : stored;
    return JSON.stringify(parsed) === JSON.stringify(value);
  } catch {
    return false;
  }
}

/**
 * The submissions of the source that a quiet copy lacks, or stores differently: L1, exactly. Null if they are the same.
 */
export function difference(
  source: Source,
  copy: Copy,
  formId: string,
  special: Special,
): string | null {
  const held = copy.get(formId);
  for (const submission of source.submissions.values()) {
    const { id, defect, exists, status, answers } = submission;
    if (submission.formId !== formId || defect === 'id' || special.forgotten.has(id)) continue;
    const row = held?.rows.get(id);
    const isLive = row !== undefined && !row.isDeleted;
    if (!exists) {
      // On a request by ID, it may answer neither that it exists nor that it is gone.
      if (isLive && held?.rejected.has(id) !== true)
        return `${nameOf(submission)} is gone and is live`;
      continue;
    }
    if (!isLive) {
      if (held?.rejected.has(id) !== true)
        return `${nameOf(submission)} is ${row === undefined ? 'missing' : 'marked deleted'}`;
      continue;
    }
    if (defect !== 'status' && row.status !== status)
      return `${nameOf(submission)} is stored as ${row.status}`;
    if (defect !== 'none' && held?.rejected.has(id) !== true)
      return `${nameOf(submission)} has no usable ${defect}, and is not listed`;
    if (defect !== 'data' && held !== undefined) {
      const field = differingField(held, row, answers, special);
      if (field !== null)
        return `${nameOf(submission)} has another answer in ${field}: ${describe(held, row, answers, field)}`;
    }
  }
  const listed = [...(held?.rejected.keys() ?? [])].filter(
    (id) => !source.submissions.has(id),
  ).length;
  const nameless = source.existing(formId).filter(({ defect }) => defect === 'id').length;
  if (listed < nameless) return `${nameless} items have no ID, and ${listed} are listed`;
  for (const [id, row] of held?.rows ?? []) {
    const owner = source.submissions.get(id)?.formId;
    if (!row.isDeleted && owner !== formId)
      return `${id} is live and ${owner === undefined ? 'never existed' : `belongs to ${owner}`}`;
  }
  return null;
}
