import { cellText, isBlank } from '../../mirror/cells.ts';
import { type Cell, JsonText, type SelectedField, type Row } from '../../mirror/types.ts';
import { type ColumnKey, fieldKey } from './api/metadata.ts';

/** The most lines of a question; the remaining answers are counted together. */
const MAX_LISTED = 12;
/** A question on the tab stays there with up to this many different answers. */
const MAX_DISTINCT = 40;
/** The most questions of one form. */
const MAX_QUESTIONS = 10;
/** The longest choice, in characters; longer answers are written by people. */
const MAX_CHOICE = 100;
/** Fewer answers do not show whether a question is one of choices. */
const LEAST_ANSWERS = 10;
/** How often each answer must be given on average for a question to look like one of choices. */
const LEAST_REPEATS = 3;

/** A question whose answers the Summary tab counts one by one. */
export interface CountedQuestion {
  readonly key: ColumnKey;
  /** How many lines it gets. */
  readonly listed: number;
}

interface Tally {
  answered: number;
  /** Undefined once the answers are too many, too long, or lists. */
  distinct: Set<string> | undefined;
}

/**
 * Tells questions that are answered by choosing from those that are answered in a person's own words. The Forms API shows neither
 * field types nor choices, so the answers decide: choices repeat. Answers are kept only for the duration of a run.
 */
export class AnswerTally {
  readonly #tallies = new Map<string, Tally>();

  constructor(fields: readonly SelectedField[]) {
    const shown = fields
      .filter((field) => field.inSchema && !field.hashed)
      .toSorted((a, b) => a.position - b.position);
    for (const { id } of shown) this.#tallies.set(id, { answered: 0, distinct: new Set() });
  }

  /** Counts the answers of some submissions. */
  add(rows: readonly Row[]): void {
    for (const [id, tally] of this.#tallies) {
      for (const row of rows) {
        if (tally.distinct === undefined) break;
        note(tally, row.cells.get(id) ?? null);
      }
    }
  }

  /** The questions to count by answer, in the form's order. `before`: those that were counted until now. */
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
  const text = cellText(cell) ?? '';
  tally.distinct?.add(text);
  const isOwnWords = cell instanceof JsonText || text.length > MAX_CHOICE;
  if (isOwnWords || (tally.distinct?.size ?? 0) > MAX_DISTINCT) tally.distinct = undefined;
}

/** A question on the tab does not come and go with every few answers: its lines only increase. */
function counted(
  key: ColumnKey,
  { answered, distinct }: Tally,
  before: CountedQuestion | undefined,
): CountedQuestion[] {
  if (distinct === undefined) return [];
  if (answered === 0) return before === undefined ? [] : [before];
  const listed = Math.max(before?.listed ?? 0, Math.min(MAX_LISTED, distinct.size));
  const isChoice =
    distinct.size <= MAX_LISTED &&
    answered >= LEAST_ANSWERS &&
    answered >= LEAST_REPEATS * distinct.size;
  return before !== undefined || isChoice ? [{ key, listed }] : [];
}
