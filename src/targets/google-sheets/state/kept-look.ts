import { isNewerLook, type LookRecord, lookFrom, lookText } from '../../../mirror/look-record.ts';
import { createMetadata, hashText, METADATA_KEYS, updateMetadata } from '../api/metadata.ts';
import { SheetsError } from '../api/sheets-error.ts';
import { HEARTBEAT_MS } from './form-state.ts';
import type { Spreadsheet } from './spreadsheet.ts';
import type { Structure } from './structure.ts';

/*
 * The newest look is a piece of metadata on the spreadsheet: it comes along with the structure that is read anyway, and no
 * cell changes with it. One that found what the one before had found is kept in memory for a while, as a pass is that brought
 * nothing new; a process that dies with it leaves the older one, which is as true.
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
  return newestOf(spreadsheet, await spreadsheet.structure(FRESH_MS));
}

/** Keeps a look in place of an older one. Where another process is writing, in memory until the next one. */
export async function keepLook(spreadsheet: Spreadsheet, look: LookRecord): Promise<void> {
  await spreadsheet.exclusively(async () => {
    const structure = await spreadsheet.structure(FRESH_MS);
    if (!isNewerLook(look, newestOf(spreadsheet, structure))) return;
    spreadsheet.deferredLook = look;
    if (isHeartbeat(storedIn(spreadsheet, structure)?.look, look)) return;
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      if (await isSettled(spreadsheet, look)) return;
    }
  });
}

/** Writes a look; false when another process wrote something meanwhile, so that it is to be tried again. */
async function isSettled(spreadsheet: Spreadsheet, look: LookRecord): Promise<boolean> {
  const text = lookText(look);
  const structure = await spreadsheet.refresh();
  const stored = storedIn(spreadsheet, structure);
  if (spreadsheet.leaseLeftMs > 0 || text.length > MAX_CHARACTERS) return true;
  if (stored !== undefined && !isNewerLook(look, stored.look)) return true;
  const value = JSON.stringify([markOf(spreadsheet), text]);
  const id = stored?.metadataId ?? spreadsheet.newMetadataId();
  try {
    await spreadsheet.commit({
      formId: WRITER,
      requests: [
        stored === undefined
          ? createMetadata({ spreadsheet: true }, METADATA_KEYS.look, value, id)
          : updateMetadata(id, value),
      ],
      responseRanges: [],
      // Keeps the lease that a pass of this process has, and asks for none itself.
      leaseMs: spreadsheet.ownLeaseLeftMs,
    });
  } catch (error) {
    if (!(error instanceof SheetsError) || error.fault !== 'moved') throw error;
    return false;
  }
  spreadsheet.keepLook({ id, key: METADATA_KEYS.look, value });
  return true;
}

/** True when a look says nothing new that has to be in the sheet at once. */
function isHeartbeat(before: LookRecord | null | undefined, look: LookRecord): boolean {
  if (before === null || before === undefined) return false;
  const ageMs = Date.parse(look.at) - Date.parse(before.at);
  return (
    ageMs >= 0 && ageMs < HEARTBEAT_MS && lookText({ ...before, at: look.at }) === lookText(look)
  );
}

function newestOf(spreadsheet: Spreadsheet, structure: Structure): LookRecord | null {
  const stored = storedIn(spreadsheet, structure)?.look ?? null;
  const deferred = spreadsheet.deferredLook;
  return deferred !== undefined && isNewerLook(deferred, stored) ? deferred : stored;
}

/** The look in the sheet; undefined where there is none, or only that of the spreadsheet that this one was copied from. */
function storedIn(
  spreadsheet: Spreadsheet,
  { looks }: Structure,
): { readonly metadataId: number; readonly look: LookRecord | null } | undefined {
  for (const { id, value } of looks) {
    const [mark, text] = partsOf(value);
    if (mark === markOf(spreadsheet)) return { metadataId: id, look: lookFrom(text) };
  }
  return undefined;
}

const markOf = ({ api }: Spreadsheet): string => hashText(api.spreadsheetId, 6);

function partsOf(value: string): [mark: string, text: string] {
  try {
    const parts: unknown = JSON.parse(value);
    return Array.isArray(parts) ? [String(parts[0]), String(parts[1])] : ['', ''];
  } catch {
    return ['', ''];
  }
}
