import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Loss } from '../../../mirror/losses.ts';
import { createMetadata, hashText, METADATA_KEYS, type MetadataEntry } from '../api/metadata.ts';
import { EMPTY_STATE, type FormState } from './form-state.ts';

/** A form that was mirrored into the spreadsheet, whether its tab is still there or not. */
export interface KnownForm {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  /** The tab's title at the time. */
  readonly title: string;
}

/** More are not remembered: Google allows 30,000 characters of metadata on a spreadsheet. */
const MAX_FORMS = 80;
const MAX_CHARACTERS = 40;

/** Reads the forms off the spreadsheet's own metadata; those of the spreadsheet that it was copied from are left out. */
export function readKnownForms(
  spreadsheetId: string,
  metadata: readonly MetadataEntry[],
): Map<string, KnownForm> {
  const forms = new Map<string, KnownForm>();
  for (const { key, value } of metadata) {
    if (key !== METADATA_KEYS.knownForm) continue;
    const [mark, id, slug, name, title] = textsOf(value);
    if (mark !== markOf(spreadsheetId) || id === undefined) continue;
    forms.set(id, { id, slug: slug ?? id, name: name ?? id, title: title ?? '' });
  }
  return forms;
}

/** The request that makes a form known; none when it is, or when there are too many. */
export function knownFormRequests(
  spreadsheetId: string,
  known: ReadonlyMap<string, KnownForm>,
  form: KnownForm,
): sheets_v4.Schema$Request[] {
  if (known.has(form.id) || known.size >= MAX_FORMS) return [];
  const short = [form.slug, form.name, form.title].map((text) =>
    text.slice(0, MAX_CHARACTERS).toWellFormed(),
  );
  const value = JSON.stringify([markOf(spreadsheetId), form.id, ...short]);
  return [createMetadata({ spreadsheet: true }, METADATA_KEYS.knownForm, value)];
}

/** The state of a form that has no tab: one that is known has lost it. */
export function stateWithoutTab(known: KnownForm | undefined): FormState {
  if (known === undefined) return EMPTY_STATE;
  const lost: Loss = { what: 'place', name: `tab "${known.title}"` };
  return { ...EMPTY_STATE, slug: known.slug, name: known.name, losses: [lost] };
}

const markOf = (spreadsheetId: string): string => hashText(spreadsheetId, 6);

function textsOf(value: string): (string | undefined)[] {
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list)
      ? list.map((item) => (typeof item === 'string' ? item : undefined))
      : [];
  } catch {
    return [];
  }
}
