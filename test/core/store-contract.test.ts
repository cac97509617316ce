import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestEmulator } from '../../packages/google-sheets-emulator/test/support/emulator.ts';
import { openSheetStore } from '../../src/targets/google-sheets/store.ts';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../../src/targets/google/credentials.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { describeStore } from './store-contract.ts';
import { clock } from './store-fixtures.ts';

describeStore('SQLite', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'forms-mirror-contract-'));
  const url = `sqlite:${join(dir, 'mirror.sqlite')}`;
  return {
    open: () => parseTargetUrl(url).open('default', { clock, history: 'status' }),
    [Symbol.asyncDispose]: async () => rmSync(dir, { recursive: true }),
  };
});

describeStore('Google Sheets', async () => {
  const emulator = await startTestEmulator();
  emulator.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  const id = emulator.createSpreadsheet({ shares: { [EMULATOR_EMAIL]: 'writer' } });
  const emulatorUrl = emulator.url;
  return {
    open: () => openSheetStore(id, { name: 'default', clock, emulatorUrl }),
    [Symbol.asyncDispose]: () => emulator.stop(),
  };
});
