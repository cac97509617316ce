import { afterAll } from 'vitest';
import { describeStore } from '../../../test/core/store-contract.ts';
import { clock } from '../../../test/core/store-fixtures.ts';
import { newPlace, stopEmulator, storeAt } from './place.ts';

afterAll(stopEmulator);

describeStore('BigQuery', async () => {
  const { url } = await newPlace();
  return { open: () => storeAt(url, clock), [Symbol.asyncDispose]: async () => {} };
});
