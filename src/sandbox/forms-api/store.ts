import type { Json, Submission } from '../../mirror/types.ts';
import type { Answers } from './answers.ts';
import { type FieldDraft, WorkspaceForms, type FormDraft } from './workspace-forms.ts';
import type { SandboxField, SandboxForm } from './workspace-forms.ts';
import { type ColumnCriteria, filterByColumns, sliceByCreation } from './column-filter.ts';
import type { Wire } from './json.ts';
import { type OrderName, SubmissionOrders } from './submission-orders.ts';
import { answersOf, type SubmissionDraft, SubmissionTable } from './submission-table.ts';
import type { SubmissionSeries } from './submission-table.ts';

/** A submission as the store holds it. */
export interface StoredSubmission extends Submission {
  readonly createdAtMs: number;
  /** Time of the last change: created, answers replaced, or status set. */
  readonly updatedAtMs: number;
}

/** Properties that the API shows otherwise than the store holds them; an undefined one is left out. */
export type Distortion = Readonly<Record<string, Wire>>;

/** Options of a new store. */
export interface StoreOptions {
  /** Determines every ID that is made up. Default 1. Two workspaces need two seeds. */
  readonly seed?: number | string;
  /** Default: the system's. */
  readonly clock?: { now(): number };
}

/**
 * One workspace's forms and submissions, in memory: what the stand-in serves, and what tests do behind its back.
 * Every read shows the present instant. A million submissions of a series take some 30 MB. Methods that change
 * something throw USAGE for an ID that never was.
 */
export class FormsStore {
  readonly seed: number | string;
  /** Milliseconds since the epoch, by the store's own clock. */
  readonly now: () => number;
  readonly #forms: WorkspaceForms;
  readonly #table: SubmissionTable;
  readonly #orders: SubmissionOrders;
  readonly #contracts = new Map<string, number>();
  readonly #distortions = new Map<string, Distortion>();
  #version = 0;

