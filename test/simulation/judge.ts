import { type CopiedForm, type CopiedRow, type Copy } from './copy.ts';
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

/** A law that is broken, with what broke it. */
export interface Breach {
  readonly law: string;
  readonly text: string;
}

/** Something that the program says about a form in a target, and as of when (milliseconds; null: it says nothing). */
export interface Assertion {
  /** `status`, `sync` and so on. */
  readonly by: string;
  readonly formId: string;
  readonly target: string;
  readonly submissionsAsOf: number | null;
  readonly statusesAsOf: number | null;
  readonly answersAsOf: number | null;
  /** So many rows that the claim says it does not speak for. */
  readonly except: number;
  /** When what it rests on was asked: a change in between may have been on either side of it. */
  readonly askedFrom: number;
  /** Since when changes may have escaped counts: the last comparison row by row. */
  readonly comparedAt: number;
  /** Rows were compared, so that no count had to tell. */
  readonly isWhole: boolean;
}

/** What people did, which no claim made before speaks of. */
export interface Special {
  /** Forgotten: kept away. */
  readonly forgotten: ReadonlySet<string>;
  /** When people last changed a form's table in a target, by target and form. */
  readonly touched: ReadonlyMap<string, number>;
  readonly isSelected: (fieldId: string) => boolean;
  readonly isHashed: (fieldId: string) => boolean;
}

export interface Tally {
  claims: number;
  excused: number;
  /** Claims that were excused, by rule. */
  readonly rules: Map<string, number>;
}

/** Checks one claim against what the source was, at the moment that it is made. */
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
  // A form that came or went since is spoken of by nobody.
  if (!form.exists || form.lives.some(({ at }) => at > since)) return [];
  if ((special.touched.get(`${claim.target} ${claim.formId}`) ?? 0) > claim.askedFrom) return [];
  tally.claims++;
  const held = copy.get(claim.formId);
  const breaches: Breach[] = [];
  let isExcused = false;
  const report = (law: string, submission: Submission, aspect: Unseen, text: string): void => {
    const excuse = excuseFor(source, copy, submission, aspect, claim, groups);
    if (excuse === null) {
      breaches.push({
        law,
        text: `${claim.by} claims ${claim.formId} in ${claim.target} (${timesOf(claim)}), but ${text}`,
      });
      return;
    }
    isExcused = true;
    onExcuse(excuse);
    tally.rules.set(excuse.rule, (tally.rules.get(excuse.rule) ?? 0) + 1);
  };
  let ghosts = 0;
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
    } else if (isLive && goneThroughout(submission, since, now) && ++ghosts > claim.except) {
      report('L1', submission, 'ghost', `${nameOf(submission)} is gone and is live`);
    }
    if (!isLive || !submission.exists) continue;
    const { statusesAsOf, answersAsOf } = claim;
    if (
      statusesAsOf !== null &&
      submission.defect !== 'status' &&
      existedThroughout(submission, statusesAsOf, now)
    ) {
      const seen = versionsBetween(submission, statusesAsOf, now);
      if (!seen.some(({ status }) => status === row.status))
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
    if (!wrong.includes(null))
      report(
        'L10',
        submission,
        'answers',
        `${nameOf(submission)} has another answer in ${String(wrong.at(-1))} than it had: ${describe(held, row, seen.at(-1)?.answers, wrong.at(-1))}`,
      );
    const createdAt = new Date(submission.createdMs).toISOString();
    if (submission.defect !== 'date' && Date.parse(row.createdAt) !== submission.createdMs)
      breaches.push({
        law: 'L1',
        text: `${nameOf(submission)} is dated ${row.createdAt}, and was created at ${createdAt}`,
      });
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

/** The first field whose cell is not what the answers say; null where all are right. */
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
    if (special.isHashed(fieldId)) {
      if (isBlank(value) !== isBlank(stored)) return fieldId;
      continue;
    }
    if (!special.isSelected(fieldId)) continue;
    if (!isSame(value, stored)) return fieldId;
  }
  return null;
}

const isBlank = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Whether a cell holds an answer: blanks are alike, texts stay texts, numbers keep all their digits. */
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

/** Whether a text is the JSON of a value, however it is spaced. */
function isJson(stored: unknown, value: unknown): boolean {
  try {
    const parsed: unknown = typeof stored === 'string' ? JSON.parse(stored) : stored;
    return JSON.stringify(parsed) === JSON.stringify(value);
  } catch {
    return false;
  }
}

