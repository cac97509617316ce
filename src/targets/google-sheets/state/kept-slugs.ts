import { slugsFrom, slugsText } from '../../../mirror/slugs.ts';
import { createMetadata, hashText, METADATA_KEYS, type MetadataEntry } from '../api/metadata.ts';
import type { Spreadsheet } from './spreadsheet.ts';

/*
 * Which form a slug in the settings first named is a piece of metadata on the spreadsheet, which comes along with the structure
 * that is read anyway. It is written once for each slug, beside the commit log, as a pause is.
 */

/** How long a structure that was read serves to tell them. */
const FRESH_MS = 10_000;

/** A copy of the file carries the original's, and is bound by none of them. */
const markOf = ({ api }: Spreadsheet): string => hashText(api.spreadsheetId, 6);

/** IDs of forms by the slugs that name them. */
export async function readSlugs(spreadsheet: Spreadsheet): Promise<Map<string, string>> {
  await spreadsheet.structure(FRESH_MS);
  return slugsIn(spreadsheet);
}

/** Keeps that a slug names a form, unless it names one. Resolves to the form that it names. */
export function keepSlug(spreadsheet: Spreadsheet, slug: string, formId: string): Promise<string> {
  return spreadsheet.exclusively(async () => {
    await spreadsheet.refresh();
    const before = slugsIn(spreadsheet).get(slug);
    if (before !== undefined) return before;
    const entry: MetadataEntry = {
      id: spreadsheet.newMetadataId(),
      key: METADATA_KEYS.slug,
      value: markOf(spreadsheet) + slugsText(new Map([[slug, formId]])),
    };
    await spreadsheet.api.update(
      [createMetadata({ spreadsheet: true }, entry.key, entry.value, entry.id)],
      [],
    );
    spreadsheet.keepSlug(entry);
    return formId;
  });
}

/** Of two entries for one slug, as two processes may have written at the same moment, that of the lower ID. */
function slugsIn(spreadsheet: Spreadsheet): Map<string, string> {
  const mark = markOf(spreadsheet);
  const entries = spreadsheet.known.slugs
    .toSorted((a, b) => b.id - a.id)
    .filter(({ value }) => value.startsWith(mark));
  const slugs = new Map<string, string>();
  for (const { value } of entries) {
    for (const [slug, formId] of slugsFrom(value.slice(mark.length))) slugs.set(slug, formId);
  }
  return slugs;
}
