import { MirrorError } from '../../../base/errors.ts';
import type { DescribeHealth } from '../../../mirror/health-text.ts';
import type { Pause } from '../../../mirror/pauses.ts';
import {
  createMetadata,
  deleteMetadata,
  METADATA_KEYS,
  type MetadataEntry,
} from '../api/metadata.ts';
import { SheetsError } from '../api/sheets-error.ts';
import { commitBeside, shownOnMirrorTab } from './kept-look.ts';
import { pauseValue, type StoredPause, storedPauses } from './known-pauses.ts';
import type { Spreadsheet } from './spreadsheet.ts';

/*
 * Each pause is a piece of metadata on the spreadsheet, which comes along with the structure that is read anyway. It is
 * written beside the commit log: people who pause must not wait for the pass that they want to stop, and no other write is
 * built on it. The Mirror tab is brought up to date afterwards, as nothing else may write it for days.
 */

/** How long a structure that was read serves to tell what is paused. */
const FRESH_MS = 10_000;
/** Tries of a write that another process's write came before. */
const TRIES = 4;
/** Characters that all pauses may take of the 30,000 that a spreadsheet has. */
const MAX_CHARACTERS = 10_000;

const pausesIn = (spreadsheet: Spreadsheet): StoredPause[] =>
  storedPauses(spreadsheet.api.spreadsheetId, spreadsheet.known.pauses);

/** What is paused. */
export async function readPauses(spreadsheet: Spreadsheet): Promise<Pause[]> {
  await spreadsheet.structure(FRESH_MS);
  return pausesIn(spreadsheet).map(asPause);
}

/** Keeps a pause, unless there is one of the same already. Resolves to the one in force. Throws TARGET_FULL for too many. */
export function keepPause(
  spreadsheet: Spreadsheet,
  pause: Pause,
  describe: DescribeHealth,
): Promise<Pause> {
  return spreadsheet.exclusively(async () => {
    await spreadsheet.refresh();
    const before = pausesIn(spreadsheet).find(({ formId }) => formId === pause.formId);
    if (before !== undefined) return asPause(before);
    const entry: MetadataEntry = {
      id: spreadsheet.newMetadataId(),
      key: METADATA_KEYS.pause,
      value: pauseValue(spreadsheet.api.spreadsheetId, pause),
    };
    const { pauses } = spreadsheet.known;
    const characters = [...pauses, entry].reduce((sum, { value }) => sum + value.length, 0);
    if (characters > MAX_CHARACTERS) throw tooMany(spreadsheet);
    await once(
      spreadsheet,
      createMetadata({ spreadsheet: true }, entry.key, entry.value, entry.id),
      () => spreadsheet.known.pauses.some(({ id }) => id === entry.id),
    );
    spreadsheet.keepPauses([
      ...spreadsheet.known.pauses.filter(({ id }) => id !== entry.id),
      entry,
    ]);
    await show(spreadsheet, describe);
    return pause;
  });
}

/** Ends a pause. Resolves to what it was; undefined for none. */
export function endPause(
  spreadsheet: Spreadsheet,
  formId: string | null,
  describe: DescribeHealth,
): Promise<Pause | undefined> {
  return spreadsheet.exclusively(async () => {
    await spreadsheet.refresh();
    const found = pausesIn(spreadsheet).filter((pause) => pause.formId === formId);
    const [first] = found;
    if (first === undefined) return undefined;
    // Two processes may have paused the same at the same moment.
    for (const { metadataId } of found) {
      const isThere = (): boolean => spreadsheet.known.pauses.some(({ id }) => id === metadataId);
      await once(spreadsheet, deleteMetadata(metadataId), () => !isThere());
      spreadsheet.keepPauses(spreadsheet.known.pauses.filter(({ id }) => id !== metadataId));
    }
    await show(spreadsheet, describe);
    return asPause(first);
  });
}

const asPause = ({ formId, since, by, reason }: StoredPause): Pause => ({
  formId,
  since,
  by,
  reason,
});

/** Sends a change; one whose fate is unclear, or that another process made meanwhile, is looked up. */
async function once(
  spreadsheet: Spreadsheet,
  request: ReturnType<typeof deleteMetadata>,
  isDone: () => boolean,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await spreadsheet.api.update([request], []);
      return;
    } catch (error) {
      await spreadsheet.refresh();
      if (isDone()) return;
      const isUnclear = error instanceof SheetsError && error.fault === 'unclear';
      if (!isUnclear || attempt >= TRIES) throw error;
    }
  }
}

/** Brings the Mirror tab up to date. Where another process is writing, that one does; what people protect stays as it is. */
async function show(spreadsheet: Spreadsheet, describe: DescribeHealth): Promise<void> {
  const at = new Date(spreadsheet.clock.now()).toISOString();
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    try {
      await spreadsheet.refresh();
      if (spreadsheet.leaseLeftMs > 0) return;
      const shown = await shownOnMirrorTab(spreadsheet, { at }, describe);
      if (shown.requests.length === 0) return;
      await commitBeside(spreadsheet, shown.requests);
      for (const [role, tab] of shown.tabs) spreadsheet.keepOwnTab(role, tab);
      return;
    } catch (error) {
      // The pause itself is in force.
      if (!(error instanceof SheetsError) || error.fault !== 'moved') return;
    }
  }
}

function tooMany({ address }: Spreadsheet): MirrorError {
  return new MirrorError(
    'TARGET_FULL',
    `${address} has no room to remember further paused forms. Pause the target as a whole, or resume some forms.`,
  );
}
