import { ExactNumber, JsonText } from '../../src/mirror/types.ts';
import { newField } from '../../src/targets/sql/as-stored.ts';
import { fingerprintOf } from '../../src/targets/sql/bigquery/row-fingerprint.ts';
import { insertRows, writtenParts } from '../../src/targets/sql/bigquery/row-statements.ts';
import { relationsOf } from '../../src/targets/sql/bigquery/sql-text.ts';
import { answerColumns, OWN_COLUMNS } from '../../src/targets/sql/bigquery/table-columns.ts';
import { type Point, see } from './points.ts';
import type { TriedDataset } from './tried-dataset.ts';

/** By what is seen that people changed an answer. */
export const fingerprintPoint = ({
  jobs,
  prefix,
}: Pick<TriedDataset, 'jobs' | 'prefix'>): Point => ({
  says: 'What a row holds has the fingerprint that a MERGE made as it stored it: texts, numbers and JSON.',
  look: async () => {
    const name = `${prefix}answers`;
    const at = '2026-01-15T12:00:00.000Z';
    const fields = (['text', 'number', 'json'] as const).map((type, ordinal) => {
      return Object.assign(newField(type), { type, column: `a_${type}`, ordinal });
    });
    await jobs.createTable({
      name,
      kind: 'table',
      description: '',
      partitionedBy: 'created_at',
      columns: [...OWN_COLUMNS, ...answerColumns(fields)],
    });
    const relation = relationsOf(jobs)(name);
    const cells = [
      'Ærø "quoted" \\ back\nline 👩‍👩‍👧',
      new ExactNumber('12345678901234567890.125'),
      new JsonText('{"b":[1.5,"x",null],"a":1e3}'),
    ];
    const rows = ['whole', 'empty'].map((id) => {
      const held = id === 'whole' ? cells : [null, null, null];
      return { row: { id, status: '', createdAt: at, cells: held }, hash: '1.x' };
    });
    const what = { table: name, relation, fields, rows, months: new Set(['2026-01']), at };
    const { sql, parameters } = insertRows(what);
    await jobs.run(sql, parameters, { mutates: [name] });
    const fingerprint = fingerprintOf(writtenParts(fields), ({ name: column }) => column);
    const found = await jobs.run(
      `SELECT COUNTIF(ENDS_WITH(_hash, CONCAT('.', ${fingerprint}))) AS n FROM ${relation}`,
    );
    see(found.rows[0]?.['n'] === '2', `It is the same of ${found.rows[0]?.['n']} rows of 2.`);
    return undefined;
  },
});
