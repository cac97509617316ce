import { canonicalTime } from '../../../src/mirror/canonical-time.ts';
import { MirrorError } from '../../../src/base/errors.ts';
import type { FaultRule } from '../../../src/sandbox/faults.ts';
import type { Person } from '../../../src/sandbox/sheets-api/people.ts';
import type { Stored } from '../../../src/sandbox/sheets-api/inspect.ts';
import type { Target } from '../../../src/mirror/target.ts';
import type { Cell, FormIdentity, PickedField, Row } from '../../../src/mirror/types.ts';
import { SheetTime } from '../../../src/targets/google-sheets/sheet-time.ts';
import { field, pass, row } from '../../contract/target-harness.ts';
import { type SheetsPlace, sheetsPlace, SleepersClock } from './sheets-place.ts';

/** What people do to a sheet. */
export const ACTIONS = [
  'sort',
  'sort',
  'filter',
  'clearFilter',
  'hideRows',
  'hideColumns',
  'moveColumns',
  'moveColumns',
  'noteColumn',
  'noteColumn',
  'formulaColumn',
  'renameHeader',
  'blankRow',
  'titleRow',
  'deleteRows',
  'duplicateRow',
  'deleteColumn',
  'typeOver',
  'typeBelow',
  'cellNote',
  'looks',
  'renameTab',
  'moveTab',
  'duplicateTab',
  'addTab',
  'timeZone',
  'deleteHeader',
  'deleteOwnTab',
] as const;

/** One of {@link ACTIONS}, with a number that decides the rest. */
export interface Deed {
  readonly kind: (typeof ACTIONS)[number];
  readonly n: number;
}

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

/** One of {@link SOURCE_CHANGES}, with a number that decides the rest. */
export interface SourceChange {
  readonly kind: (typeof SOURCE_CHANGES)[number];
  readonly n: number;
}

/** How a pass goes. */
export interface PassPlan {
  /** Before which of its requests somebody does something. */
  readonly during: readonly { readonly at: number; readonly deed: Deed }[];
  readonly fault?: FaultRule | undefined;
  /** Before which of its requests the process is killed. */
  readonly killAt?: number | undefined;
  /** In a process of its own. */
  readonly elsewhere: boolean;
}

const FORM: FormIdentity = { id: 'frm_life', slug: 'life', name: 'Life: of a form' };
const ZONES = ['Etc/GMT', 'Europe/Prague', 'America/New_York', 'Asia/Kathmandu'];
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

/** Nothing goes wrong, so nothing may fail. */
const CALM: PassPlan = { during: [], elsewhere: false };

/** Thrown into a pass where its process is killed. */
class Killed extends Error {}

/** A source, a sheet, and people at it. */
export class SheetLife {
  readonly place: SheetsPlace;
  readonly clock: LivelyClock;
  readonly source = new Map<string, Row>();
  readonly gone = new Map<string, Row>();
  fields: PickedField[] = [
    field('field_1_name', 'Name'),
    field('field_2_age', 'Age', { position: 1 }),
    field('field_3_note', 'Note', { position: 2 }),
  ];
  /** Texts that people wrote beside submissions, and of whom they speak. */
  readonly notes = new Map<string, string>();
  /** Texts that people wrote elsewhere on the tab. */
  readonly texts = new Set<string>();
  /** Headers that people put in place of ours, by metadata value. */
  readonly headers = new Map<string, string>();
  deeds = 0;
  #target: Target;
  #count = 0;
  #tokens = 0;
  #zone = 'Europe/Prague';

  private constructor(place: SheetsPlace, clock: LivelyClock, target: Target) {
    this.place = place;
    this.clock = clock;
    this.#target = target;
  }

  static async begin(): Promise<SheetLife> {
    const clock = new LivelyClock();
    const place = await sheetsPlace({
      clock,
      pace: { perSpreadsheetMs: 1_000, perMinute: 60 },
      spreadsheet: { timeZone: 'Europe/Prague' },
    });
    return new SheetLife(place, clock, await place.open());
  }

