import { afterEach, beforeEach } from 'vitest';
import type { FormReader, FormWriter, Target } from '../../src/mirror/target.ts';
import type {
  Cell,
  Checkpoint,
  FormIdentity,
  PassRecord,
  PickedField,
  Row,
} from '../../src/mirror/types.ts';

/** A fresh, empty place to mirror into. */
export interface TargetPlace {
  /** A target on it; several ones stand for several processes. The suite disposes them. */
  open(name?: string): Promise<Target>;
  /** Makes it so that another writer has taken the form over, as after a stall; undefined where that can't be made. */
  readonly usurp?: (formId: string) => Promise<void>;
  /** The same for its marker. */
  readonly usurpMarking?: (formId: string) => Promise<void>;
  /** What people do to what is there; undefined where the adapter does not say what is lost. */
  readonly damage?: Damage;
  /** A snapshot is of the moment when its first rows are read. */
  readonly readsAtFirstPiece?: boolean;
  /** Removes it. */
  dispose(): Promise<void>;
}

/** Harm that a person does to the one form of a place, {@link FORM}, with the means of the place. */
export interface Damage {
  /** Drops the table, deletes the tab. */
  dropPlace(): Promise<void>;
  /** Deletes all rows. */
  empty(): Promise<void>;
  /** Deletes rows. */
  deleteRows(ids: readonly string[]): Promise<void>;
  /** Deletes the column of the field {@link AGE}; undefined where that is a person's wish, which is respected. */
  readonly dropAge?: () => Promise<void>;
  /** True when the overview counts rows itself; otherwise it knows of those that the next pass misses. */
  readonly rowsAreCountedAtOnce: boolean;
}

/** Makes places for a contract suite. */
export type MakePlace = () => Promise<TargetPlace>;

/** The form that the suites write to. */
export const FORM: FormIdentity = { id: 'frm_1', slug: 'contact-form', name: 'Contact form' };

/** A picked field of the form's schema. */
export function field(id: string, label: string, rest: Partial<PickedField> = {}): PickedField {
  return { id, label, position: 0, inSchema: true, hashed: false, ...rest };
}

/** Fields in form order. */
export const fieldList = (...fields: PickedField[]): PickedField[] =>
  fields.map(({ id, label, inSchema, hashed }, position) =>
    field(id, label, { inSchema, hashed, position }),
  );

/** A row; `cells` by field ID. */
export function row(id: string, cells: Record<string, Cell> = {}, rest: Partial<Row> = {}): Row {
  return {
    id,
    status: 'NEW',
    createdAt: '2026-03-01T12:00:00.000Z',
    cells: new Map(Object.entries(cells)),
    ...rest,
  };
}

/** A pass that went well. */
export function pass(rest: Partial<PassRecord> = {}): PassRecord {
  return {
    kind: 'incremental',
    startedAt: '2026-03-02T08:00:00.000Z',
    endedAt: '2026-03-02T08:00:05.000Z',
    outcome: 'ok',
    requests: 3,
    total: 2,
    distinct: 2,
    inserted: 2,
    updated: 0,
    unchanged: 0,
    deleted: 0,
    rejected: 0,
    withheld: 0,
    code: null,
    error: null,
    ...rest,
  };
}

/** All chunks of an iteration as one sorted list. */
export async function sorted(chunks: AsyncIterable<string[]>): Promise<string[]> {
  const all: string[] = [];
  for await (const chunk of chunks) all.push(...chunk);
  return all.sort();
}

/** Writing without waiting for the lock. */
export const AT_ONCE = { waitMs: 0 };

/** Two fields of the form. */
export const NAME = field('field_1_a', 'Full name');
export const AGE = field('field_2_b', 'Age', { position: 1 });

/** What a proven pass leaves. */
export const CHECKPOINT: Checkpoint = {
  watermark: '2026-03-01T12:00:00.123456Z',
  total: 2,
  provenAt: '2026-03-02T08:00:05.000Z',
  absent: 0,
  withheld: 0,
  fullProvenAt: null,
  hidden: 1,
  provenFor: 'p.h.k.f',
  statuses: new Map([
    ['DONE', 1],
    ['NEW', 2],
    ['__proto__', 1],
  ]),
  unstored: new Map([['__proto__', 1]]),
  countsAt: '2026-03-02T08:00:04.000Z',
};

/** A fresh place for each test, with a target on it. */
export interface TargetStage {
  readonly place: TargetPlace;
  readonly target: Target;
  /** Another target on the same place. */
  open(): Promise<Target>;
  /** Runs `work` with a writer of the form. */
  write<T>(work: (writer: FormWriter) => Promise<T>, form?: FormIdentity): Promise<T>;
  /** A reader of the form, which must be there. */
  read(): Promise<FormReader>;
  /** The cells of a row, by field ID. */
  cellsOf(id: string): Promise<Record<string, Cell>>;
}

/** Sets the stage for the tests of the `describe` around it. */
export function stageTargets<Place extends TargetPlace>(
  makePlace: () => Promise<Place>,
): TargetStage & { readonly place: Place } {
  let place: Place;
  let target: Target;
  const opened: Target[] = [];
  const open = async (): Promise<Target> => {
    const one = await place.open();
    opened.push(one);
    return one;
  };
  const read = async (): Promise<FormReader> => {
    const reader = await target.reader(FORM.id);
    if (reader === undefined) throw new Error('never mirrored');
    return reader;
  };
  beforeEach(async () => {
    place = await makePlace();
    target = await open();
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
    await place.dispose();
  });
  return {
    get place() {
      return place;
    },
    get target() {
      return target;
    },
    open,
    read,
    async write(work, form = FORM) {
      await using writer = await target.openWriter(form, AT_ONCE);
      return await work(writer);
    },
    async cellsOf(id) {
      const rows = await (await read()).rows([id]);
      return Object.fromEntries(rows.get(id)?.cells ?? []);
    },
  };
}
