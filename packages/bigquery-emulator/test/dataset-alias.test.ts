import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aliased, pathParts } from '../src/dataset-alias.ts';
import { startBed, type Bed } from './support/bed.ts';

describe('taking the names of datasets out of a text', () => {
  it('numbers them in the order in which they appear, and restores them', () => {
    const sql =
      'SELECT * FROM `p.one.t` JOIN `p.two.t` USING (id) JOIN `p.one.INFORMATION_SCHEMA.TABLES` ON TRUE';
    const { text, prefixes, restore } = aliased(sql);
    expect(text).toBe(
      'SELECT * FROM `~1.t` JOIN `~2.t` USING (id) JOIN `~1.INFORMATION_SCHEMA.TABLES` ON TRUE',
    );
    expect(prefixes).toEqual(['p.one', 'p.two']);
    expect(restore(text)).toBe(sql);
    expect(pathParts(['~2.t'], prefixes)).toEqual(['p', 'two', 't']);
    expect(pathParts(['~1.INFORMATION_SCHEMA.TABLES'], prefixes)).toEqual([
      'p',
      'one',
      'INFORMATION_SCHEMA',
      'TABLES',
    ]);
  });

  it.each([
    "SELECT '`p.d.t`'",
    'SELECT "a \\" `p.d.t`"',
    "SELECT '''it's `p.d.t`'''",
    'SELECT """\n`p.d.t`"""',
    'SELECT 1 -- `p.d.t`',
    'SELECT 1 /* `p.d.t` */ + 1',
    'SELECT `a.b` FROM `d.t`',
    'SELECT * FROM `~1.t` JOIN `p.d.t` USING (id)',
  ])(
    'leaves alone what is no name of three parts, and texts that hold a number already: %s',
    (sql) => {
      expect(aliased(sql).text).toBe(sql);
    },
  );
});

describe('statements over more than one dataset', () => {
  let bed: Bed;
  beforeAll(async () => {
    bed = await startBed();
    for (const name of ['one', 'two']) {
      bed.emulator.createDataset('emulated', name);
      await bed.query(`CREATE TABLE \`emulated.${name}.t\` (id STRING)`);
      await bed.query(`INSERT INTO \`emulated.${name}.t\` VALUES ('${name}')`);
    }
  });
  afterAll(() => bed.emulator.close());

  it('read each its own, by the same text but for the name', async () => {
    for (const name of ['one', 'two', 'one']) {
      expect((await bed.query(`SELECT id FROM \`emulated.${name}.t\``)).rows).toEqual([[name]]);
    }
    const both = 'SELECT a.id, b.id FROM `emulated.two.t` a CROSS JOIN `emulated.one.t` b';
    expect((await bed.query(both)).rows).toEqual([['two', 'one']]);
  });

  it('keep the names in views, in the log and in what is told', async () => {
    await bed.query('CREATE VIEW `emulated.one.v` AS SELECT id FROM `emulated.two.t`');
    const { rows } = await bed.query(
      'SELECT view_definition FROM `emulated.one.INFORMATION_SCHEMA.VIEWS`',
    );
    expect(rows).toEqual([['SELECT id FROM `emulated.two.t`']]);
    expect((await bed.query('SELECT id FROM `emulated.one.v`')).rows).toEqual([['two']]);
    expect(bed.emulator.statements.all().at(-1)?.sql).toBe('SELECT id FROM `emulated.one.v`');
    expect(await bed.refusal('SELECT id FROM `emulated.one.t` WHERE nope')).toContain(
      'nope at [1:39]',
    );
    expect(await bed.refusal('SELECT id FROM `emulated.one.gone`')).toContain(
      'Table emulated:one.gone',
    );
    expect(await bed.refusal('SELECT 1;\nSELECT id FROM `emulated.one.t` WHERE nope')).toContain(
      'nope at [2:39]',
    );
    expect(await bed.refusal('DELETE FROM `emulated.one.v` WHERE TRUE')).toContain(
      'emulated:one.v is not allowed',
    );
  });
});
