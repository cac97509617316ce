import type { Pause } from '../../../mirror/pauses.ts';
import { METADATA_KEYS, type MetadataEntry } from '../api/metadata.ts';

/** A pause as metadata. A copy of the file carries the original's, and is not paused by them. */
export const pauseValue = (spreadsheetId: string, { formId, since, by, reason }: Pause): string =>
  JSON.stringify([spreadsheetId, formId, since, by, reason]);

/** A pause, and the metadata that says so. */
export interface StoredPause extends Pause {
  readonly metadataId: number;
}

/** What the metadata of a spreadsheet says is paused; of two that speak of the same the earlier one first. */
export function storedPauses(
  spreadsheetId: string,
  entries: readonly MetadataEntry[],
): StoredPause[] {
  return entries
    .filter(({ key }) => key === METADATA_KEYS.pause)
    .flatMap(({ id, value }) => pauseFrom(spreadsheetId, id, value) ?? [])
    .sort((a, b) =>
      a.since === b.since ? a.metadataId - b.metadataId : a.since < b.since ? -1 : 1,
    );
}

function pauseFrom(
  spreadsheetId: string,
  metadataId: number,
  text: string,
): StoredPause | undefined {
  try {
    const list: unknown = JSON.parse(text);
    const [of, formId, since, by, reason] = Array.isArray(list) ? (list as unknown[]) : [];
    if (of !== spreadsheetId || typeof since !== 'string' || typeof by !== 'string') return;
    if (formId !== null && typeof formId !== 'string') return undefined;
    return { metadataId, formId, since, by, reason: typeof reason === 'string' ? reason : null };
  } catch {
    return undefined;
  }
}
