import { count, plural } from '../base/format.ts';
import type { SettingsChange } from './proven-for.ts';

/**
 * Why the rows of a target are not what a checkpoint says of them: people dropped, emptied or deleted something, restored
 * an old backup, or asked for something else.
 */
export type Loss =
  /** The table or tab itself; `name` as people see it: `table contact`, `tab "Contact"`. */
  | { readonly what: 'place'; readonly name: string }
  /** The column of a mirrored field (`name`: its label) or one of our own. */
  | { readonly what: 'column'; readonly name: string }
  /** So many rows fewer than were stored; negative: so many more. */
  | { readonly what: 'rows'; readonly missing: number }
  /** So many rows fewer are live than should be: they were marked deleted by somebody else; negative: the mark was taken away. */
  | { readonly what: 'marks'; readonly missing: number }
  /** Something that we keep beside the rows: a table of the catalogue, a list; `missing`: so many of its entries. */
  | { readonly what: 'records'; readonly name: string; readonly missing?: number }
  /** How many rows were stored is not known: what counted them was lost. Nothing need be missing. */
  | { readonly what: 'uncounted' }
  /** Cells that could not be written, as people had protected or merged them, can be written now. */
  | { readonly what: 'unblocked' }
  /** A sheet has another time zone than when the times in it were written. */
  | { readonly what: 'zone' }
  /** Anything else, as a sentence of the target. */
  | { readonly what: 'other'; readonly text: string }
  /** Other settings decide what is stored of an answer than did when it was stored. Told by no target: it has no settings. */
  | { readonly what: 'settings'; readonly changes: readonly SettingsChange[] };

/**
 * What is known to be lost or outdated, without rows that were not counted, without what people kept from being written for a
 * while, and without times that another time zone shifted.
 */
export const knownLosses = (losses: readonly Loss[]): Loss[] =>
  losses.filter(({ what }) => what !== 'uncounted' && what !== 'unblocked' && what !== 'zone');

/** True when nothing was taken from the target: the settings alone ask for something else. */
export const isOfSettings = (losses: readonly Loss[]): boolean =>
  losses.every(({ what }) => what === 'settings');

/** Losses as a sentence for people, without its full stop: what is lost, not what follows from it; null for none. */
export function lossSentence(losses: readonly Loss[]): string | null {
  const parts = [
    ...losses.flatMap((loss) => (loss.what === 'place' ? [`the ${loss.name} was gone`] : [])),
    ...named(losses, 'column'),
    ...losses.flatMap((loss) => (loss.what === 'rows' ? [rowsLost(loss.missing)] : [])),
    ...losses.flatMap((loss) => (loss.what === 'marks' ? [marksChanged(loss.missing)] : [])),
    ...losses.flatMap((loss) => (loss.what === 'other' ? [loss.text.replace(/\.$/, '')] : [])),
    ...named(losses, 'records'),
    ...(losses.some(({ what }) => what === 'uncounted')
      ? ['how many rows were stored before is not known']
      : []),
    ...(losses.some(({ what }) => what === 'unblocked')
      ? ['what people had protected or merged can be written now']
      : []),
    ...(losses.some(({ what }) => what === 'zone')
      ? ['the spreadsheet has another time zone than when its times were written']
      : []),
    ...losses.flatMap((loss) =>
      loss.what === 'settings' ? loss.changes.map((change) => CHANGES[change]) : [],
    ),
  ];
  const [first = '', ...others] = parts;
  if (parts.length === 0) return null;
  return [first.charAt(0).toUpperCase() + first.slice(1), ...others].join('; ');
}

const CHANGES: Readonly<Record<SettingsChange, string>> = {
  picks: 'other fields are picked than when the rows were stored',
  hashes:
    'other fields are hashed, or in another way, than when the rows were stored, so plain answers may still be there',
  key: 'HASH_KEY is another one than when the rows were stored',
  fields: 'the form has fields that a pass before this one did not fill',
};

function rowsLost(missing: number): string {
  const rows = Math.abs(missing);
  if (missing > 0) {
    return rows === 1
      ? '1 row that was mirrored is missing in the target'
      : `${count(rows)} rows that were mirrored are missing in the target`;
  }
  return rows === 1
    ? '1 row is in the target that the mirror did not store'
    : `${count(rows)} rows are in the target that the mirror did not store`;
}

function marksChanged(missing: number): string {
  const [rows, be] = [plural(Math.abs(missing), 'row'), Math.abs(missing) === 1 ? 'is' : 'are'];
  return missing > 0
    ? `${rows} ${be} marked deleted that the mirror did not mark`
    : `${rows} that the mirror marked deleted ${be} no longer marked`;
}

/** Most names in a sentence. */
const MOST_NAMES = 3;

function named(losses: readonly Loss[], what: 'column' | 'records'): string[] {
  const names = losses.flatMap((loss) => (loss.what === what ? [loss.name] : []));
  if (names.length === 0) return [];
  const shown = names.slice(0, MOST_NAMES).join(', ');
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  const [one, many] = what === 'column' ? ['the column', 'the columns'] : ['the', 'the'];
  const subject = `${names.length === 1 ? one : many} ${shown}${more}`;
  return [`${subject} ${names.length === 1 ? 'was' : 'were'} gone`];
}
