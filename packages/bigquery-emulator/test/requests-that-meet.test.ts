import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATASET, PROJECT, refusalOf, startBed, type Bed } from './support/bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.emulator.close());

const IN = { projectId: PROJECT, datasetId: DATASET };
const FIELD = { name: 'a', type: 'STRING' };

describe('requests that meet', () => {
  it('for one table make it once, and what it holds is there as soon as it is', async () => {
    const tableId = 'met';
    const make = (): Promise<unknown> =>
      bed.api.tables.insert({
        ...IN,
        requestBody: { tableReference: { ...IN, tableId }, schema: { fields: [FIELD] } },
      });
    const made = await Promise.all(
      [1, 2, 3].map(async () => {
        const said = await make().then(() => 'made', refusalOf);
        await bed.query(`INSERT INTO ${tableId} (a) VALUES ('x')`);
        return said;
      }),
    );
    expect(made.toSorted()).toEqual([
      'duplicate: Already Exists: Table emulated:mirror.met',
      'duplicate: Already Exists: Table emulated:mirror.met',
      'made',
    ]);
    expect((await bed.query(`SELECT COUNT(*) FROM ${tableId}`)).rows).toEqual([['3']]);
  });

  it('for columns under one etag change the table once', async () => {
    const tableId = 'patched';
    await bed.query(`CREATE TABLE ${tableId} (a STRING)`);
    const { data } = await bed.api.tables.get({ ...IN, tableId });
    const add = (name: string): Promise<string> =>
      bed.api.tables
        .patch(
          { ...IN, tableId, requestBody: { schema: { fields: [FIELD, { ...FIELD, name }] } } },
          { headers: { 'If-Match': data.etag ?? '' } },
        )
        .then(() => name, refusalOf);
    const said = await Promise.all(['b', 'c', 'd'].map(add));
    expect(said.filter((one) => one.startsWith('conditionNotMet'))).toHaveLength(2);
    const { schema } = (await bed.api.tables.get({ ...IN, tableId })).data;
    expect(schema?.fields?.map(({ name }) => name)).toEqual([
      'a',
      said.find((one) => one.length === 1),
    ]);
  });

  it('for rows and columns fail neither', async () => {
    const tableId = 'busy';
    await bed.query(`CREATE TABLE ${tableId} (a STRING)`);
    const insert = { isRunning: true };
    const storing = bed
      .query(
        `INSERT INTO ${tableId} (a) SELECT CAST(n AS STRING) FROM UNNEST(GENERATE_ARRAY(1, 400000)) AS n`,
      )
      .finally(() => (insert.isRunning = false));
    const fields = [FIELD];
    do {
      fields.push({ ...FIELD, name: `c${fields.length}` });
      await bed.api.tables.patch({ ...IN, tableId, requestBody: { schema: { fields } } });
    } while (insert.isRunning);
    await storing;
    expect((await bed.query(`SELECT COUNT(*) FROM ${tableId}`)).rows).toEqual([['400000']]);
  });
});
