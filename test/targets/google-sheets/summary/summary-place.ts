import type { FormWriter, Target } from '../../../../src/mirror/target.ts';
import type {
  Cell,
  Checkpoint,
  FormIdentity,
  PassKind,
  PickedField,
  Row,
} from '../../../../src/mirror/types.ts';
import { CHECKPOINT, FORM, field, pass, row } from '../../../contract/target-harness.ts';
import type { Person } from '../../../../packages/google-sheets-emulator/test/support/people.ts';
import {
  type SheetsPlace,
  type SheetsPlaceOptions,
  sheetsPlace,
  SleepersClock,
} from '../sheets-place.ts';

export const COLOUR = field('field_1_colour', 'Colour');
export const STARS = field('field_2_stars', 'Stars', { position: 1 });
export const REMARK = field('field_3_remark', 'Remark', { position: 2 });
export const FIELDS: readonly PickedField[] = [COLOUR, STARS, REMARK];

const DAY_MS = 86_400_000;

/** A submission, `nth` days before the last of February 2026: red, blue or green; stars; a remark of its own. */
export function submission(
  nth: number,
  cells: Record<string, Cell> = {},
  rest: Partial<Row> = {},
): Row {
  const answers = {
    [COLOUR.id]: ['red', 'blue', 'green'][nth % 3] ?? null,
    [STARS.id]: nth % 5 === 0 ? null : nth % 5,
    [REMARK.id]: `Remark number ${nth}`,
    ...cells,
  };
  const createdAt = new Date(Date.UTC(2026, 1, 28, 12) - nth * DAY_MS).toISOString();
  const status = ['NEW', 'DONE'][nth % 2] ?? 'NEW';
  return row(`s${nth}`, answers, { createdAt, status, ...rest });
}

/** Thirty of them. */
export const SUBMISSIONS: readonly Row[] = Array.from({ length: 30 }, (_, nth) => submission(nth));

/** One form's part of the Summary tab, as people read it. */
export interface ShownForm {
  /** Label and number, from the top down; a question's own line has what its lines are of. */
  readonly counts: readonly (readonly [label: string, count: string])[];
  readonly weeks: readonly (readonly [week: string, count: string])[];
}

/** A spreadsheet with a Summary tab, and passes as `sync` runs them, a minute apart. */
export class SummaryPlace implements AsyncDisposable {
  readonly place: SheetsPlace;
  readonly clock: SleepersClock;
  target: Target;

  private constructor(place: SheetsPlace, clock: SleepersClock, target: Target) {
    this.place = place;
    this.clock = clock;
    this.target = target;
  }

  static async begin(
    options: SheetsPlaceOptions = {},
    clock = new SleepersClock('2026-03-04T08:00:00.000Z'),
  ): Promise<SummaryPlace> {
    const place = await sheetsPlace({ clock, ...options });
    return new SummaryPlace(place, clock, await place.open());
  }

  /** From now on with another SHEETS_SUMMARY. */
  async restart(summary?: boolean): Promise<void> {
    this.clock.advance(60_000);
    this.target = await this.place.openElsewhere(summary);
  }

  /** A pass that brings these rows. */
  async pass(
    rows: readonly Row[],
    options: {
      readonly kind?: PassKind;
      readonly form?: FormIdentity;
      readonly fields?: readonly PickedField[];
      readonly also?: (writer: FormWriter) => Promise<unknown>;
    } = {},
  ): Promise<void> {
    const { kind = 'full', form = FORM, fields = FIELDS, also } = options;
    this.clock.advance(60_000);
    const at = new Date(this.clock.now()).toISOString();
    await using writer = await this.target.openWriter(form, { waitMs: 300_000 });
    await writer.prepare(fields);
    await writer.losses();
    for (let start = 0; start < rows.length; start += 10) {
      await writer.apply(rows.slice(start, start + 10), []);
    }
    await also?.(writer);
    const checkpoint: Checkpoint = { ...CHECKPOINT, total: rows.length, provenAt: at };
    const record = pass({ kind, startedAt: at, endedAt: at, inserted: 0 });
    await writer.finish(record, { checkpoint });
  }

  person(tab: string): Person {
    return this.place.sandbox.people.at(this.place.spreadsheetId, tab);
  }

  get titles(): string[] {
    return this.place.sandbox.inspect.tabs(this.place.spreadsheetId).map(({ title }) => title);
  }

  /** True once the form's tab holds more than its headers. */
  get hasRows(): boolean {
    const { inspect } = this.place.sandbox;
    return inspect.grid(this.place.spreadsheetId, FORM.name).length > 1;
  }

  /** Where a form's column is now, by its header. */
  column(header: string, tab = FORM.name): number {
    const { inspect } = this.place.sandbox;
    return inspect.grid(this.place.spreadsheetId, tab)[0]?.indexOf(header) ?? -1;
  }

  /** The Summary tab as people see it. */
  shown(tab = 'Summary'): string[][] {
    return this.place.sandbox.inspect.shown(this.place.spreadsheetId, tab);
  }

  /** The forms on it, by name. */
  forms(tab = 'Summary'): Map<string, ShownForm> {
    const lines = this.shown(tab);
    const tops = lines.flatMap((line, at) => (line[0] === 'Submissions' ? [at] : []));
    return new Map(
      tops.map((top, nth) => {
        const own = lines.slice(top, (tops[nth + 1] ?? lines.length + 1) - 1);
        const pairs = (at: number): (readonly [string, string])[] =>
          own.flatMap((line) => {
            const [label = '', count = ''] = [line[at], line[at + 1]];
            return label === '' ? [] : [[label, count] as const];
          });
        const name = lines[top - 1]?.[0] ?? '';
        return [name, { counts: pairs(0), weeks: pairs(5) }];
      }),
    );
  }

  form(name = FORM.name, tab = 'Summary'): ShownForm {
    return this.forms(tab).get(name) ?? { counts: [], weeks: [] };
  }

  /** The first number beside a label. */
  count(label: string): string | undefined {
    return this.form().counts.find(([text]) => text === label)?.[1];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.place.dispose();
  }
}
