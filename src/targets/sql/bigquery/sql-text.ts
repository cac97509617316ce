import { cleanText } from '../row-batch.ts';
import type { JobParameter } from './bigquery-values.ts';

/** A dataset, by which its tables are named. */
export interface DatasetName {
  readonly project: string;
  readonly dataset: string;
}

/** A statement with what it takes. Parameters of statements that are run together have different names. */
export interface Statement {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, JobParameter>>;
  /** The table that it changes. */
  readonly mutates?: string;
}

/** How tables and views of a dataset are named in SQL. */
export const relationsOf =
  ({ project, dataset }: DatasetName) =>
  (name: string): string =>
    `\`${project}.${dataset}.${name}\``;

/** A name of a column: ours have letters, digits and underscores only. */
export const named = (name: string): string => `\`${name.replaceAll(/[`\\]/g, '')}\``;

/** A text as SQL writes it: its escapes are those of JSON. */
export const literal = (text: string): string => JSON.stringify(cleanText(text));

export const textParameter = (value: string | null): JobParameter => ({ type: 'STRING', value });

export const timeParameter = (value: string | null): JobParameter => ({ type: 'TIMESTAMP', value });

export const numberParameter = (value: number | null): JobParameter => ({
  type: 'INT64',
  value: value === null ? null : String(value),
});

/** A list of texts. */
export const listParameter = (value: readonly string[]): JobParameter => ({
  type: 'STRING',
  value,
});
