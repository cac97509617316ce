import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellText, sameCell, toCell } from '../../src/mirror/cell.ts';
import { parseNumber } from '../../src/mirror/numbers.ts';
import type { FormWriter, RowOutcome } from '../../src/mirror/target.ts';
import { type Cell, ExactNumber, type Json, JsonText, type Row } from '../../src/mirror/types.ts';
import { propertyRuns } from '../support/property.ts';
import type { QueriedStage } from './sql-target.ts';
import { AT_ONCE, field, fieldList, row, sorted } from './target-harness.ts';

const IDS = ['a', 'b', 'c', 'd', 'Ž', "q'uote", '😀'];
const FIELDS = ['f0', 'f1', 'f2', 'f3'];
const TIME = '2026-05-05T05:05:05.000Z';

/** What the target should hold: the plainest thing that keeps the contract. */
interface Model {
  rows: Map<string, { row: Row; deleted: boolean }>;
  rejected: Set<string>;
  prepared: string[];
  /** What the first answer to each field was. */
  types: Map<string, 'number' | 'text' | 'json'>;
}

type Step =
  | { kind: 'prepare'; fields: string[]; label: string }
  | {
      kind: 'apply';
      rows: { id: string; status: string; cells: [string, Cell][] }[];
      bad: string[];
    }
  | { kind: 'delete'; ids: string[] }
  | { kind: 'status'; ids: string[]; status: string }
  | { kind: 'reopen' };

const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
  fc.tuple(fc.bigInt(), fc.nat(999_999_999)).map(([whole, part]) => `${whole}.${part}`),
);
const cell: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 3, arbitrary: number.map((value) => parseNumber(String(value)) ?? 0) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom(null, '') },
  {
    weight: 1,
    arbitrary: fc.jsonValue({ maxDepth: 2 }).map((value) => toCell([value as Json])),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Cell>(
      new ExactNumber('9'.repeat(400)),
      new ExactNumber(`-0.${'0'.repeat(400)}1`),
      new JsonText('["\\u0000"]'),
      new JsonText('["\\ud800"]'),
      new JsonText('{"b":1e+21,"a":12345678901234567890.5}'),
      '[1]',
      '12',
    ),
  },
);
const someIds = fc.subarray(IDS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('prepare' as const),
      fields: fc.subarray(FIELDS, { minLength: 1 }),
      label: fc.constantFrom('Name', 'name', 'Status', 'x'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('apply' as const),
      rows: fc.uniqueArray(
        fc.record({
          id: fc.constantFrom(...IDS),
          status: fc.constantFrom('NEW', 'PAID'),
          cells: fc.array(fc.tuple(fc.constantFrom(...FIELDS), cell), { maxLength: 4 }),
        }),
        { selector: ({ id }) => id },
      ),
      bad: someIds,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), ids: someIds }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('status' as const),
      ids: someIds,
      status: fc.constantFrom('DONE', 'NEW'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
);

/** What a row holds, as far as its columns tell it apart: a column of texts holds numbers and JSON as texts. */
const told = ({ types }: Model, { status, cells }: Row): string =>
  JSON.stringify([
    status,
    ...FIELDS.map((id) => {
      const cell = cells.get(id) ?? null;
      const type = types.get(id) ?? 'text';
      const isOwn = type === 'json' ? cell instanceof JsonText : typeof cell !== 'string';
      return [
        type !== 'text' && isOwn && !(type === 'number' && cell instanceof JsonText),
        cellText(cell),
      ];
    }),
  ]);

/** Random histories against the model. */
export function describeSqlModel(stage: QueriedStage): void {
  describe('any history', () => {
    it('L1, L4, L8, L9, L10: leaves exactly what was written', async () => {
      let form = 0;
      const histories = fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
          form += 1;
          await play(stage, `form_${form}`, steps);
        }),
        propertyRuns(40),
      );
      await expect(histories).resolves.toBeUndefined();
    });
  });
}

async function play(stage: QueriedStage, formId: string, steps: readonly Step[]): Promise<void> {
  const identity = { id: formId, slug: 'model', name: 'Model' };
  const model: Model = {
    rows: new Map(),
    rejected: new Set(),
    prepared: [],
    types: new Map(),
  };
  let writer = await stage.target.openWriter(identity, AT_ONCE);
  try {
    for (const one of steps) {
      if (one.kind === 'reopen') {
        await writer[Symbol.asyncDispose]();
        writer = await stage.target.openWriter(identity, AT_ONCE);
        await prepare(writer, model, model.prepared, 'again');
      } else {
        await act(writer, model, one);
      }
    }
    await compare(writer, model);
  } finally {
    await writer[Symbol.asyncDispose]();
  }
}

