import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCell } from '../../src/mirror/cell.ts';
import { decimalText } from '../../src/mirror/numbers.ts';
import { type Cell, ExactNumber, type Json, JsonText, type Row } from '../../src/mirror/types.ts';
import { propertyRuns } from '../support/property.ts';
import { sqlOf } from './sql-by-hand.ts';
import type { SqlStage } from './sql-target.ts';
import { CHECKPOINT, field, pass, row } from './target-harness.ts';

/** More fields than any product gives columns of their own. */
const FIELDS = 2_000;

const json = (text: string): JsonText => new JsonText(text);

/** Answers to one question: the first one decides what its column holds. */
const questionsFor = (product: string): Readonly<Record<string, readonly Cell[]>> => ({
  numbers: [5, 0.1, 1e21, 1e-7, -0, 'two', '12', '', ' ', json('[1]'), json('{"a":1}')],
  texts: ['x', 5, 0.1, new ExactNumber('12345678901234567890.5'), '12', '2024-02-29T10:15Z'],
  notes: ['[1,2]', '{"a":1}', 'null', 'true', '"x"', 'a\n"b"\\', json('["x"]'), '', 'é😀'],
  lists: [
    json('["red","blue"]'),
    json('[1,2,3]'),
    json('[true,false,null,"",1.5]'),
    json('["a\\n","\\"","\\\\","\\\\ud83d","\\u0001","/","\\\\\\\\u0000"]'),
    json('[]'),
    json('[[]]'),
    json('[[1,["x",{}]],{"id":7,"label":"[x]"}]'),
    json('[1e+400,-0.5e-7]'),
    json('["half \\ud83d"]'),
    json('["half \\\\\\ud83d","x"]'),
    json('["\\u0000"]'),
    json('{"a":["x"]}'),
    json('{"half":"\\udc00"}'),
    json('["2024-02-29",7]'),
    7,
    1e21,
    '7',
    'plain',
    'null',
    '[no list',
    '[1,]',
    '[01]',
    '[1 2]',
    '["a" "b"]',
    '["a""b"]',
    '["a"]"',
    '["a\nb"]',
    '[1][2]',
    '[1]]',
    '[[1]',
    '[nulll]',
    '[--1]',
    '["a":1]',
    '{"a"}',
    // MariaDB takes these for JSON. None of them comes from the source as a list.
    ...(product === 'MySQL or MariaDB' ? [] : ['["a\\x"]', '[1.]']),
  ],
});
const QUESTIONS = Object.keys(questionsFor(''));

/** What JSON is made of, and what looks like it. */
const TOKENS = [
  ...String.raw`[ ] [] { } , : " "" "a" "a": \ \n \u0000 \ud83d \u00e9 \u0041 / null true nul é 😀`.split(
    ' ',
  ),
  ...'0 1 - . 1.5 e E + 1e400 1e9999 1e99999 -0.5E-3'.split(' '),
  '9'.repeat(250),
  `0.${'9'.repeat(250)}`,
  ...'\n|\t|\u0001| |\u00a0'.split('|'),
];
const likeLists = fc
  .tuple(
    fc.array(fc.constantFrom(...TOKENS), { maxLength: 6 }),
    fc.constantFrom(['[', ']'], ['["', '"]'], ['[{"a":', '}]'], ['[[[', ']]]'], ['[', '']),
  )
  .map(([tokens, [before, after]]) => `${before}${tokens.join('')}${after}`);
const someLists = fc
  .array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 4 })
  .map((list) => toCell(list as Json));

/** What products write otherwise: spaces in JSON, and exponents. */
function comparable(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const isShort = /^-?[\d.]+e[+-]?\d+$/.test(value) && Number.isFinite(Number(value));
  return isShort ? decimalText(Number(value)) : value.replaceAll(/([:,]) /g, '$1');
}

