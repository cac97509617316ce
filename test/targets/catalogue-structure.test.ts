import { describe, expect, it } from 'vitest';
import { tablesOfVersion, versionOfTables } from '../../src/targets/sql/catalogue-structure.ts';
import { MIGRATIONS } from '../../src/targets/sql/migrations.ts';
import { postgresDialect } from '../../src/targets/sql/postgres/postgres-dialect.ts';
import { sqliteDialect } from '../../src/targets/sql/sqlite/sqlite-dialect.ts';

describe.each([sqliteDialect, postgresDialect('public')])(
  'the catalogue of $product',
  (dialect) => {
    const versions = MIGRATIONS.map(({ version }) => version);

    it.each(versions)('of version %d is told by its tables', (version) => {
      const tables = new Map(tablesOfVersion(dialect, version));
      expect(versionOfTables(dialect, tables)).toBe(version);
      // As when mirror_meta was dropped, for which this is done.
      tables.delete('mirror_meta');
      expect(versionOfTables(dialect, tables)).toBe(version);
    });

    it('is not taken for ours when its tables have other columns, or when there are none', () => {
      const tables = tablesOfVersion(dialect, versions.at(-1) ?? 0);
      const more = new Map([...tables, ['mirror_forms', ['form_id', 'slug', 'mine']]]);
      expect(versionOfTables(dialect, more)).toBeUndefined();
      const later = [...(tables.get('mirror_passes') ?? []), 'of_a_later_release'];
      expect(
        versionOfTables(dialect, new Map([...tables, ['mirror_passes', later]])),
      ).toBeUndefined();
      expect(versionOfTables(dialect, new Map())).toBeUndefined();
    });
  },
);
