export {
  startSheetsEmulator,
  type SheetsEmulator,
  type SheetsEmulatorOptions,
} from './emulator.ts';
export type { SpreadsheetOptions } from './spreadsheet-files.ts';
