import { isNewerLook, type LookRecord, lookFrom } from '../../../mirror/look-record.ts';
import { hashText } from '../api/metadata.ts';
import type { Spreadsheet } from './spreadsheet.ts';

/** The look that is in the spreadsheet, as it was last read. */
export interface StoredLook {
  readonly metadataId: number;
  /** Null for one that can't be read. */
  readonly look: LookRecord | null;
}

/** Says whose look it is: a spreadsheet that was copied brings along that of the other. */
const markOf = ({ api }: Spreadsheet): string => hashText(api.spreadsheetId, 6);

/** The text that keeps a look, of {@link lookText}, in a spreadsheet's metadata. */
export const markedLook = (spreadsheet: Spreadsheet, text: string): string =>
  JSON.stringify([markOf(spreadsheet), text]);

/** The look in the spreadsheet; undefined where there is none of its own. */
export function storedLook(spreadsheet: Spreadsheet): StoredLook | undefined {
  for (const { id, value } of spreadsheet.known.looks) {
    const [mark, text] = partsOf(value);
    if (mark === markOf(spreadsheet)) return { metadataId: id, look: lookFrom(text) };
  }
  return undefined;
}

/** The newest look, in the spreadsheet or in this process; null before the first. */
export function knownLook(spreadsheet: Spreadsheet): LookRecord | null {
  const stored = storedLook(spreadsheet)?.look ?? null;
  const deferred = spreadsheet.deferredLook;
  return deferred !== undefined && isNewerLook(deferred, stored) ? deferred : stored;
}

function partsOf(value: string): [mark: string, text: string] {
  try {
    const parts: unknown = JSON.parse(value);
    return Array.isArray(parts) ? [String(parts[0]), String(parts[1])] : ['', ''];
  } catch {
    return ['', ''];
  }
}
