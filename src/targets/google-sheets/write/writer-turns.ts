import { MirrorError } from '../../../base/errors.ts';
import type { FormSheet } from '../state/form-sheet.ts';
import { overtakenMessage, SheetsError } from '../api/sheets-error.ts';

/** How often a step is planned again because people rearranged the sheet meanwhile, or protected something. */
const ROUNDS = 6;
/** A lease with more than this left is given back when the writer goes. */
const WORTH_RELEASING_MS = 30_000;

/** Runs a writer's steps one at a time, only while it is the form's writer, and again when the sheet was rearranged meanwhile. */
export class WriterTurns {
  readonly #sheet: FormSheet;
  readonly #release: () => void;
  #lost: MirrorError | undefined;
  #ended = false;
  #stale = false;

  /** `release` is called once, at the end. */
  constructor(sheet: FormSheet, release: () => void) {
    this.#sheet = sheet;
    this.#release = release;
  }

  /**
   * Runs one step. Throws TARGET_LOST_LOCK when another process has written to the form since it was read, or the writer
   * has ended. After any failure the next step starts by reading the sheet again.
   */
  async take<T>(work: () => Promise<T>): Promise<T> {
    const sheet = this.#sheet;
    return sheet.spreadsheet.exclusively(async () => {
      if (this.#lost !== undefined) throw this.#lost;
      try {
        await sheet.spreadsheet.admit(sheet.form.id, sheet.openedAt);
        if (this.#stale) await sheet.reload();
        this.#stale = false;
        return await this.#rounds(work);
      } catch (error) {
        this.#stale = true;
        sheet.spreadsheet.forgetStateTab();
        if (error instanceof MirrorError && error.code === 'TARGET_LOST_LOCK') this.#lost = error;
        throw error;
      }
    });
  }

  /** Ends the writer, after what it began, and gives its lease back when others would wait for it. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    const { spreadsheet, form } = this.#sheet;
    try {
      await spreadsheet.exclusively(async () => {
        const lost = this.#lost !== undefined;
        this.#lost ??= new MirrorError('TARGET_LOST_LOCK', overtakenMessage(spreadsheet.address));
        if (lost || spreadsheet.ownLeaseLeftMs <= WORTH_RELEASING_MS) return;
        await spreadsheet.commit({ formId: form.id, requests: [], responseRanges: [], leaseMs: 0 });
      });
    } catch {
      // The lease ends by itself.
    } finally {
      this.#release();
    }
  }

  async #rounds<T>(work: () => Promise<T>): Promise<T> {
    const sheet = this.#sheet;
    let isRefused = false;
    for (let round = 1; ; round++) {
      try {
        return await work();
      } catch (error) {
        const fault = error instanceof SheetsError ? error.fault : undefined;
        const isWorthTrying =
          fault === 'moved' ||
          (fault === 'refused' && !isRefused) ||
          (fault === 'protected' && round < ROUNDS && (await sheet.meetProtection()));
        if (!isWorthTrying || round >= ROUNDS) {
          throw fault === 'protected' ? sheet.protectionError() : error;
        }
        isRefused ||= fault === 'refused';
        sheet.spreadsheet.forgetStateTab();
        await sheet.reload();
        await sheet.spreadsheet.admit(sheet.form.id, sheet.openedAt);
      }
    }
  }
}
