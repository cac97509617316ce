import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { DescribeHealth } from '../../../mirror/health-text.ts';
import { isNewerLook, type LookRecord, lookText } from '../../../mirror/look-record.ts';
import { createMetadata, METADATA_KEYS, updateMetadata } from '../api/metadata.ts';
import { SheetsError } from '../api/sheets-error.ts';
import { FormSheet, newer } from './form-sheet.ts';
import { HEARTBEAT_MS } from './form-state.ts';
import { knownLook, markedLook, storedLook } from './known-look.ts';
import { type OwnTabWrite, updateOwnTabs } from './own-tabs.ts';
import type { Spreadsheet } from './spreadsheet.ts';

/*
 * The newest look is a piece of metadata on the spreadsheet: it comes along with the structure that is read anyway, and no
 * cell of people's changes with it. With it goes the Mirror tab, which compares the last success with the clock. A look
 * that found what the one before had found is kept in memory for a while, as a pass is that brought nothing new; a process
 * that dies with it leaves the older one, which is as true.
 */

/** Characters that a look may take of the 30,000 that a spreadsheet has. A longer one is kept in memory alone. */
const MAX_CHARACTERS = 6_000;
/** How long a structure that was read serves to tell the look in it. */
const FRESH_MS = 10_000;
/** Tries of a write that another process's write came before. */
const TRIES = 4;
/** Its name in the commit log: no form's. */
const WRITER = 'look';

/** The newest look that the spreadsheet, or this process, knows of. */
export async function readLook(spreadsheet: Spreadsheet): Promise<LookRecord | null> {
  await spreadsheet.structure(FRESH_MS);
  return knownLook(spreadsheet);
}

/** Keeps a look in place of an older one. Where another process is writing, in memory until the next one. */
export async function keepLook(
  spreadsheet: Spreadsheet,
  look: LookRecord,
  describe: DescribeHealth,
): Promise<void> {
  await spreadsheet.exclusively(async () => {
    await spreadsheet.structure(FRESH_MS);
    if (!isNewerLook(look, knownLook(spreadsheet))) return;
    spreadsheet.deferredLook = look;
    if (mayWait(storedLook(spreadsheet)?.look, look)) return;
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      if (await isSettled(spreadsheet, look, describe)) return;
    }
  });
}

/** Writes a look; false when another process wrote something meanwhile, so that it is to be tried again. */
async function isSettled(
  spreadsheet: Spreadsheet,
  look: LookRecord,
  describe: DescribeHealth,
): Promise<boolean> {
  const value = valueOf(spreadsheet, look);
  await spreadsheet.refresh();
  const stored = storedLook(spreadsheet);
  if (spreadsheet.leaseLeftMs > 0 || value.length > MAX_CHARACTERS) return true;
  if (stored !== undefined && !isNewerLook(look, stored.look)) return true;
  const id = stored?.metadataId ?? spreadsheet.newMetadataId();
  const keep =
    stored === undefined
      ? createMetadata({ spreadsheet: true }, METADATA_KEYS.look, value, id)
      : updateMetadata(id, value);
  let shown = await shownOnMirrorTab(spreadsheet, look, describe);
  try {
    await commitBeside(spreadsheet, [keep, ...shown.requests]);
  } catch (error) {
    const fault = error instanceof SheetsError ? error.fault : undefined;
    if (fault === 'moved') return false;
    if (fault !== 'protected') throw error;
    // A Mirror tab that people protect stays as it is.
    shown = { requests: [], tabs: new Map() };
    await commitBeside(spreadsheet, [keep]);
  }
  spreadsheet.keepLook({ id, key: METADATA_KEYS.look, value });
  for (const [role, tab] of shown.tabs) spreadsheet.keepOwnTab(role, tab);
  return true;
}

/** Without what saves requests or explains some differences sooner, where there is no room for it. */
function valueOf(spreadsheet: Spreadsheet, { withheld, ...look }: LookRecord): string {
  const others = look.others && { ...look.others, newest: null };
  const values = [{ ...look, ...(withheld && { withheld }) }, look, { ...look, others }].map(
    (one) => markedLook(spreadsheet, lookText(one)),
  );
  return values.find(({ length }) => length <= MAX_CHARACTERS) ?? values.at(-1) ?? '';
}

/** Keeps the lease that a pass of this process has, and asks for none itself. */
export async function commitBeside(
  spreadsheet: Spreadsheet,
  requests: readonly sheets_v4.Schema$Request[],
): Promise<void> {
  const leaseMs = spreadsheet.ownLeaseLeftMs;
  await spreadsheet.commit({ formId: WRITER, requests, responseRanges: [], leaseMs });
}

/** What brings the Mirror tab up to date; nothing where there is none yet. */
export async function shownOnMirrorTab(
  spreadsheet: Spreadsheet,
  { at }: Pick<LookRecord, 'at'>,
  describe: DescribeHealth,
): Promise<OwnTabWrite> {
  const structure = spreadsheet.known;
  const [first] = structure.forms.values();
  if (first === undefined || !structure.roles.has('mirror')) {
    return { requests: [], tabs: new Map() };
  }
  const { formId: id, state } = first;
  const form = { id, slug: state.slug, name: state.name };
  const sheet = await FormSheet.open(spreadsheet, form, structure);
  const now = newer(sheet.view.state, spreadsheet.deferredState(id));
  return updateOwnTabs(sheet, { state: now, now: at }, describe);
}

/** True when a look says nothing that has to be in the sheet at once: passes follow for what is open, and write themselves. */
function mayWait(before: LookRecord | null | undefined, look: LookRecord): boolean {
  if (before === null || before === undefined) return false;
  const ageMs = Date.parse(look.at) - Date.parse(before.at);
  // What was not counted since is as true as it was.
  const { at, differing = [], uncounted = new Map<string, null>() } = look;
  // An older page is as true, as long as others have what they had.
  const newest = look.others?.newest ?? null;
  const others = before.others && { ...before.others, newest };
  const open = look.open.length > 0 ? look.open : before.open;
  return (
    ageMs >= 0 &&
    ageMs < HEARTBEAT_MS &&
    lookText({ ...before, at, open, differing, others, uncounted }) === lookText(look)
  );
}
