import { CATALOGUE_TEXTS } from '../descriptions.ts';
import type { ColumnShape, TableShape } from './bigquery-tables.ts';

/*
 * The catalogue of a dataset: what is kept of forms (`mirror_state`), the lists beside it, and the views by which people read both
 * under the names that every SQL target has.
 */

/** The table of states; rows whose key begins with `#` are no form's. */
export const STATE = 'mirror_state';
/** The list of what could not be stored as it is. */
export const REJECTED = 'mirror_rejected';
/** Keys of rows that are no form's. */
export const CATALOGUE_KEY = '#catalogue';
export const PAUSES_KEY = '#pauses';
/** The key of the lease of whoever marks a form. */
export const markingKey = (formId: string): string => `#marking ${formId}`;
/** The key of the copy of what is noted of a form's forgotten submissions. */
export const copyKey = (formId: string): string => `#forgotten ${formId}`;

/** The schema of the mirror, as the row {@link CATALOGUE_KEY} has it: to be raised with every change of what is stored. */
export const CATALOGUE_VERSION = 2;

const columnsOf = (columns: Readonly<Record<string, ColumnShape['type']>>): ColumnShape[] =>
  Object.entries(columns).map(([name, type]) => ({ name, type, description: '' }));

const descriptionOf = (name: string): string => CATALOGUE_TEXTS[name]?.description ?? '';

/** The history of statuses. */
export const STATUSES: TableShape = {
  name: 'mirror_status_history',
  kind: 'table',
  description: descriptionOf('mirror_status_history'),
  clusteredBy: ['submission_id'],
  columns: columnsOf({
    id: 'INT64',
    form_id: 'STRING',
    submission_id: 'STRING',
    status: 'STRING',
    not_before: 'TIMESTAMP',
    seen_at: 'TIMESTAMP',
  }),
};

/** The tables of the catalogue, {@link STATE} last. */
export const CATALOGUE_TABLES: readonly TableShape[] = [
  {
    name: 'mirror_passes',
    kind: 'table',
    description: descriptionOf('mirror_passes'),
    clusteredBy: ['form_id'],
    columns: columnsOf({
      id: 'INT64',
      form_id: 'STRING',
      kind: 'STRING',
      started_at: 'TIMESTAMP',
      ended_at: 'TIMESTAMP',
      outcome: 'STRING',
      requests: 'INT64',
      total: 'INT64',
      distinct_seen: 'INT64',
      inserted: 'INT64',
      updated: 'INT64',
      unchanged: 'INT64',
      deleted: 'INT64',
      rejected: 'INT64',
      withheld: 'INT64',
      error_code: 'STRING',
      error: 'STRING',
      billed_bytes: 'INT64',
      statements: 'INT64',
    }),
  },
  STATUSES,
  {
    name: REJECTED,
    kind: 'table',
    description: descriptionOf(REJECTED),
    clusteredBy: ['form_id', 'submission_id'],
    columns: columnsOf({
      form_id: 'STRING',
      submission_id: 'STRING',
      reason: 'STRING',
      stored: 'BOOL',
      first_seen_at: 'TIMESTAMP',
      last_seen_at: 'TIMESTAMP',
      last_epoch: 'INT64',
    }),
  },
  {
    name: 'mirror_refusals',
    kind: 'table',
    description: descriptionOf('mirror_refusals'),
    clusteredBy: ['form_id', 'submission_id'],
    columns: columnsOf({
      form_id: 'STRING',
      submission_id: 'STRING',
      status: 'STRING',
      wanted: 'STRING',
      reason: 'STRING',
      refused_at: 'TIMESTAMP',
    }),
  },
  {
    name: 'mirror_forgotten',
    kind: 'table',
    description: descriptionOf('mirror_forgotten'),
    clusteredBy: ['form_id'],
    columns: columnsOf({
      form_id: 'STRING',
      id_hash: 'STRING',
      forgotten_at: 'TIMESTAMP',
    }),
  },
  {
    name: STATE,
    kind: 'table',
    description: 'What the mirror keeps of each form, and who writes to it. For the mirror itself.',
    clusteredBy: ['form_id'],
    columns: columnsOf({
      form_id: 'STRING',
      epoch: 'INT64',
      holder: 'STRING',
      leased_until: 'TIMESTAMP',
      commit_number: 'INT64',
      state: 'STRING',
    }),
  },
];

/** A view of the catalogue. */
export interface CatalogueView {
  readonly name: string;
  readonly sql: string;
  readonly description: string;
}

type Items = Readonly<Record<string, string>>;