  /** Something happens at the source. */
  change({ kind, n }: SourceChange): void {
    const ids = [...this.source.keys()];
    const id = ids[n % Math.max(1, ids.length)];
    const old = id === undefined ? undefined : this.source.get(id);
    const fieldId = this.fields[n % this.fields.length]?.id ?? '';
    if (kind === 'add') {
      for (let left = 1 + (n % 4); left > 0; left--) this.#add(n + left);
    } else if (kind === 'addField') {
      const position = this.fields.length;
      this.fields.push(field(`field_${this.#count}_${n}`, `Extra ${n % 3}`, { position }));
      this.#count++;
    } else if (kind === 'dropField') {
      this.fields = this.fields.map((one) =>
        one.id === fieldId ? { ...one, inSchema: !one.inSchema } : one,
      );
    } else if (kind === 'relabel') {
      this.fields = this.fields.map((one) =>
        one.id === fieldId ? { ...one, label: `Label ${n % 7}` } : one,
      );
    } else if (kind === 'return') {
      for (const [back, item] of this.gone) this.source.set(back, item);
      this.gone.clear();
    } else if (id !== undefined && old !== undefined) {
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
  }

  #add(n: number): void {
    const id = `sub_${String(this.#count++).padStart(4, '0')}`;
    const cells = Object.fromEntries(
      this.fields.map((one, place) => [one.id, ANSWERS[(n + place) % ANSWERS.length] ?? null]),
    );
    const createdAt = canonicalTime(new Date(Date.UTC(2026, 2, 28) + n * 3_333_333).toISOString());
    this.source.set(id, row(id, cells, { createdAt }));
  }

  /** A full pass. What may go wrong in it goes wrong; what must not is thrown. */
  async pass(plan: PassPlan = CALM): Promise<void> {
    const { faults } = this.place.sandbox;
    faults.clear();
    if (plan.fault !== undefined) faults.add(plan.fault);
    let killed = false;
    this.clock.onSleep = (count) => {
      for (const { at, deed } of plan.during) if (at === count) this.do(deed);
      if (plan.killAt !== count) return;
      killed = true;
      throw new Killed();
    };
    if (plan.elsewhere) this.#target = await this.place.openElsewhere();
    try {
      await this.#mirror(this.#target, () => killed);
    } catch (error) {
      const fair = plan !== CALM && error instanceof MirrorError && isFairFailure(error);
      if (!killed && !fair) throw error;
    } finally {
      this.clock.onSleep = () => {};
      faults.clear();
    }
    if (!killed) return;
    this.#target = await this.place.openElsewhere();
    this.clock.advance(120_000);
  }

