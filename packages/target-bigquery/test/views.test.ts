import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JsonText, type SelectedField, type Row } from '../../../src/mirror/types.ts';
import type { OpenForm } from '../../../src/mirror/port.ts';
import {
  AGE,
  claimed,
  clock,
  formOf,
  freshnessAfterPolls,
  NAME,
  row,
} from '../../../test/core/store-fixtures.ts';
import { ask, newPlace, stopEmulator, storeAt } from './place.ts';

let place: { dataset: string; url: string };
beforeAll(async () => {
  place = await newPlace();
});
afterAll(stopEmulator);

const query = (sql: string): Promise<Record<string, unknown>[]> => ask(place.dataset, sql);

async function write(
  slug: string,
  work: (form: OpenForm) => Promise<unknown>,
  fields: readonly SelectedField[] = [NAME, AGE],
): Promise<void> {
  await using store = await storeAt(place.url, clock, 'full');
  const form = formOf(slug, fields);
  await using open = await store.open(form, 'write');
  await open.prepare(form, fields);
  await work(open);
  expect(await open.finish()).toEqual([]);
}
const rowsOf =
  (...rows: readonly Row[]) =>
  (form: OpenForm) =>
    form.commit({ rows });

describe('the views in BigQuery', () => {
  it('show choices, dates and versions', async () => {
    for (const list of ['["x"]', '["x","2024-02-29T10:30Z",7,null]'])
      await write('choices', rowsOf(row('a', { f_name: new JsonText(list), f_age: 0.1 })));
    expect(
      await query(
        `SELECT label, value_index, value_text, value_number FROM answers WHERE slug = 'choices' ORDER BY 1, 2`,
      ),
    ).toEqual([
      { label: 'Age', value_index: '1', value_text: '0.1', value_number: 0.1 },
      {
        label: 'Full name',
        value_index: '1',
        value_text: 'x',
        value_number: null,
      },
      {
        label: 'Full name',
        value_index: '2',
        value_text: '2024-02-29T10:30Z',
        value_number: null,
      },
      { label: 'Full name', value_index: '3', value_text: '7', value_number: 7 },
    ]);
    expect(
      await query(
        'SELECT full_name, age, _valid_to IS NULL AS now FROM choices_history ORDER BY _valid_from',
      ),
    ).toEqual([
      { full_name: '["x"]', age: 0.1, now: '0' },
      { full_name: '["x","2024-02-29T10:30Z",7,null]', age: 0.1, now: '1' },
    ]);
    await write('choices', rowsOf(row('a', { f_name: new JsonText('["x"]') }, 'DONE')));
    expect(
      await query(
        `SELECT status, not_before IS NULL AS n FROM mirror_status_history WHERE form_id = 'form_choices' ORDER BY seen_at`,
      ),
    ).toEqual([
      { status: 'NEW', n: '1' },
      { status: 'DONE', n: '1' },
    ]);
  });

  it('list forms, fields and labels, with names that BigQuery takes', async () => {
    await write('listed', rowsOf(row('a', { f_name: 'x' })));
    const labels = ['Näme (of all)?', 'Näme: of all'] as const;
    await write('listed', rowsOf(row('a', { f_name: 'x', f_age: 'old' })), [
      { ...NAME, label: labels[0] },
      { ...AGE, label: labels[1] },
    ]);
    expect(
      await query(
        `SELECT slug, table_name, view_name, gone_at FROM mirror_forms WHERE slug = 'listed'`,
      ),
    ).toEqual([
      { slug: 'listed', table_name: 'listed', view_name: 'listed_labelled', gone_at: null },
    ]);
    expect(
      await query(
        `SELECT column_name, label, position, type, is_in_form FROM mirror_fields WHERE form_id = 'form_listed' ORDER BY position`,
      ),
    ).toEqual([
      { column_name: 'full_name', label: labels[0], position: '0', type: 'text', is_in_form: '1' },
      {
        column_name: 'name_of_all',
        label: labels[1],
        position: '1',
        type: 'text',
        is_in_form: '1',
      },
    ]);
    expect(
      await query(
        `SELECT label, valid_from < valid_to AS ended FROM mirror_label_history WHERE field_id = 'f_name' AND form_id = 'form_listed' ORDER BY valid_from`,
      ),
    ).toEqual([
      { label: 'Full name', ended: '1' },
      { label: labels[0], ended: null },
    ]);
    expect(await query('SELECT Name_of_all, Name_of_all_2 FROM listed_labelled')).toEqual([
      { Name_of_all: 'x', Name_of_all_2: 'old' },
    ]);
  });

  it('L17: show times that polls that agree move, and the rows of statuses of any name', async () => {
    const rows = ['NEW', 'a":5,"b', 'c\\'].map((status, at) => row(`r${at}`, {}, status));
    await write('polled', (form) => form.commit({ rows, state: claimed }));
    expect(await query("SELECT `rows` FROM freshness WHERE form = 'polled'")).toEqual([
      { rows: '3' },
    ]);
    const open = () => storeAt(place.url, clock);
    const { shown, expected } = await freshnessAfterPolls(open, 'form_polled', async () => {
      const [found] = await query(
        "SELECT submissions_as_of AS a, statuses_as_of AS b FROM freshness WHERE form = 'polled'",
      );
      return [Date.parse(String(found?.['a'])), Date.parse(String(found?.['b']))];
    });
    expect(shown).toEqual(expected);
  });
});