async function prepare(writer: FormWriter, model: Model, ids: string[], label: string) {
  model.prepared = ids;
  await writer.prepare(fieldList(...ids.map((id) => field(id, `${label} ${id.slice(2)}`))));
}

async function act(
  writer: FormWriter,
  model: Model,
  one: Exclude<Step, { kind: 'reopen' }>,
): Promise<void> {
  switch (one.kind) {
    case 'prepare':
      return prepare(writer, model, one.fields, one.label);
    case 'apply':
      return apply(writer, model, one);
    case 'delete': {
      const live = one.ids
        .map((id) => model.rows.get(id))
        .filter((held) => held?.deleted === false);
      expect(await writer.markDeleted(one.ids, TIME)).toBe(live.length);
      for (const held of live) if (held !== undefined) held.deleted = true;
      return undefined;
    }
    case 'status': {
      await writer.setStatuses(new Map(one.ids.map((id) => [id, one.status])));
      for (const id of one.ids) {
        const held = model.rows.get(id);
        if (held !== undefined) held.row = { ...held.row, status: one.status };
      }
      return undefined;
    }
  }
}

async function apply(
  writer: FormWriter,
  model: Model,
  batch: Extract<Step, { kind: 'apply' }>,
): Promise<void> {
  const rows = batch.rows.map(({ id, status, cells }) =>
    row(id, {}, { status, cells: new Map(cells) }),
  );
  const rejections = batch.bad.map((submissionId) => ({
    submissionId,
    reason: 'odd',
    stored: true,
  }));
  for (const id of model.prepared) decideType(model, id, rows);
  const expected = rows.map((one) => take(model, one));
  const result = await writer.apply(rows, rejections);
  expect(result.outcomes).toEqual(expected);
  expect(result.newlyListed).toEqual(new Set(batch.bad.filter((id) => !model.rejected.has(id))));
  for (const { id } of rows) model.rejected.delete(id);
  for (const id of batch.bad) model.rejected.add(id);
  const again = await writer.apply(rows, rejections);
  expect(again.outcomes).toEqual(rows.map(() => 'unchanged'));
}

/** The first answer decides; in a column of numbers or JSON a blank is no answer from then on. */
function decideType(model: Model, field: string, rows: readonly Row[]): void {
  const first = rows
    .map(({ cells }) => cells.get(field) ?? null)
    .find((one) => one !== null && one !== '');
  if (first === undefined || first === null || model.types.has(field)) return;
  const type = typeof first === 'string' ? 'text' : 'number';
  model.types.set(field, first instanceof JsonText ? 'json' : type);
  if (model.types.get(field) === 'text') return;
  for (const held of model.rows.values()) {
    if (held.row.cells.get(field) !== '') continue;
    const cells = new Map(held.row.cells).set(field, null);
    held.row = { ...held.row, cells };
  }
}

function take(model: Model, now: Row): RowOutcome {
  const held = model.rows.get(now.id);
  const cells = new Map(held?.row.cells);
  for (const id of model.prepared) {
    const cell = now.cells.get(id) ?? null;
    const isText = (model.types.get(id) ?? 'text') === 'text';
    cells.set(id, cell === '' && !isText ? null : cell);
  }
  model.rows.set(now.id, { row: { ...now, cells }, deleted: false });
  if (held === undefined) return 'inserted';
  if (held.deleted) return 'restored';
  return told(model, { ...now, cells }) === told(model, held.row) ? 'unchanged' : 'updated';
}

async function compare(writer: FormWriter, model: Model): Promise<void> {
  const stored = await writer.rows(IDS);
  expect(new Set(stored.keys())).toEqual(new Set(model.rows.keys()));
  for (const [id, { row: one, deleted }] of model.rows) {
    const found = stored.get(id);
    expect([id, found?.status, found?.deletedAt !== null]).toEqual([id, one.status, deleted]);
    for (const field of FIELDS) {
      const [wanted, read] = [one.cells.get(field) ?? null, found?.cells.get(field) ?? null];
      const isSame = sameCell(wanted, read) && (wanted === null) === (read === null);
      expect([id, field, wanted, isSame ? wanted : read]).toEqual([id, field, wanted, wanted]);
      if (typeof wanted === 'number' && model.types.get(field) === 'number')
        expect(read).toBe(wanted);
    }
  }
  const live = [...model.rows.values()].filter((held) => !held.deleted).map((held) => held.row.id);
  expect(await sorted(writer.liveIds())).toEqual(live.sort());
  const sound = live.filter((id) => !model.rejected.has(id));
  expect([...(await writer.confirm(IDS))].sort()).toEqual(sound.sort());
  expect((await writer.rejections(100)).total).toBe(model.rejected.size);
  expect(await writer.losses()).toEqual([]);
}
