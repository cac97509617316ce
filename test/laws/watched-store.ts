import { FormsStore, type StoredSubmission } from '../../src/sandbox/forms-api/store.ts';
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

  override insert(draft: SubmissionDraft): StoredSubmission {
    const made = super.insert(draft);
    this.moves.push({ id: made.id, formId: made.formId, from: null, to: made.status });
    return made;
  }

  override delete(id: string): void {
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
