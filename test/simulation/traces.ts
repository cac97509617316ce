import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_KEY } from './api.ts';
import type { Breach } from './breach.ts';
import { SECRET_MARK, type Source, type Submission } from './source.ts';

/** Data that may be nowhere in the files of the program: neither in a row nor in a database's remains of deleted rows. */
export interface Banned {
  /** Submissions that people had forgotten, by ID. */
  readonly erased: ReadonlySet<string>;
  /** The time since when a field's answers may not be stored unchanged (milliseconds): hashed, or no longer selected. */
  readonly privateSince: ReadonlyMap<string, number>;
  /** Fields without any plain answer left, however old. */
  readonly hashed: ReadonlySet<string>;
}

/** A text of the source begins with its submission, its field and its version: see `answer` of the source. */
const TRACE = /(s[0-9a-z]{1,8}n\d+)(?:\.(\d) (\d+) )?/g;

/** The key, or an answer of a field that is not selected, in printed text. */
export function printedSecret(text: string): Breach | null {
  if (text.includes(API_KEY)) return 'L15: the key is printed';
  const at = text.indexOf(SECRET_MARK);
  if (at < 0) return null;
  return `L11: an answer is printed: ${text.slice(Math.max(0, at - 80), at + 20)}`;
}

/** The same in the files of the program. `hasSecret`: some field is not selected. */
export function storedSecret(dir: string, hasSecret: boolean): Breach | null {
  for (const file of filesOf(dir)) {
    const bytes = readFileSync(file);
    const place = file.slice(dir.length);
    if (bytes.includes(API_KEY)) return `L15: the key is in ${place}`;
    if (hasSecret && bytes.includes(SECRET_MARK))
      return `L11: an answer that is not selected is in ${place}`;
  }
  return null;
}

/**
 * Looks for forbidden texts in all files. `isSettled`: everything was compared since, so that no old text may be left either.
 */
export function bannedTraces(
  dir: string,
  source: Source,
  { erased, privateSince, hashed }: Banned,
  isSettled: boolean,
): Breach | null {
  if (erased.size === 0 && privateSince.size === 0) return null;
  for (const file of filesOf(dir)) {
    const place = file.slice(dir.length);
    for (const [text, id = '', digit, edition = '0'] of readFileSync(file, 'latin1').matchAll(
      TRACE,
    )) {
      if (erased.has(id)) return `L18: ${id}, which was forgotten, is in ${place}: ${text}`;
      const submission = digit === undefined ? undefined : source.submissions.get(id);
      const field = submission && fieldOf(source, submission, Number(digit));
      const since = field === undefined ? undefined : privateSince.get(field);
      if (submission === undefined || field === undefined || since === undefined) continue;
      const isNew = (submission.versions[Number(edition)]?.at ?? 0) > since;
      if (isNew || (isSettled && hashed.has(field)))
        return `L11: ${isNew ? 'a new' : 'an old'} answer to ${field}, which ${hashed.has(field) ? 'is to be hashed' : 'is not selected'}, is in ${place}: ${text}`;
    }
  }
  return null;
}

const fieldOf = (source: Source, { formId }: Submission, number: number): string | undefined =>
  source.formOf(formId)?.fields[number - 1]?.id;

const filesOf = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
