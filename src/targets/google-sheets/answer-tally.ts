import { cellText, isBlank } from '../../mirror/cells.ts';
import { type Cell, JsonText, type SelectedField, type Row } from '../../mirror/types.ts';
import { type ColumnKey, fieldKey } from './api/metadata.ts';

/** Lines that a question gets at most; the rest is counted together. */
const MAX_LISTED = 12;
/** A question that is shown stays so up to this many different answers. */
const MAX_DISTINCT = 40;
/** Questions of one form. */
const MAX_QUESTIONS = 10;
/** The longest choice, in characters; people wrote longer answers themselves. */
const MAX_CHOICE = 100;
/** Fewer answers tell nothing of a question. */
const LEAST_ANSWERS = 10;
/** How often each answer is given on average, so that the question looks like one of choices. */
const LEAST_REPEATS = 3;

/** A question whose answers the Summary tab counts one by one. */
export interface CountedQuestion {
  readonly key: ColumnKey;
  /** Lines that it gets. */
  readonly listed: number;
  /** All answers are numbers: they are listed in their order. */
  readonly numbers: boolean;
}

interface Tally {
  answered: number;
  /** Undefined once the answers are too many, too long, or lists. */
  distinct: Set<string> | undefined;
  numbers: boolean;
}

/**
 * Separates the questions that are answered by choosing from those that are answered in one's own words. The Forms API shows
 * neither types of fields nor choices, so their answers have to: choices repeat. Of the answers nothing is kept, except for
 * how long a run takes.
 */
export class AnswerTally {
  readonly #tallies = new Map<string, Tally>();

  constructor(fields: readonly SelectedField[]) {
    const shown = fields
      .filter((field) => field.inSchema && !field.hashed)
      .toSorted((a, b) => a.position - b.position);
    for (const { id } of shown)
      this.#tallies.set(id, { answered: 0, distinct: new Set(), numbers: true });
  }

  /** Counts in what some submissions answered. */
  add(rows: readonly Row[]): void {
    for (const [id, tally] of this.#tallies) {
      for (const row of rows) {
        if (tally.distinct === undefined) break;
        note(tally, row.cells.get(id) ?? null);
      }
    }
  }

  /** The questions to be counted by answer, in the form's order; `before`: those that were until now. */
  questions(before: readonly CountedQuestion[]): CountedQuestion[] {
    const known = new Map(before.map((question) => [question.key, question]));
    return [...this.#tallies]
      .flatMap(([id, tally]) => counted(fieldKey(id), tally, known.get(fieldKey(id))))
      .slice(0, MAX_QUESTIONS);
  }
}

function note(tally: Tally, cell: Cell): void {
  if (isBlank(cell)) return;
  tally.answered++;
  tally.numbers &&= typeof cell === 'number';
  const text = cellText(cell) ?? '';
  tally.distinct?.add(text);
  const isOwnWords = cell instanceof JsonText || text.length > MAX_CHOICE;
  if (isOwnWords || (tally.distinct?.size ?? 0) > MAX_DISTINCT) tally.distinct = undefined;
}

/** A question that is shown does not come and go with every few answers: its lines only become more. */
function counted(
  key: ColumnKey,
  { answered, distinct, numbers }: Tally,
  before: CountedQuestion | undefined,
): CountedQuestion[] {
  if (distinct === undefined) return [];
  if (answered === 0) return before === undefined ? [] : [before];
  const listed = Math.max(before?.listed ?? 0, Math.min(MAX_LISTED, distinct.size));
  const isChoice =
    distinct.size <= MAX_LISTED &&
    answered >= LEAST_ANSWERS &&
    answered >= LEAST_REPEATS * distinct.size;
  return before !== undefined || isChoice ? [{ key, listed, numbers }] : [];
}