  async #mirror(target: Target, killed: () => boolean): Promise<void> {
    const writer = await target.openWriter(FORM, { waitMs: 300_000 });
    try {
      await writer.prepare(this.fields);
      const rows = [...this.source.values()];
      for (let start = 0; start < rows.length; start += 7) {
        await writer.apply(rows.slice(start, start + 7), []);
      }
      const missing: string[] = [];
      for await (const ids of writer.liveIds()) {
        // The source answers 404 for what it knows as deleted, and for what nobody ever heard of.
        missing.push(...ids.filter((id) => !this.source.has(id)));
      }
      const at = new Date(this.clock.now()).toISOString();
      await writer.markDeleted(missing, at);
      const checkpoint = { watermark: at, total: rows.length, provenAt: at, fullProvenAt: at };
      await writer.finish(pass({ kind: 'full', endedAt: at }), { checkpoint });
    } finally {
      // A killed process gives nothing back.
      if (!killed()) await writer[Symbol.asyncDispose]();
    }
  }

  /** The form's tab, once there is one. */
  get sheetId(): number | undefined {
    const marks = this.place.sandbox.inspect.metadata(this.place.spreadsheetId);
    const tabs = new Set(
      this.place.sandbox.inspect.tabs(this.place.spreadsheetId).map((t) => t.sheetId),
    );
    for (const { metadataKey, metadataValue, location } of marks) {
      if (metadataKey !== 'fm.form' || location?.sheetId === undefined) continue;
      const [, , sheetId] = JSON.parse(metadataValue ?? '[]') as [string, string, number];
      if (sheetId === location.sheetId && tabs.has(sheetId)) return sheetId;
    }
    return undefined;
  }

  /** Where our columns are: metadata value → index. */
  columns(sheetId: number): Map<string, number> {
    const marks = this.place.sandbox.inspect.metadata(this.place.spreadsheetId);
    return new Map(
      marks.flatMap(({ metadataKey, metadataValue, location }) => {
        const range = location?.dimensionRange;
        if (metadataKey !== 'fm.col' || (range?.sheetId ?? 0) !== sheetId) return [];
        return [[metadataValue ?? '', range?.startIndex ?? 0] as const];
      }),
    );
  }

  grid(sheetId: number): Stored[][] {
    return this.place.sandbox.inspect.grid(this.place.spreadsheetId, sheetId);
  }

  /** Somebody does something. What the sheet refuses (sorting across a merge, say) is not done. */
  do({ kind, n }: Deed): void {
    const sheetId = this.sheetId;
    if (sheetId === undefined) return;
    const person = this.place.sandbox.people.at(this.place.spreadsheetId, sheetId);
    this.deeds++;
    this.#act(person, sheetId, kind, n);
  }

  #token(what: string): string {
    return `${what} #${this.#tokens++}`;
  }

  #act(person: Person, sheetId: number, kind: Deed['kind'], n: number): void {
    const { sandbox, spreadsheetId } = this.place;
    const tab = sandbox.inspect.tabs(spreadsheetId).find((one) => one.sheetId === sheetId);
    const grid = this.grid(sheetId);
    const columns = this.columns(sheetId);
    const [width, height] = [tab?.columns ?? 1, tab?.rows ?? 1];
    const idColumn = columns.get('s:id') ?? 0;
    const data = grid.flatMap((cells, index) => (this.#isOurs(cells[idColumn]) ? [index] : []));
    const some = data[n % Math.max(1, data.length)];
    const column = n % width;
    switch (kind) {
      case 'sort':
        person.sortSheet(column, n % 2 === 0 ? 'ASCENDING' : 'DESCENDING');
        return;
      case 'filter':
        person.filter(column % Math.max(1, grid[0]?.length ?? 1), ['NEW', '42']);
        return;
      case 'clearFilter':
        person.clearFilter();
        return;
      case 'hideRows':
        person.hideRows(1 + (n % Math.max(1, height - 2)));
        return;
      case 'hideColumns':
        if (column < width - 1) person.hideColumns(column);
        return;
      case 'moveColumns':
        person.moveColumns(column, 1, (n >> 3) % (width + 1));
        return;
      case 'noteColumn':
        this.#noteColumn(person, grid, data, idColumn, n % (width + 1), n);
        return;
      case 'formulaColumn': {
        person.insertColumns(Math.min(column, width - 1), 1);
        const at = Math.min(column, width - 1);
        for (const index of data.filter((_, i) => (i + n) % 2 === 0))
          person.type(index, at, `=ROW()+${n % 9}`);
        return;
      }
      case 'renameHeader':
        this.#renameHeader(person, sheetId, columns, n);
        return;
      case 'blankRow':
        person.insertRows(1 + (n % Math.max(1, height - 1)), 1 + (n % 2));
        return;
      case 'titleRow': {
        const text = this.#token('Title');
        person.insertRows(n % height, 1);
        person.type(n % height, (n >> 4) % width, text);
        this.texts.add(text);
        return;
      }
      case 'deleteRows':
        if (some !== undefined) this.#deleteRow(person, grid, some);
        return;
      case 'duplicateRow':
        if (some !== undefined) person.duplicateRow(some);
        return;
      case 'deleteColumn':
        this.#deleteColumn(person, grid, columns, column, width);
        return;
      case 'typeOver': {
        const ours = [...columns].filter(([key]) => key !== 's:id' && key !== 's:removed');
        const [, at] = ours[n % Math.max(1, ours.length)] ?? [];
        if (some !== undefined && at !== undefined)
          person.type(some, at, n % 3 === 0 ? '' : '=1+1');
        return;
      }
      case 'typeBelow': {
        const text = this.#token('Total');
        const below = Math.min(height - 1, grid.length + (n % 3));
        if ((grid[below]?.[column] ?? null) !== null) return;
        person.type(below, column, text);
        this.texts.add(text);
        return;
      }
      case 'cellNote':
        if (some !== undefined)
          person.note(some, column, `remark on ${String(grid[some]?.[idColumn])}`);
        return;
      case 'looks':
        person.format({ left: column, right: column + 1 }, { textFormat: { bold: true } });
        person.setWidth(column, 50 + (n % 200));
        return;
      case 'renameTab':
        person.renameTab(`It's "${n}"!`);
        return;
      case 'moveTab':
        person.moveTab(n % 3);
        return;
      case 'duplicateTab':
        person.duplicateTab();
        return;
      case 'addTab':
        person.addTab(this.#token('Mine'));
        return;
      case 'timeZone':
        this.#zone = ZONES[n % ZONES.length] ?? 'Etc/GMT';
        person.setTimeZone(this.#zone);
        return;
      case 'deleteHeader':
        this.#deleteHeader(person, sheetId, grid, height);
        return;
      case 'deleteOwnTab': {
        const title = ['Mirror', 'Mirror state', 'Mirror undo'][n % 3] ?? '';
        const there = sandbox.inspect.tabs(spreadsheetId).some((one) => one.title === title);
        if (there) sandbox.people.at(spreadsheetId, title).deleteTab();
        return;
      }
    }
  }

  #isOurs(cell: Stored | undefined): boolean {
    return typeof cell === 'string' && (this.source.has(cell) || this.gone.has(cell));
  }

  #noteColumn(
    person: Person,
    grid: Stored[][],
    data: number[],
    idColumn: number,
    at: number,
    n: number,
  ): void {
    person.insertColumns(Math.max(0, at - 1), 1);
    for (const index of data.filter((_, i) => (i + n) % 3 !== 0)) {
      const text = this.#token('note');
      person.type(index, Math.max(0, at - 1), text);
      this.notes.set(text, String(grid[index]?.[idColumn]));
    }
  }

  #headerRow(sheetId: number): number | undefined {
    const marks = this.place.sandbox.inspect.metadata(this.place.spreadsheetId);
    const mark = marks.find(
      ({ metadataKey, location }) =>
        metadataKey === 'fm.header' && (location?.dimensionRange?.sheetId ?? 0) === sheetId,
    );
    return mark?.location?.dimensionRange?.startIndex ?? (mark === undefined ? undefined : 0);
  }

  #renameHeader(person: Person, sheetId: number, columns: Map<string, number>, n: number): void {
    const named = [...columns].filter(([key]) => key.startsWith('f:'));
    const [key, index] = named[n % Math.max(1, named.length)] ?? [];
    const header = this.#headerRow(sheetId);
    if (key === undefined || index === undefined || header === undefined) return;
    // After a sort that took the header along, the marked row is no header any more.
    if (this.grid(sheetId)[header]?.[columns.get('s:id') ?? 0] !== 'Submission ID') return;
    const text = this.#token('My name for it');
    person.renameColumn(index, text, header);
    this.headers.set(key, text);
  }

  #deleteRow(person: Person, grid: Stored[][], index: number): void {
    for (const cell of grid[index] ?? []) this.#forget(cell);
    person.deleteRows(index);
  }

  /** What somebody throws away is not missed, unless there is a copy of it. */
  #forget(cell: Stored | undefined): void {
    if (typeof cell !== 'string') return;
    this.notes.delete(cell);
    this.texts.delete(cell);
  }

  #deleteColumn(
    person: Person,
    grid: Stored[][],
    columns: Map<string, number>,
    column: number,
    width: number,
  ): void {
    const key = [...columns].find(([, index]) => index === column)?.[0];
    if (key === 's:id' || width < 3) return;
    for (const cells of grid) this.#forget(cells[column]);
    if (key !== undefined) this.headers.delete(key);
    person.deleteColumns(column);
  }

  #deleteHeader(person: Person, sheetId: number, grid: Stored[][], height: number): void {
    const header = this.#headerRow(sheetId);
    if (header === undefined || height < 4) return;
    for (const cell of grid[header] ?? []) this.#forget(cell);
    const idColumn = this.columns(sheetId).get('s:id') ?? 0;
    if (grid[header]?.[idColumn] === 'Submission ID') this.headers.clear();
    person.deleteRows(header);
  }

  /** Everything that must hold after calm passes; a list of what does not. */
  complaints(): string[] {
    const sheetId = this.sheetId;
    if (sheetId === undefined) return this.source.size === 0 ? [] : ['there is no tab'];
    const grid = this.grid(sheetId);
    const columns = this.columns(sheetId);
    const ids = columns.get('s:id');
    if (ids === undefined) return ['there is no ID column'];
    const rowOf = new Map<string, number>();
    for (const [index, cells] of grid.entries()) {
      const id = cells[ids];
      if (typeof id === 'string' && !rowOf.has(id)) rowOf.set(id, index);
    }
    return [
      ...[...this.source.values()].flatMap((item) =>
        this.#rowComplaints(item, grid, columns, rowOf),
      ),
      ...this.#goneComplaints(grid, columns, rowOf),
      ...this.#peopleComplaints(grid, ids),
      ...this.#columnComplaints(sheetId, grid, columns),
    ];
  }

  #rowComplaints(
    item: Row,
    grid: Stored[][],
    columns: Map<string, number>,
    rowOf: Map<string, number>,
  ): string[] {
    const index = rowOf.get(item.id);
    if (index === undefined) return [`L1: ${item.id} has no row`];
    const cells = grid[index] ?? [];
    const types = this.place.sandbox.inspect.types(this.place.spreadsheetId, this.sheetId ?? 0);
    const zone = this.#zone;
    const wanted = new Map<string, Stored>([
      ['s:status', item.status],
      [
        's:at',
        item.createdAt === null
          ? null
          : (new SheetTime(zone).toSerial(item.createdAt) ?? item.createdAt),
      ],
      ['s:removed', null],
      ...this.fields.map((one) => {
        const cell = item.cells.get(one.id) ?? null;
        return [`f:${one.id}`, cell === '' ? null : (cell as Stored)] as const;
      }),
    ]);
    return [...wanted].flatMap(([key, value]) => {
      const column = columns.get(key);
      if (column === undefined) return [];
      const found = cells[column] ?? null;
      if (types[index]?.[column] === 'formula') return [`L10: ${item.id} ${key} is evaluated`];
      const same =
        found === value ||
        (typeof found === 'number' && typeof value === 'number' && Math.abs(found - value) < 1e-9);
      return same ? [] : [`L1/L10: ${item.id} ${key} is ${String(found)}, not ${String(value)}`];
    });
  }

  #goneComplaints(
    grid: Stored[][],
    columns: Map<string, number>,
    rowOf: Map<string, number>,
  ): string[] {
    const removed = columns.get('s:removed');
    return [...this.gone.keys()].flatMap((id) => {
      const index = rowOf.get(id);
      if (index === undefined || removed === undefined) return [];
      return typeof grid[index]?.[removed] === 'number' ? [] : [`L8: ${id} is not marked removed`];
    });
  }

  #peopleComplaints(grid: Stored[][], ids: number): string[] {
    const found = new Set<string>();
    const complaints: string[] = [];
    for (const cells of grid) {
      for (const cell of cells) {
        if (typeof cell !== 'string') continue;
        found.add(cell);
        const about = this.notes.get(cell);
        if (about !== undefined && cells[ids] !== about) {
          complaints.push(`"${cell}" speaks of ${about} and stands beside ${String(cells[ids])}`);
        }
      }
    }
    for (const text of [...this.notes.keys(), ...this.texts]) {
      if (!found.has(text)) complaints.push(`"${text}" is lost`);
    }
    const { inspect } = this.place.sandbox;
    for (const { row: at, note } of inspect.notes(this.place.spreadsheetId, this.sheetId ?? 0)) {
      const about = note.replace('remark on ', '');
      if (grid[at]?.[ids] !== about) complaints.push(`the remark on ${about} is elsewhere`);
    }
    return complaints;
  }

  #columnComplaints(sheetId: number, grid: Stored[][], columns: Map<string, number>): string[] {
    const header = this.#headerRow(sheetId);
    if (header === undefined) return ['the header row is gone'];
    const isHeader = grid[header]?.[columns.get('s:id') ?? 0] === 'Submission ID';
    const renamed = [...this.headers].flatMap(([key, text]) => {
      const column = columns.get(key);
      if (column === undefined || !isHeader) return [];
      return grid[header]?.[column] === text ? [] : [`L9: the header "${text}" is lost`];
    });
    const marks = this.place.sandbox.inspect
      .metadata(this.place.spreadsheetId)
      .filter(
        ({ metadataKey, location }) =>
          metadataKey === 'fm.col' && (location?.dimensionRange?.sheetId ?? 0) === sheetId,
      )
      .map(({ metadataValue }) => metadataValue);
    const twice = new Set(marks).size === marks.length ? [] : ['L9: two columns of one field'];
    return [...renamed, ...twice];
  }
}

/** Failures that a pass may have when people and faults get in its way: the next one takes it up. */
const isFairFailure = (error: MirrorError): boolean =>
  error.retryable && error.code.startsWith('TARGET_');

/** Sleepers wake at once; before they do, others get their turn. */
export class LivelyClock extends SleepersClock {
  /** Told before each wait of a pass; `count` is from 0 for each pass. */
  #onSleep: (count: number) => void = () => {};
  #count = 0;

  set onSleep(handler: (count: number) => void) {
    this.#onSleep = handler;
    this.#count = 0;
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await super.sleep(ms, signal);
    this.#onSleep(this.#count++);
  }
}