const value = (path: string, json = 's.state'): string => `JSON_VALUE(${json}, '$.${path}')`;
const time = (path: string, json?: string): string => `CAST(${value(path, json)} AS TIMESTAMP)`;
const number = (path: string, json?: string): string => `CAST(${value(path, json)} AS INT64)`;
const truth = (path: string, json?: string): string => `CAST(${value(path, json)} AS BOOL)`;

/** A form that was ever mirrored. */
const IS_FORM = `NOT STARTS_WITH(s.form_id, '#') AND ${value('table')} IS NOT NULL`;

/** The views of the catalogue. `relation`: how tables are named. */
export function catalogueViews(relation: (name: string) => string): CatalogueView[] {
  const view = (name: string, items: Items, from: string, where: string): CatalogueView => {
    const select = Object.entries(items).map(
      ([column, expression]) => `${expression} AS ${column}`,
    );
    const sql = `SELECT ${select.join(', ')} FROM ${relation(STATE)} AS s${from} WHERE ${where}`;
    return { name, sql, description: descriptionOf(name) };
  };
  const each = (path: string, as: string): string =>
    ` CROSS JOIN UNNEST(JSON_QUERY_ARRAY(s.state, '$.${path}')) AS ${as}`;
  return [
    view('mirror_forms', FORMS, '', IS_FORM),
    view('mirror_fields', FIELDS, each('fields', 'f'), IS_FORM),
    view('mirror_label_history', LABELS, each('labels', 'l'), IS_FORM),
    view(
      'mirror_checkpoints',
      CHECKPOINTS,
      '',
      `${IS_FORM} AND ${value('checkpoint.total')} IS NOT NULL`,
    ),
    view('mirror_windows', WINDOWS, `${each('windows', 'w')} WITH OFFSET AS place`, IS_FORM),
    view('mirror_pauses', PAUSES, each('pauses', 'p'), `s.form_id = '${PAUSES_KEY}'`),
  ];
}

const FORMS: Items = {
  form_id: 's.form_id',
  slug: value('slug'),
  name: value('name'),
  table_name: value('table'),
  view_name: value('view'),
  first_seen_at: time('firstSeenAt'),
  gone_at: time('goneAt'),
  statuses_since: time('statusesSince'),
  history_table: value('history.table'),
  row_count: number('counts.rows'),
  live_count: number('counts.live'),
  rejected_count: number('counts.rejected'),
  forgotten_count: number('counts.forgotten'),
};

const FIELDS: Items = {
  form_id: 's.form_id',
  field_id: value('id', 'f'),
  column_name: value('column', 'f'),
  label: value('label', 'f'),
  position: number('position', 'f'),
  ordinal: number('ordinal', 'f'),
  type: value('type', 'f'),
  text_column: value('textColumn', 'f'),
  view_label: value('viewLabel', 'f'),
  first_seen_at: time('firstSeenAt', 'f'),
  removed_at: time('removedAt', 'f'),
};

const LABELS: Items = {
  form_id: 's.form_id',
  field_id: value('fieldId', 'l'),
  label: value('label', 'l'),
  valid_from: time('from', 'l'),
  valid_to: time('to', 'l'),
};

const CHECKPOINTS: Items = {
  form_id: 's.form_id',
  watermark: time('checkpoint.watermark'),
  total: number('checkpoint.total'),
  proven_at: time('checkpoint.provenAt'),
  full_proven_at: time('checkpoint.fullProvenAt'),
  absent: number('checkpoint.absent'),
  withheld: number('checkpoint.withheld'),
  hidden: number('checkpoint.hidden'),
  proven_for: value('checkpoint.provenFor'),
  statuses: value('checkpoint.statuses'),
  unstored: value('checkpoint.unstored'),
  counts_at: time('checkpoint.countsAt'),
};

const WINDOWS: Items = {
  form_id: 's.form_id',
  ordinal: 'place',
  from_at: time('from', 'w'),
  to_at: time('to', 'w'),
  total: number('total', 'w'),
  proven_at: time('provenAt', 'w'),
  proven_for: value('provenFor', 'w'),
  deleted: number('deleted', 'w'),
  absent: number('absent', 'w'),
  unstored: value('unstored', 'w'),
  is_open: truth('open', 'w'),
  failed_at: time('failedAt', 'w'),
};

const PAUSES: Items = {
  form_id: `COALESCE(${value('formId', 'p')}, '')`,
  paused_at: time('since', 'p'),
  paused_by: value('by', 'p'),
  reason: value('reason', 'p'),
};
