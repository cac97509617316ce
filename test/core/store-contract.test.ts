import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSheetStore } from '../../src/targets/google-sheets/store.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { scratchFolder } from '../support/scratch.ts';
import { newSpreadsheet } from '../support/spreadsheet.ts';
import { describeStore } from './store-contract.ts';
import { clock } from './store-fixtures.ts';

describeStore('SQLite', async () => {
  const dir = scratchFolder('contract');
  const url = `sqlite:${join(dir, 'mirror.sqlite')}`;
  return {
    open: () => parseTargetUrl(url).open('default', { clock, history: 'status' }),
    [Symbol.asyncDispose]: async () => rmSync(dir, { recursive: true }),
  };
});

describeStore('Google Sheets', async () => {
  const { emulator, id, url: emulatorUrl } = await newSpreadsheet();
  return {
    open: () => openSheetStore(id, { name: 'default', clock, emulatorUrl }),
    [Symbol.asyncDispose]: () => emulator.stop(),
  };
});
