import { type Point, see } from './points.ts';
import type { TriedDataset } from './tried-dataset.ts';

/** How parameters and numbers come and go. */
export function queryPoints({ jobs }: TriedDataset): Point[] {
  return [
    {
      says: 'A query takes texts, lists, times, JSON and NULL as named parameters, and gives them back unchanged.',
      look: async () => {
        const text = 'Ærø "quoted" \'single\' \\ back\nline 👩‍👩‍👧';
        const { rows } = await jobs.run(
          `SELECT @text AS text, @none AS none, TO_JSON_STRING(@list) AS list, @sent AS sent, JSON_VALUE(@json, '$.a') AS a`,
          {
            text: { type: 'STRING', value: text },
            none: { type: 'STRING', value: null },
            list: { type: 'STRING', value: ['x', 'y'] },
            sent: { type: 'TIMESTAMP', value: '2026-01-02T03:04:05.678901Z' },
            json: { type: 'JSON', value: '{"a":"b"}' },
          },
        );
        const [row] = rows;
        see(row?.['text'] === text, 'The text came back changed.');
        see(
          row?.['none'] === null && row['list'] === '["x","y"]' && row['a'] === 'b',
          'Others came back changed.',
        );
        see(row?.['sent'] === '2026-01-02T03:04:05.678901Z', 'The time came back otherwise.');
        return undefined;
      },
    },
    {
      says: 'NUMERIC holds 29 digits before and 9 after the point exactly, and SAFE_CAST makes NULL of more.',
      look: async () => {
        const exact = '99999999999999999999999999999.999999999';
        const { rows } = await jobs.run(
          `SELECT CAST(SAFE_CAST(@exact AS NUMERIC) AS STRING) AS exact, CAST(SAFE_CAST(@beyond AS NUMERIC) AS STRING) AS beyond`,
          {
            exact: { type: 'STRING', value: exact },
            beyond: { type: 'STRING', value: '123456789012345678901234567890' },
          },
        );
        see(rows[0]?.['exact'] === exact, 'It is rounded.');
        see(rows[0]?.['beyond'] === null, 'More than that is no NULL.');
        return undefined;
      },
    },
    {
      says: 'PARSE_JSON that rounds takes a fraction that it writes with other digits, as the same number.',
      look: async () => {
        const value = '[0.55587577846274]';
        const { rows } = await jobs.run(
          `SELECT TO_JSON_STRING(PARSE_JSON(@json, wide_number_mode => 'round')) AS json`,
          { json: { type: 'STRING', value } },
        );
        const text = rows[0]?.['json'] ?? 'null';
        see(JSON.stringify(JSON.parse(text)) === value, `It is ${text}.`);
        return undefined;
      },
    },
  ];
}
