import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalText, parseNumber } from '../../../src/mirror/numbers.ts';
import { type Cell, ExactNumber, JsonText } from '../../../src/mirror/types.ts';
import {
  cellKey,
  LIMITS,
  nearestNumeric,
  storedCell,
} from '../../../src/targets/sql/bigquery/answer-values.ts';
import { rowBytes, splitBatch } from '../../../src/targets/sql/bigquery/batch-pieces.ts';
import {
  type FormState,
  newFormState,
  type StateField,
  stateFrom,
  stateText,
} from '../../../src/targets/sql/bigquery/form-state.ts';
import {
  isInMonths,
  isOutsideMonths,
  monthOf,
  monthsOf,
  NO_MONTH,
} from '../../../src/targets/sql/bigquery/partitions.ts';
import { RowHasher, withHashSet } from '../../../src/targets/sql/bigquery/row-hash.ts';
import type { HeldTable } from '../../../src/targets/sql/bigquery/bigquery-tables.ts';
import type { Store } from '../../../src/targets/sql/bigquery/store.ts';
import { formTable } from '../../../src/targets/sql/bigquery/table-columns.ts';
import { columnNames, heldForm } from '../../../src/targets/sql/bigquery/table-reads.ts';
import { withViewNames } from '../../../src/targets/sql/bigquery/view-texts.ts';
import { newField } from '../../../src/targets/sql/as-stored.ts';
import { uncutForm, unreadWindow } from '../../../src/mirror/window.ts';
import { CHECKPOINT, pass, row } from '../../contract/target-harness.ts';
import { propertyRuns } from '../../support/property.ts';

/** What a condition on dates says of a date, by its text. */
function holds(condition: string, date: string | null): boolean {
  const script = condition
    .replaceAll(/TIMESTAMP '([^']+)\+00'/g, (_all, time: string) => String(timeMs(time)))
    .replaceAll('c IS NOT NULL', '(c !== null)')
    .replaceAll('c IS NULL', '(c === null)')
    .replaceAll(/c (>=|<) (-?\d+)/g, '(c !== null && c $1 $2)')
    .replaceAll(' AND ', ' && ')
    .replaceAll(' OR ', ' || ')
    .replaceAll('NOT ', '!')
    .replaceAll('TRUE', 'true')
    .replaceAll('FALSE', 'false');
  // The very condition that is sent, in another language: what is tried is its text, not a second version of it.
  // oxlint-disable-next-line no-implied-eval, typescript/no-unsafe-call
  return Boolean(new Function('c', `return ${script};`)(date === null ? null : Date.parse(date)));
}

const timeMs = (time: string): number => Date.parse(`${time.replace(' ', 'T')}Z`);

const date = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
  .map((one) => one.toISOString());
const near = fc
  .tuple(fc.constantFrom(2025, 2026), fc.integer({ min: 0, max: 11 }), fc.nat(2_700_000_000))
  .map(([year, month, ms]) => new Date(Date.UTC(year, month) + ms).toISOString());
const someDate = fc.oneof(near, date, fc.constant(null));

describe('partitions', () => {
  it('are named so that a row is in them or outside of them, whatever its date', () => {
    fc.assert(
      fc.property(fc.array(someDate, { maxLength: 6 }), someDate, (dates, one) => {
        const months = new Set(dates.map(monthOf));
        const isIn = months.has(monthOf(one));
        expect(holds(isInMonths(months, 'c'), one)).toBe(isIn);
        expect(holds(isOutsideMonths(months, 'c'), one)).toBe(!isIn);
      }),
      propertyRuns(300),
    );
  });

  it('that follow each other are one span, the last month of all included', () => {
    const months = new Set(['2025-11', '2025-12', '2026-01', '2026-03', '9999-12', NO_MONTH]);
    expect(isInMonths(months, 'c')).toBe(
      "((c >= TIMESTAMP '2025-11-01 00:00:00+00' AND c < TIMESTAMP '2026-02-01 00:00:00+00')" +
        " OR (c >= TIMESTAMP '2026-03-01 00:00:00+00' AND c < TIMESTAMP '2026-04-01 00:00:00+00')" +
        " OR (c >= TIMESTAMP '9999-12-01 00:00:00+00') OR c IS NULL)",
    );
  });
});

const number = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 40n }), fc.nat(25))
  .map(([minus, digits, places]) => {
    const text = String(digits).padStart(places + 1, '0');
    const whole = `${text.slice(0, text.length - places)}${places === 0 ? '' : `.${text.slice(text.length - places)}`}`;
    return parseNumber(`${minus ? '-' : ''}${whole}`) ?? 0;
  });

