import type { BigQueryJobs } from './bigquery-jobs.ts';
import { literal } from './sql-text.ts';

/*
 * What belongs to no form, and is read or changed with every look, every few jobs, or by every process: each is the text of a view of one constant. Views are read and
 * changed by REST, which bills nothing; a row in a table would be billed, and would have BigQuery read that table anew for whoever asks.
 */

/** A record that is kept so. */
export interface KeptRecord {
  /** The name of its view. */
  readonly view: string;
  /** For people. */
  readonly description: string;
}

/** What the newest look found. */
export const LOOK_RECORD: KeptRecord = {
  view: 'mirror_look',
  description: 'What the newest look at the source found. For the mirror itself.',
};

/** Which form each slug in the settings first named. */
export const SLUGS_RECORD: KeptRecord = {
  view: 'mirror_slugs',
  description: 'Which form each slug in the settings first named. For the mirror itself.',
};

/** What was billed on a day, by all processes. */
export const DAY_RECORD: KeptRecord = {
  view: 'mirror_day',
  description:
    'What BigQuery billed the mirror on a day, where a setting limits it. For the mirror itself.',
};

const RECORD = /^SELECT ("(?:[^"\\]|\\.)*") AS record$/;

const sqlOf = (text: string): string => `SELECT ${literal(text)} AS record`;

/** The text that such a view holds; null where people made it something else. */
function textOf(sql: string | undefined): string | null {
  const quoted = sql === undefined ? undefined : RECORD.exec(sql)?.[1];
  if (quoted === undefined) return null;
  try {
    const text: unknown = JSON.parse(quoted);
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}

/** What a record says now; null where there is none. Bills nothing. */
export async function readRecord(
  jobs: Pick<BigQueryJobs, 'table'>,
  { view }: KeptRecord,
): Promise<string | null> {
  return textOf((await jobs.table(view))?.sql);
}

/**
 * Makes a record what `change` makes of it, which may be asked several times, as somebody else may be faster or an answer be lost; undefined leaves it.
 * Bills nothing. Rejects where there is no dataset.
 */
export function changeRecord(
  jobs: Pick<BigQueryJobs, 'changeView'>,
  { view, description }: KeptRecord,
  change: (text: string | null) => string | undefined,
): Promise<void> {
  return jobs.changeView(view, description, (sql) => {
    const text = change(textOf(sql));
    return text === undefined ? undefined : sqlOf(text);
  });
}
