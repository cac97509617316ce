import { FormsStore, type StoredSubmission } from '../../src/sandbox/forms-api/store.ts';
import type { OrderName } from '../../src/sandbox/forms-api/submission-orders.ts';
import type { SubmissionDraft } from '../../src/sandbox/forms-api/submission-table.ts';

/** A submission took another status; null: it did not exist before, or is gone. */
export interface Move {
  readonly id: string;
  readonly formId: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** A workspace that knows what moved its counts by status, whoever did it. */
export class WatchedStore extends FormsStore {
  /** In order. */
  readonly moves: Move[] = [];
  /** What was deleted, in order. */
  readonly deletions: string[] = [];
  /** Lists leave these out, and do not count them; each is there when asked for by its ID. */
  readonly #late = new Map<string, number>();
  #hides = 0;

  override get version(): number {
    return super.version + this.#hides;
  }

  override ordered(name: OrderName, formId?: string): Uint32Array {
    const all = super.ordered(name, formId);
    return this.#late.size === 0 ? all : all.filter((index) => !this.#late.has(this.at(index).id));
  }

  /** Those of a form that lists leave out, and for how long: which of all times of hiding that was. */
  hidden(formId: string): Map<string, number> {
    return new Map([...this.#late].filter(([id]) => this.get(id)?.formId === formId));
  }

  /** From now on no list shows it. */
  hide(id: string): void {
    const { formId, status } = this.get(id)!;
    this.#late.set(id, ++this.#hides);
    this.moves.push({ id, formId, from: status, to: null });
  }

  /** Those that {@link hide} hid are shown again, or just so many of them, and counted. */
  showHidden(most = Infinity): StoredSubmission[] {
    const shown = [...this.#late.keys()].slice(0, most);
    for (const id of shown) this.#late.delete(id);
    this.#hides++;
    const alive = shown.flatMap((id) => this.get(id) ?? []);
    for (const { id, formId, status } of alive) {
      this.moves.push({ id, formId, from: null, to: status });
    }
    return alive;
  }

  override insert(draft: SubmissionDraft): StoredSubmission {
    const made = super.insert(draft);
    this.moves.push({ id: made.id, formId: made.formId, from: null, to: made.status });
    return made;
  }

  override delete(id: string): void {
    this.deletions.push(id);
    this.#watched(id, () => super.delete(id));
  }

  override restore(id: string): void {
    this.#watched(id, () => super.restore(id));
  }

  override setStatus(id: string, status: string): void {
    this.#watched(id, () => super.setStatus(id, status));
  }

  #watched(id: string, change: () => void): void {
    const before = this.get(id);
    change();
    const after = this.get(id);
    const formId = after?.formId ?? before?.formId;
    const [from, to] = [before?.status ?? null, after?.status ?? null];
    if (formId !== undefined && from !== to) this.moves.push({ id, formId, from, to });
  }
}