describe('numbers in a NUMERIC', () => {
  it('L10: are the same where they fit, and the nearest where they do not', () => {
    fc.assert(
      fc.property(number, (one) => {
        const stored = parseNumber(nearestNumeric(one)) ?? 0;
        expect(LIMITS.fitsNumberColumn(stored)).toBe(true);
        const isSame = decimalText(stored) === decimalText(one);
        const [a, b] = [Number(decimalText(stored)), Number(decimalText(one))];
        const isLargest = /^-?9{29}$/.test(decimalText(stored)) && Math.abs(b) >= 9.9e28;
        const isNear = isLargest || Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b));
        expect(LIMITS.fitsNumberColumn(one) ? isSame : isNear).toBe(true);
      }),
      propertyRuns(500),
    );
  });

  it.each([
    ['0.0000000005', '0.000000001'],
    ['-0.0000000004', '0'],
    ['0.9999999999', '1'],
    [`${'9'.repeat(29)}.9999999999`, '9'.repeat(29)],
    [`-${'1'.repeat(30)}`, `-${'9'.repeat(29)}`],
  ])('%s is %s', (digits, expected) => {
    expect(nearestNumeric(new ExactNumber(digits))).toBe(expected);
  });
});

const cell: fc.Arbitrary<Cell> = fc.oneof(
  fc.constantFrom<Cell>(null, '', '5', 5, 'x', new ExactNumber('0.12345678901')),
  fc.constantFrom<Cell>(
    new JsonText('{"b":1,"a":[1.5]}'),
    new JsonText('{"a":[1.5],"b":1}'),
    new JsonText('[12345678901234567890.5]'),
    new JsonText('["\\ud800"]'),
  ),
  number,
);
const type = fc.constantFrom('number', 'text', 'json', null);

describe('answers as they are compared', () => {
  it('L4: have the key of what is read back of them', () => {
    fc.assert(
      fc.property(type, cell, (of, one) => {
        // Without a type nothing but blanks was met.
        if (of === null && one !== null && one !== '') return;
        expect(cellKey(of, storedCell(of, one))).toBe(cellKey(of, one));
      }),
      propertyRuns(500),
    );
  });
});

const fieldAt = (ordinal: number): StateField => ({
  ...newField(`f${ordinal}`),
  ordinal,
  column: `c${ordinal}`,
  type: 'text',
  firstSeenAt: '2026-01-01T00:00:00.000Z',
  isEmptied: false,
});

describe('hashes of rows', () => {
  it('never take a row for the same that differs, nor for another that does not, whatever fields are written when', () => {
    const answers = fc.array(fc.constantFrom(null, 'x', 'y'), { minLength: 4, maxLength: 4 });
    const step = fc.record({ fields: fc.subarray([0, 1, 2, 3], { minLength: 1 }), answers });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        let [sets, next, count]: [ReturnType<typeof withHashSet>, number, number] = [[], 1, 0];
        let stored: (string | null)[] = [];
        let hash: string | null = null;
        const verdicts: [said: string, is: string][] = [];
        for (const one of steps) {
          count = Math.max(count, ...one.fields.map((at) => at + 1));
          const fields = one.fields.map(fieldAt);
          const after = withHashSet(sets, fields, count, next);
          if (after !== sets) next += 1;
          sets = after;
          const hasher = new RowHasher(sets, fields);
          const come = {
            id: 'a',
            status: 'NEW',
            createdAt: null,
            cells: one.fields.map((at) => one.answers[at] ?? null),
          };
          const isSame = one.fields.every(
            (at) => (stored[at] ?? null) === (one.answers[at] ?? null),
          );
          const verdict = hash === null ? 'unknown' : hasher.judge(come, hash);
          verdicts.push([verdict, isSame ? 'same' : 'differs']);
          if (verdict === 'same') continue;
          stored = stored.slice();
          for (const at of one.fields) stored[at] = one.answers[at] ?? null;
          hash = hasher.hashOf(come);
        }
        expect(verdicts.filter(([said, is]) => said !== 'unknown' && said !== is)).toEqual([]);
      }),
      propertyRuns(500),
    );
  });

  it('know a row at once where the same fields are written', () => {
    const fields = [fieldAt(0)];
    const hasher = new RowHasher(withHashSet([], fields, 1, 1), fields);
    const one = { id: 'a', status: 'NEW', createdAt: null, cells: ['x'] };
    expect(hasher.judge(one, hasher.hashOf(one))).toBe('same');
    expect(hasher.judge({ ...one, cells: ['y'] }, hasher.hashOf(one))).toBe('differs');
    expect(hasher.judge(one, null)).toBe('unknown');
  });
});

describe('what stands under the name of a form', () => {
  const table: HeldTable = {
    ...formTable('contact', newFormState('', '')),
    changedAt: '',
    rows: 1,
    isForeign: false,
  };

  it('is its table, but no snapshot of it, no external table, and no view', () => {
    expect(columnNames(table)).toContain('_changed_at');
    expect(columnNames({ ...table, isForeign: true })).toBeUndefined();
    expect(columnNames({ ...table, kind: 'view' })).toBeUndefined();
    const store = { relation: (name: string) => name } as Store;
    const state = { ...newFormState('', ''), table: 'contact' };
    expect(heldForm(store, state, table)).toMatchObject({ table: 'contact' });
    expect(heldForm(store, state, { ...table, isForeign: true })).toBeUndefined();
  });
});