/** That an answer looks the same in `answers` wherever it is stored. */
export function describeSqlViewPlaces(stage: SqlStage): void {
  const sql = sqlOf(stage);

  /** Rows with these answers to a question with a column of its own, and to one without. */
  async function store(questions: Readonly<Record<string, readonly Cell[]>>): Promise<void> {
    const names = Object.keys(questions);
    const fields = Array.from({ length: FIELDS }, (_, nth) => {
      const own = names[nth];
      const more = names[FIELDS - 1 - nth];
      const id = own === undefined ? (more === undefined ? `f${nth}` : `${more}_more`) : own;
      return field(id, `Q ${nth}`);
    });
    const rows = names.flatMap((name): Row[] =>
      (questions[name] ?? []).map((cell, nth) =>
        row(`${name}_${String(nth).padStart(6, '0')}`, { [name]: cell, [`${name}_more`]: cell }),
      ),
    );
    await stage.write(async (writer) => {
      await writer.prepare(fields);
      await writer.apply(rows, []);
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    });
  }
  const shown = async (where: string): Promise<unknown[][]> => {
    const rows = await sql(
      `SELECT submission_id AS s, CAST(value_index AS text) AS i, value_text AS t, CAST(value_number AS text) AS n, CAST(value_date AS text) AS d
       FROM {answers} WHERE ${where} ORDER BY submission_id, value_index`,
    );
    return rows.map(({ s, i, t, n, d }) => [s, i, comparable(t), n, d]);
  };

  describe('an answer in the view over all forms', () => {
    it.for(QUESTIONS)(
      'is the same in a column of its own and in the overflow column: %s',
      async (name) => {
        await store({ [name]: questionsFor(stage.place.product)[name] ?? [] });
        const own = await shown(`field_id = '${name}'`);
        expect(own.length).toBeGreaterThan(4);
        expect(await shown(`field_id = '${name}_more'`)).toEqual(own);
      },
    );

    it('is the same in both whatever the choices are', async () => {
      await store({ lists: [json('["x"]'), ...fc.sample(someLists, propertyRuns(200))] });
      const own = await shown("field_id = 'lists'");
      expect(await shown("field_id = 'lists_more'")).toEqual(own);
    });

    it('never fails a query, whatever text stands where lists do', async () => {
      const texts = [...new Set(fc.sample(likeLists, propertyRuns(1_000)))];
      await store({ lists: [json('["x"]'), ...texts] });
      expect(await shown("field_id = 'lists'")).toHaveLength(texts.length + 1);
      const inMore = await shown("field_id = 'lists_more'");
      expect(inMore.length).toBeGreaterThan(texts.length / 2);
    });

    it('is a number where its field is one of numbers, and among choices', async () => {
      await store({
        numbers: [5, '12'],
        texts: ['x', 5],
        lists: [json('[1,"2"]'), 7],
      });
      const expected = [
        ['lists_000000', '1', '1', '1', null],
        ['lists_000000', '2', '2', null, null],
        ['lists_000001', '1', '7', null, null],
        ['numbers_000000', '1', '5', '5', null],
        ['numbers_000001', '1', '12', null, null],
        ['texts_000000', '1', 'x', null, null],
        ['texts_000001', '1', '5', null, null],
      ];
      expect(await shown("field_id NOT LIKE '%more'")).toEqual(expected);
      expect(await shown("field_id LIKE '%more'")).toEqual(expected);
    });

    it('is the whole list where a choice has half a character, which no text can hold', async () => {
      const lists = [json('["half \\ud83d","x"]'), json('["a","\\\\ud83d"]')];
      await store({ lists });
      const expected = [
        ['lists_000000', '1', '["half \\ud83d","x"]', null, null],
        ['lists_000001', '1', 'a', null, null],
        ['lists_000001', '2', '\\ud83d', null, null],
      ];
      expect(await shown("field_id = 'lists'")).toEqual(expected);
      expect(await shown("field_id = 'lists_more'")).toEqual(expected);
    });
  });
}
