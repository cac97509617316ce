import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { dbtSources } from '../../src/cli/export-dbt.ts';
import type { TargetRelations } from '../../src/mirror/port.ts';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

interface Sources {
  readonly version: number;
  readonly sources: readonly {
    readonly name: string;
    readonly database?: string;
    readonly schema: string;
    readonly tables: readonly {
      readonly name: string;
      readonly description: string;
      readonly config?: { readonly freshness: unknown; readonly loaded_at_query: string };
      readonly columns?: readonly {
        readonly name: string;
        readonly description?: string;
        readonly data_tests?: readonly string[];
      }[];
    }[];
  }[];
}

describe('export --dbt', () => {
  it('prints the tables that there are, with columns, labels, tests and freshness', async () => {
    const place = await openPlace({ submissions: 30 });
    expect((await runCli(['sync', '--full'], place.env)).code).toBe(0);
    const env = { ...place.env, RECONCILE_EVERY: '90m' };
    const { code, stdout } = await runCli(['export', '--dbt', '--name', 'answers'], env);
    expect(code).toBe(0);
    const { version, sources } = parse(stdout) as Sources;
    const [source] = sources;
    expect([version, sources.length, source?.name, source?.schema]).toEqual([
      2,
      1,
      'answers',
      'main',
    ]);
    const tables = source?.tables ?? [];
    const named = new Set(tables.map(({ name }) => name));
    const forms = place.rows('SELECT form_id, table_name, view_name FROM mirror_forms');
    expect(forms).toHaveLength(3);
    for (const { table_name: table, view_name: view } of forms) {
      expect([named.has(String(table)), named.has(String(view))]).toEqual([true, true]);
    }
    using database = new DatabaseSync(place.file, { readOnly: true });
    for (const { name, columns = [], config } of tables) {
      const present = place.rows(`SELECT name FROM pragma_table_info('${name}')`);
      const columnNames = present.map((one) => one['name']);
      expect(columnNames).toEqual(expect.arrayContaining(columns.map((column) => column.name)));
      // Each test that it asks for is passed.
      for (const { name: column, data_tests: tests = [] } of columns) {
        const wrong = {
          unique: `SELECT 1 FROM ${name} GROUP BY ${column} HAVING count(*) > 1`,
          not_null: `SELECT 1 FROM ${name} WHERE ${column} IS NULL`,
        };
        for (const test of tests) {
          expect(database.prepare(wrong[test as keyof typeof wrong]).all()).toEqual([]);
        }
      }
      if (!forms.some((form) => form['table_name'] === name)) continue;
      expect(columns).toHaveLength(present.length);
      expect(columns.find((one) => one.name === 'id')?.data_tests).toEqual(['unique', 'not_null']);
      const labels = place.rows(
        `SELECT column_name, label FROM mirror_fields JOIN mirror_forms USING (form_id) WHERE table_name = '${name}'`,
      );
      for (const { column_name: column, label } of labels)
        expect(columns.find((one) => one.name === column)?.description).toContain(label);
      expect(config?.freshness).toEqual({
        warn_after: { count: 3, period: 'hour' },
        error_after: { count: 6, period: 'hour' },
      });
      const [loaded = {}] = database.prepare(config?.loaded_at_query ?? '').all();
      expect(Object.values(loaded)).toEqual([expect.stringMatching(/^20\d\d-.*Z$/)]);
    }
    expect(named.has('_mirror_state')).toBe(false);
  });

  it('runs no label as a template, and breaks no line on one', () => {
    const label = 'a: "b" # {{ env_var("SECRET") }} {% raw %}\n- c';
    const relations: TargetRelations = {
      database: 'db',
      schema: 'Forms "x"',
      relations: [
        {
          name: 't',
          description: label,
          columns: [{ name: 'no', description: label, isUnique: false, isRequired: false }],
          comparedAt: null,
        },
      ],
    };
    const text = dbtSources(relations, { name: 'f', address: 'a', comparedEveryMs: 90_000 });
    expect(text).not.toMatch(/\{[{%#]/);
    const [source] = (parse(text) as Sources).sources;
    expect(source).toMatchObject({ database: 'db', schema: 'Forms "x"' });
    expect(source?.tables[0]?.columns?.[0]).toEqual({
      name: 'no',
      description: 'a: "b" # { { env_var("SECRET") }} { % raw %} - c',
    });
  });

  it.each([
    [{}, [], 'has no form yet'],
    [{ TARGETS: 'a,b', TARGET_B_URL: 'sqlite:/nowhere/b.sqlite' }, [], '(a, b)'],
    [
      {
        TARGET_URL: 'https://docs.google.com/spreadsheets/d/1_sheet_of_nobody_0123456789',
        SHEETS_EMULATOR_URL: 'http://127.0.0.1:1',
      },
      [],
      'no target here is a database',
    ],
  ])('with %j %j says what to do', async (settings, args, said) => {
    const { env } = await openPlace({ submissions: 1 });
    expect(await runCli(['export', '--dbt', ...args], { ...env, ...settings })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(said),
    });
  });
});
