import type { PickedField, Row } from '../../../mirror/types.ts';
import type { FormSheet } from '../state/form-sheet.ts';
import { AnswerTally } from './answer-tally.ts';
import { isSummaryFailure, needsSummary, writeSummary } from './write-summary.ts';

/** What one writer does for the Summary tab: it looks at the answers of its pass, and brings the tab up to date at its end. */
export class SummaryKeeper {
  readonly #sheet: FormSheet;
  readonly #setting: boolean | undefined;
  #tally = new AnswerTally([]);

  /** `setting`: SHEETS_SUMMARY; undefined: only in a spreadsheet that the mirror began. */
  constructor(sheet: FormSheet, setting: boolean | undefined) {
    this.#sheet = sheet;
    this.#setting = setting;
  }

  /** From now on the answers to these fields are looked at. */
  follow(fields: readonly PickedField[]): void {
    this.#tally = new AnswerTally(fields);
  }

  /** Looks at the answers of a batch. */
  see(rows: readonly Row[]): void {
    this.#tally.add(rows);
  }

  /**
   * After a pass: writes the tab where it does not show what it is to show, in a turn of the writer's; `sawAll`: the pass
   * has met every row. A failure is no failure of the pass, which has ended well: the next one tries again.
   */
  async end(sawAll: boolean, inTurn: (work: () => Promise<void>) => Promise<void>): Promise<void> {
    const { spreadsheet, form } = this.#sheet;
    const before = spreadsheet.known.summary.record.questions.get(form.id) ?? [];
    const questions = sawAll ? this.#tally.questions(before) : undefined;
    const wish = { setting: this.#setting, questions };
    if (!needsSummary(spreadsheet, form.id, wish)) return;
    try {
      await inTurn(() => writeSummary(spreadsheet, form.id, wish));
    } catch (error) {
      if (!isSummaryFailure(error)) throw error;
    }
  }
}
