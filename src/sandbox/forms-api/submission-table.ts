import { MirrorError } from '../../base/errors.ts';
import { type Json, STATUSES } from '../../mirror/types.ts';
import { type Answers, AnswerSheet, type AnswerSeries } from './answers.ts';
import { SubmissionColumns } from './submission-columns.ts';
import { SubmissionIds } from './submission-ids.ts';

/** A submission to be made. */
export interface SubmissionDraft {
  readonly formId: string;
  readonly data: Answers | Readonly<Record<string, Json>>;
  /**
   * Default: now. Milliseconds, or text that the API then shows as it is (an import of old submissions, another notation,
   * a broken date: such a one is sorted and filtered as if made now).
   */
  readonly createdAt?: number | string;
  /** Default: NEW. Any text. */
  readonly status?: string;
  /** Default: the seed's next one. */
  readonly id?: string;
  readonly contractId?: string;
}

/** Many submissions whose answers are computed on demand; `number` counts from 0. */
export interface SubmissionSeries {
  readonly formId: string;
  readonly count: number;
  readonly createdAtMs: (number: number) => number;
  readonly status: (number: number) => string;
  readonly answers: AnswerSeries;
}

/** The rows of all submissions ever made, existing or not; knows nothing of forms but their numbers. */
export class SubmissionTable {
  readonly columns = new SubmissionColumns();
  readonly names: SubmissionNames;
  readonly answers = new AnswerSheet();
  readonly #statusNames: string[] = [];
  readonly #statusNumbers = new Map<string, number>();
  readonly #shownCreatedAt = new Map<number, string>();

  constructor(seed: number | string) {
    this.names = new SubmissionNames(seed);
    for (const status of STATUSES) this.statusNumber(status);
  }

  /** Adds one; returns its index. */
  insert(form: number, draft: SubmissionDraft, nowMs: number): number {
    const { createdAt = nowMs, status = 'NEW' } = draft;
    const parsedMs = typeof createdAt === 'number' ? createdAt : Date.parse(createdAt);
    const createdAtMs = Math.floor(Number.isNaN(parsedMs) ? nowMs : parsedMs);
    const index = this.columns.count;
    if (draft.id !== undefined) this.names.give(index, draft.id);
    this.columns.append({
      form,
      status: this.statusNumber(status),
      createdAtMs,
      updatedAtMs: nowMs,
    });
    if (typeof createdAt === 'string') this.#shownCreatedAt.set(index, createdAt);
    this.answers.set(index, answersOf(draft.data));
    return index;
  }

  /** Adds many; their last touch is their creation. */
  insertSeries(form: number, series: SubmissionSeries): void {
    const start = this.columns.count;
    this.columns.reserve(start + series.count);
    for (let number = 0; number < series.count; number++) {
      const createdAtMs = series.createdAtMs(number);
      const status = this.statusNumber(series.status(number));
      this.columns.append({ form, status, createdAtMs, updatedAtMs: createdAtMs });
    }
    this.answers.addSeries(start, start + series.count, series.answers);
  }

  /** The index of an existing submission, undefined when there is none with this ID now. */
  find(id: string): number | undefined {
    const index = this.names.indexOf(id);
    if (index === undefined || index >= this.columns.count) return undefined;
    return this.columns.deleted[index] === 1 ? undefined : index;
  }

  /** The index of a submission that exists or was deleted; throws USAGE when there never was one. */
  indexOf(id: string): number {
    const index = this.names.indexOf(id);
    if (index === undefined || index >= this.columns.count) {
      throw new MirrorError('USAGE', `The sandbox has no submission ${id}.`);
    }
    return index;
  }

  /** The status of the submission with this index. */
  statusOf(index: number): string {
    return this.#statusNames[this.columns.status[index] ?? 0] ?? '';
  }

  /** The number that stands for a status in the columns; up to 256 of them. */
  statusNumber(status: string): number {
    const known = this.#statusNumbers.get(status);
    if (known !== undefined) return known;
    const number = this.#statusNames.push(status) - 1;
    if (number > 255) throw new MirrorError('USAGE', 'The sandbox holds at most 256 statuses.');
    this.#statusNumbers.set(status, number);
    return number;
  }

  /** `createdAt` as the API shows it. */
  createdAtOf(index: number): string {
    const shown = this.#shownCreatedAt.get(index);
    return shown ?? new Date(this.columns.createdAtMs[index] ?? 0).toISOString();
  }
}

/** Answers as a Map, which is copied; an own `__proto__` of an object is a field like any other. */
export function answersOf(data: Answers | Readonly<Record<string, Json>>): Answers {
  return new Map(data instanceof Map ? data : Object.entries(data));
}

/** Which submission has which ID: the seed's own IDs cost nothing, given ones are kept. */
class SubmissionNames {
  readonly #ids: SubmissionIds;
  readonly #indexOfGiven = new Map<string, number>();
  readonly #given = new Map<number, string>();

  constructor(seed: number | string) {
    this.#ids = new SubmissionIds(seed);
  }

  /** The submission with this index is called `id` from now on. Throws USAGE when another one is. */
  give(index: number, id: string): void {
    if (this.#indexOfGiven.has(id) || this.#ids.indexOf(id) !== undefined) {
      throw new MirrorError('USAGE', `The ID ${id} is taken, or of the kind the sandbox makes up.`);
    }
    this.#indexOfGiven.set(id, index);
    this.#given.set(index, id);
  }

  /** The ID of the submission with this index. */
  idOf(index: number): string {
    return this.#given.get(index) ?? this.#ids.idOf(index);
  }

  /** The index this ID stands for, undefined when it can't be one of ours; may be beyond what exists. */
  indexOf(id: string): number | undefined {
    const given = this.#indexOfGiven.get(id);
    if (given !== undefined) return given;
    const index = this.#ids.indexOf(id);
    return index !== undefined && this.#given.has(index) ? undefined : index;
  }

  /** Compares two submissions by ID, as texts compare. */
  readonly compare = (left: number, right: number): number => {
    if (this.#given.size === 0) return this.#ids.scrambled(left) - this.#ids.scrambled(right);
    const [first, second] = [this.idOf(left), this.idOf(right)];
    return first < second ? -1 : Number(first > second);
  };
}