describe('the state of a form', () => {
  const full: FormState = {
    ...newFormState('contact', 'Contact "form"'),
    table: 'contact',
    view: 'contact_labelled',
    fields: [fieldAt(0), { ...fieldAt(1), textColumn: 'c1_text', type: 'number' }],
    labels: [{ fieldId: 'f0', label: 'Žluťoučký', from: CHECKPOINT.provenAt, to: null }],
    checkpoint: CHECKPOINT,
    windows: [
      unreadWindow({ from: null, to: CHECKPOINT.provenAt }, 3),
      uncutForm(4, CHECKPOINT.provenAt),
    ],
    marking: { since: CHECKPOINT.provenAt, code: null, error: null, refused: 2 },
    losses: [
      { what: 'records', name: 'x' },
      { what: 'rows', missing: 2 },
    ],
    months: ['', '2026-03'],
    passes: {
      number: 2,
      last: pass({ billedBytes: 10, statements: 1 }),
      lastOk: pass(),
      lastFull: null,
      hasReadAll: true,
    },
    history: { table: 'contact_history', isOpen: true },
    views: { live: 'contact_live abc' },
  };

  it('is the same after it was kept', () => {
    expect(stateFrom(stateText(full))).toEqual(full);
    const empty = newFormState('a', 'b');
    expect(stateFrom(stateText(empty))).toEqual(empty);
  });

  it('is nothing of a text that we did not write', () => {
    for (const text of [null, '', '{}', '[]', 'x', stateText(full).slice(0, -3)])
      expect(stateFrom(text)).toBeUndefined();
  });

  it('is kept where a pass has a code that is none of ours', () => {
    const text = stateText(full).replace('"code":null', '"code":"TARGET_MELTED"');
    expect(stateFrom(text)?.table).toBe('contact');
  });
});

describe('batches', () => {
  it('are cut where they are too large for a request, and lose nothing', () => {
    const large = 'x'.repeat(1_500_000);
    const rows = ['a', 'b', 'c', 'd', 'e'].map((id) => row(id, { f: large }));
    const rejections = ['e', 'a', 'other'].map((submissionId) => {
      return { submissionId, reason: 'is odd', stored: true };
    });
    const pieces = splitBatch(rows, rejections);
    expect(pieces.length).toBe(3);
    expect(pieces.flatMap((piece) => piece.rows)).toEqual(rows);
    expect(pieces.map((piece) => piece.rejections.map((one) => one.submissionId))).toEqual([
      ['a', 'other'],
      [],
      ['e'],
    ]);
  });

  it('is counted as it is sent, where every character is escaped twice', () => {
    const texts = ['"', '\\', '\n', '\u001B', '\u007F', '😀', 'é'].map((one) =>
      one.repeat(300_000),
    );
    for (const [at, text] of texts.entries()) {
      const cell = at % 2 === 0 ? text : new JsonText(text);
      expect(rowBytes([cell])).toBeGreaterThanOrEqual(JSON.stringify(JSON.stringify(text)).length);
      const rows = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => row(id, { f: cell }));
      for (const piece of splitBatch(rows, [])) {
        const body = JSON.stringify(JSON.stringify(piece.rows.map(() => ({ v: [text] }))));
        expect(Buffer.byteLength(body)).toBeLessThan(4_010_000);
      }
    }
  });

  it('has no more months than one job may change, both of where a row was and where it is', () => {
    const rows = Array.from({ length: 4_500 }, (_, at) => {
      const month = String((at % 12) + 1).padStart(2, '0');
      return row(
        `r${at}`,
        {},
        { createdAt: `${1_000 + Math.floor(at / 12)}-${month}-02T00:00:00.000Z` },
      );
    });
    const pieces = splitBatch(rows, []);
    expect(pieces.flatMap((piece) => piece.rows)).toEqual(rows);
    expect(Math.max(...pieces.map((piece) => monthsOf(piece.rows).size))).toBeLessThan(2_000);
    expect(splitBatch(rows.slice(0, 1_000).concat(rows.slice(0, 1_000)), [])).toHaveLength(1);
  });
});

describe('names in the view with labels', () => {
  it('are ones that BigQuery takes, each once, whatever the labels are', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('Age', 'age', 'Age 2', '')),
          {
            maxLength: 8,
          },
        ),
        (labels) => {
          const fields = withViewNames(
            labels.map((label, at) => ({
              ...fieldAt(at),
              label,
              textColumn: at === 1 ? 'x' : null,
            })),
          );
          const names = fields
            .flatMap(({ viewLabel, textViewLabel }) => [viewLabel, textViewLabel])
            .filter((name) => name !== null);
          for (const name of names) expect(name).toMatch(/^[A-Za-z_]\w{0,299}$/);
          expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
        },
      ),
      propertyRuns(300),
    );
  });
});