/** What may be seen of the copy by itself, or beside the copy as it was read before. */
export class CopyWatch {
  readonly #columns = new Map<string, string>();
  #before: Copy = new Map();
  #beforeAt = 0;

  /** `goneSince`: when an ID was last answered with 404 or 410. */
  look(
    source: Source,
    copy: Copy,
    target: string,
    special: Special,
    goneAt: (id: string) => number,
  ): Breach[] {
    const breaches: Breach[] = [];
    const isOurs = (formId: string): boolean =>
      (special.touched.get(`${target} ${formId}`) ?? 0) < this.#beforeAt;
    for (const [formId, form] of copy) {
      if (form.twice.length > 0)
        breaches.push({ law: 'L5', text: `${form.twice[0]} has two rows` });
      breaches.push(...this.#columnsOf(form, target));
      const before = this.#before.get(formId);
      if (before === undefined || !isOurs(formId)) continue;
      for (const [id, was] of before.rows) {
        const is = form.rows.get(id);
        if (is === undefined) {
          if (!special.forgotten.has(id))
            breaches.push({ law: 'L8', text: `the row of ${id} has vanished from ${form.table}` });
          continue;
        }
        if (is.isDeleted && !was.isDeleted && goneAt(id) < this.#beforeAt)
          breaches.push({
            law: 'L8',
            text: `${id} was marked deleted, and never answered 404 or 410 since ${clockTime(this.#beforeAt)}`,
          });
        if (is.changedAt === was.changedAt) continue;
        const submission = source.submissions.get(id);
        const lives = source.formOf(formId)?.lives ?? [];
        const isQuiet = [...(submission?.versions ?? []), ...lives].every(
          ({ at }) => at < this.#beforeAt,
        );
        if (isQuiet && contentOf(is) === contentOf(was))
          breaches.push({ law: 'L4', text: `the row of ${id} was written again without a change` });
      }
      for (const id of form.rejected) {
        const submission = source.submissions.get(id);
        if (submission?.defect === 'none')
          breaches.push({
            law: 'L6',
            text: `${id} is listed as rejected, and nothing is wrong with it`,
          });
      }
    }
    this.#before = copy;
    this.#beforeAt = source.now;
    return breaches;
  }

  #columnsOf(form: CopiedForm, target: string): Breach[] {
    const breaches: Breach[] = [];
    const owners = new Map<string, string>();
    for (const { fieldId, column, textColumn } of form.fields) {
      for (const name of [column, textColumn]) {
        if (name === null) continue;
        const owner = owners.get(name);
        if (owner !== undefined && owner !== fieldId)
          breaches.push({ law: 'L9', text: `${owner} and ${fieldId} share the column ${name}` });
        owners.set(name, fieldId);
      }
      if (column === null) continue;
      const key = `${target} ${form.formId} ${fieldId}`;
      const known = this.#columns.get(key);
      if (known !== undefined && known !== column)
        breaches.push({
          law: 'L9',
          text: `${fieldId} was in the column ${known} and is in ${column}`,
        });
      this.#columns.set(key, column);
    }
    return breaches;
  }
}

const contentOf = ({ status, createdAt, isDeleted, cells }: CopiedRow): string =>
  JSON.stringify([
    status,
    createdAt,
    isDeleted,
    Object.entries(cells).map(([name, cell]) => [name, String(cell)]),
  ]);

/** What of the source a quiet copy lacks, or holds otherwise: L1 to the letter. Null where they are the same. */
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
      if (isLive) return `${nameOf(submission)} is gone and is live`;
      continue;
    }
    if (!isLive) {
      if (held?.rejected.has(id) !== true)
        return `${nameOf(submission)} is ${row === undefined ? 'missing' : 'marked deleted'}`;
      continue;
    }
    if (defect !== 'status' && row.status !== status)
      return `${nameOf(submission)} is stored as ${row.status}`;
    if (defect !== 'data' && held !== undefined) {
      const field = differingField(held, row, answers, special);
      if (field !== null)
        return `${nameOf(submission)} has another answer in ${field}: ${describe(held, row, answers, field)}`;
    }
  }
  for (const [id, row] of held?.rows ?? []) {
    if (!row.isDeleted && !source.submissions.has(id)) return `${id} is live and never existed`;
  }
  return null;
}