  constructor(options: StoreOptions = {}) {
    const { seed = 1, clock = Date } = options;
    this.seed = seed;
    this.now = () => clock.now();
    this.#forms = new WorkspaceForms(seed, this.now);
    this.#table = new SubmissionTable(seed);
    this.#orders = new SubmissionOrders(
      this.#table.columns,
      this.#table.names.compare,
      (form) => this.#forms.byNumber(form).exists,
    );
  }

  /** Grows with every change to submissions: equal numbers mean that nothing changed between two reads. */
  get version(): number {
    return this.#version;
  }

  // Forms

  /** The forms that exist, in the order they were made. */
  forms(): SandboxForm[] {
    return this.#forms.all();
  }

  /** The form with this ID, undefined when there is none now. */
  form(formId: string): SandboxForm | undefined {
    return this.#forms.find(formId);
  }

  /** The form with this slug, undefined when there is none now. */
  formBySlug(slug: string): SandboxForm | undefined {
    return this.#forms.findBySlug(slug);
  }

  /** Makes a form. Throws USAGE when its ID or slug is taken. */
  addForm(draft: FormDraft): SandboxForm {
    return this.#forms.add(draft);
  }

  /** Deletes a form and, with it, its submissions. */
  deleteForm(formId: string): void {
    this.#setFormDeleted(formId, true);
  }

  /** Brings a deleted form back, and its submissions. */
  restoreForm(formId: string): void {
    this.#setFormDeleted(formId, false);
  }

  /** Gives a form another name or slug; its ID stays. */
  renameForm(formId: string, names: { readonly name?: string; readonly slug?: string }): void {
    this.#forms.rename(formId, names);
  }

  /** Adds a field to a section (default: the last one; made when there is none). */
  addField(formId: string, draft: FieldDraft, section?: number): SandboxField {
    return this.#forms.addField(formId, draft, section);
  }

  /** Gives a field another label; its ID stays. */
  relabelField(formId: string, fieldId: string, label: string): void {
    this.#forms.relabelField(formId, fieldId, label);
  }

  /** Deletes a field from the form; old submissions keep its answers. */
  deleteField(formId: string, fieldId: string): void {
    this.#forms.deleteField(formId, fieldId);
  }

  // Submissions

  /** Makes a submission. With an old `createdAt`: an import. Throws USAGE when its ID is taken. */
  insert(draft: SubmissionDraft): StoredSubmission {
    const index = this.#table.insert(this.#forms.numberOf(draft.formId), draft, this.now());
    if (draft.contractId !== undefined) this.#contracts.set(draft.contractId, index);
    this.#orders.insert(index);
    this.#version++;
    return this.at(index);
  }

  /** Makes many at once, at some 30 bytes each. */
  insertSeries(series: SubmissionSeries): void {
    this.#table.insertSeries(this.#forms.numberOf(series.formId), series);
    this.#orders.forget();
    this.#version++;
  }

  /** Deletes a submission; no effect on one that is deleted. */
  delete(id: string): void {
    const index = this.#table.indexOf(id);
    if (this.#table.columns.deleted[index] === 1) return;
    this.#orders.remove(index);
    this.#table.columns.deleted[index] = 1;
    this.#version++;
  }

  /** Brings a deleted submission back as it was; no effect on one that exists. */
  restore(id: string): void {
    const index = this.#table.indexOf(id);
    if (this.#table.columns.deleted[index] === 0) return;
    this.#table.columns.deleted[index] = 0;
    this.#orders.insert(index);
    this.#version++;
  }

  /** Sets a status, any text. */
  setStatus(id: string, status: string): void {
    const index = this.#table.indexOf(id);
    this.#table.columns.status[index] = this.#table.statusNumber(status);
    this.#touch(index);
  }

  /** Replaces the answers. */
  setAnswers(id: string, data: Answers | Readonly<Record<string, Json>>): void {
    const index = this.#table.indexOf(id);
    this.#table.answers.set(index, answersOf(data));
    this.#touch(index);
  }

  /** The submission with this ID, undefined when there is none now. */
  get(id: string): StoredSubmission | undefined {
    const index = this.#table.find(id);
    if (index === undefined || !this.#formOf(index).exists) return undefined;
    return this.at(index);
  }

  /** The submission that carries this contract ID now. */
  byContract(contractId: string): StoredSubmission | undefined {
    const index = this.#contracts.get(contractId);
    return index === undefined ? undefined : this.get(this.#table.names.idOf(index));
  }

  /** The number of submissions, of one form or in all. */
  count(formId?: string): number {
    return this.ordered('insertion', formId).length;
  }

  /** All that exist, of one form or in all, in the order they were made. Don't change the store while iterating. */
  *all(formId?: string): Generator<StoredSubmission> {
    for (const index of this.ordered('insertion', formId)) yield this.at(index);
  }

  /** The IDs of all that exist, of one form or in all, in the order they were made. */
  ids(formId?: string): string[] {
    return Array.from(this.ordered('insertion', formId), (index) => this.#table.names.idOf(index));
  }

  // What lists are made of

  /** Indexes of existing submissions, ascending. A view: use it before the next change. */
  ordered(name: OrderName, formId?: string): Uint32Array {
    if (formId !== undefined && !this.#forms.find(formId)) return new Uint32Array();
    const form = formId === undefined ? undefined : this.#forms.numberOf(formId);
    return this.#orders.get(form, name).items();
  }

  /** The submission at an index of {@link ordered}. */
  at(index: number): StoredSubmission {
    const { columns, names, answers } = this.#table;
    return {
      id: names.idOf(index),
      formId: this.#formOf(index).id,
      status: this.#table.statusOf(index),
      createdAt: this.#table.createdAtOf(index),
      data: answers.of(index),
      createdAtMs: columns.createdAtMs[index] ?? 0,
      updatedAtMs: columns.updatedAtMs[index] ?? 0,
    };
  }

  /** When the submission at an index was made, without making the rest of it. */
  createdAtMs(index: number): number {
    return this.#table.columns.createdAtMs[index] ?? 0;
  }

  /** Those of {@link ordered} that match, in the same order; a view like it. */
  select(
    ordered: Uint32Array,
    order: OrderName,
    criteria: Omit<ColumnCriteria, 'status'> & { readonly status: string | undefined },
  ): Uint32Array {
    const { columns } = this.#table;
    const { range, stamp } = criteria;
    const isBounded = Number.isFinite(range.lowMs) || Number.isFinite(range.highMs);
    const canSlice = order === 'time' && stamp === 'created';
    const sliced = isBounded && canSlice ? sliceByCreation(columns, ordered, range) : ordered;
    if (criteria.status === undefined && (canSlice || !isBounded)) return sliced;
    const status =
      criteria.status === undefined ? undefined : this.#table.statusNumber(criteria.status);
    return filterByColumns(columns, sliced, { status, range, stamp });
  }

  // What the API shows otherwise

  /** From now on the API shows this form or submission with these properties put over its own; `undefined` undoes it. */
  distort(id: string, distortion: Distortion | undefined): void {
    if (distortion === undefined) this.#distortions.delete(id);
    else this.#distortions.set(id, distortion);
  }

  /** The properties that {@link distort} set for this form or submission. */
  distortionOf(id: string): Distortion | undefined {
    return this.#distortions.get(id);
  }

  #setFormDeleted(formId: string, deleted: boolean): void {
    this.#forms.setDeleted(formId, deleted);
    this.#orders.forget();
    this.#version++;
  }

  #touch(index: number): void {
    this.#table.columns.updatedAtMs[index] = this.now();
    this.#version++;
  }

  #formOf(index: number): { id: string; exists: boolean } {
    return this.#forms.byNumber(this.#table.columns.form[index] ?? 0);
  }
}
