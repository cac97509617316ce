import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Tab } from '../columns/layout.ts';
import { staleRule, write } from './mirror-tab.ts';

/** A form's state as it is kept: see `form-state.ts` for the names of the latest version. */
export type StoredState = Readonly<Record<string, unknown>>;

/** One step of what the mirror keeps in a spreadsheet. Once released it is never changed: a later step corrects it. */
export interface Migration {
  /** The version of the states after this step. */
  readonly version: number;
  /** The state of a form in this version, made of the one before. */
  readonly state: (before: StoredState) => StoredState;
  /** What it changes on the Mirror tab, besides the cells that every write fills. No step touches a form's rows (L4). */
  readonly mirrorTab: (tab: Tab, staleTitle: string) => readonly sheets_v4.Schema$Request[];
}

/** Every step there ever was, in order. Version 1 is what the first release wrote; it had no steps. */
export const MIGRATIONS: readonly [Migration, ...Migration[]] = [
  {
    // Passes get the code of what they ended with, unknown for those that are there.
    version: 2,
    state: ({ p: passes, ...rest }) => ({
      ...rest,
      p: Array.isArray(passes)
        ? passes.map((pass) => (Array.isArray(pass) && pass.length < 8 ? [...pass, 0] : pass))
        : [],
    }),
    // The tab shows what health says, in place of states of its own.
    mirrorTab: ({ sheetId }, staleTitle) => [
      write(sheetId, 0, 0, [['Health']]),
      write(sheetId, 1, 0, [['Stale after minutes without a success']]),
      staleRule(sheetId, staleTitle),
    ],
  },
];
