import type { ListedRejection } from '../../../mirror/target.ts';
import type { Rejection } from '../../../mirror/types.ts';
import type { FormSheet } from './form-sheet.ts';
import type { StateTab } from './state-tab.ts';
import { fitText } from '../api/cell-value.ts';

/** A listing that is met again is rewritten at most this often. */
const SEEN_AGAIN_MS = 60 * 60_000;

/** By name: what is to be listed, and what is listed. */
interface Listings {
  readonly current: ReadonlyMap<string, Rejection>;
  readonly old: ReadonlyMap<string, ListedRejection>;
}

/** Keeps the state tab's listings in line with what a pass meets (L6). One for each writer. */
export class RejectionList {
  readonly #formId: string;
  readonly #met = new Set<string>();

  constructor(formId: string) {
    this.#formId = formId;
  }

  /**
   * Lists the rejections of a batch and ends the listings of its rows that meet none any more. Changes the state tab in
   * memory; `ids` are the rows of the batch, `now` is ISO. Returns the submissions that are listed now and were not before.
   */
  async note(
    sheet: FormSheet,
    batch: { readonly ids: readonly string[]; readonly all: readonly Rejection[] },
    now: string,
  ): Promise<ReadonlySet<string>> {
    if (batch.all.length === 0 && sheet.view.state.counts.rejected === 0) return new Set();
    const stateTab = await sheet.spreadsheet.stateTab();
    const old = new Map(stateTab.rejections(this.#formId).map((item) => [nameOf(item), item]));
    const current = new Map(batch.all.map((item) => [nameOf(item), item]));
    const concerned = new Set([
      ...batch.ids,
      ...batch.all.map((item) => fitText(item.submissionId).text),
    ]);
    for (const [name, item] of old) {
      if (concerned.has(item.submissionId) && !current.has(name)) {
        stateTab.unlist(this.#formId, item.submissionId, item.reason);
      }
    }
    this.#list(stateTab, { current, old }, now);
    const listedBefore = new Set([...old.values()].map(({ submissionId }) => submissionId));
    const isNew = (id: string): boolean => !listedBefore.has(fitText(id).text);
    return new Set(batch.all.map(({ submissionId }) => submissionId).filter(isNew));
  }

  /** Lists rejections besides those that are listed. */
  async add(sheet: FormSheet, items: readonly Rejection[], now: string): Promise<void> {
    if (items.length === 0) return;
    const stateTab = await sheet.spreadsheet.stateTab();
    const old = new Map(stateTab.rejections(this.#formId).map((item) => [nameOf(item), item]));
    this.#list(stateTab, { current: new Map(items.map((item) => [nameOf(item), item])), old }, now);
  }

  #list(stateTab: StateTab, { current, old }: Listings, now: string): void {
    for (const [name, item] of current) {
      this.#met.add(name);
      const before = old.get(name);
      const seen = before?.lastSeenAt ?? now;
      const isOld = Date.parse(now) - Date.parse(seen) >= SEEN_AGAIN_MS;
      stateTab.list(this.#formId, {
        ...item,
        firstSeenAt: before?.firstSeenAt ?? now,
        lastSeenAt: isOld ? now : seen,
      });
    }
  }

  /**
   * After a proven full pass: what it did not meet is no longer at the source. `since`: neither is what was last met before
   * that, where others have met the rest of the form since then.
   */
  async dropUnmet(sheet: FormSheet, since?: string): Promise<void> {
    if (sheet.view.state.counts.rejected === 0 && sheet.spreadsheet.knownStateTab === undefined)
      return;
    const stateTab = await sheet.spreadsheet.stateTab();
    for (const item of stateTab.rejections(this.#formId)) {
      if (this.#met.has(nameOf(item)) || (since !== undefined && !isOlder(item, since))) continue;
      stateTab.unlist(this.#formId, item.submissionId, item.reason);
    }
  }
}

/** When it was last met is rewritten only now and then. */
const isOlder = ({ lastSeenAt }: ListedRejection, since: string): boolean =>
  Date.parse(lastSeenAt) + SEEN_AGAIN_MS < Date.parse(since);

const nameOf = ({ submissionId, reason }: Pick<Rejection, 'submissionId' | 'reason'>): string =>
  `${fitText(submissionId).text}\n${fitText(reason).text}`;
