import type { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import type { FormIdentity } from '../../mirror/types.ts';

/** What the columns are that every form's table has besides those of its fields. */
export const SYSTEM_COLUMN_TEXTS: Readonly<Record<(typeof SYSTEM_COLUMNS)[number], string>> = {
  id: 'ID of the submission at the source.',
  status: 'Status of the submission at the source.',
  created_at: 'When it was submitted, in UTC; empty where the source tells no valid time.',
  _first_seen_at: 'When the mirror stored the submission for the first time.',
  _changed_at: 'When the mirror last changed this row.',
  _deleted_at: 'When the submission was found deleted at the source; empty while it is there.',
};

/** What the column is that holds what found no room in columns of its own. */
export const MORE_TEXT = 'Answers without a column of their own, as JSON by column name.';

/** What a form's table is, its view with labels, and that of its live rows. */
export const FORM_TEXTS = {
  table: ({ name }: FormIdentity) =>
    `The submissions of ${name}, those that are marked deleted included.`,
  labelled: ({ name }: FormIdentity) =>
    `The submissions of ${name}, with the current labels for names of columns.`,
  live: ({ name }: FormIdentity) => `The submissions of ${name} that are not marked deleted.`,
  versions: ({ name }: FormIdentity) =>
    `Every version that the submissions of ${name} had, as the mirror saw them: what was true at a time t has _valid_from <= t, and _valid_to > t or none.`,
};

/** What the label of a field is followed by where it names one of the columns that its answers stand in. */
export const PART_TEXTS = { own: '', text: ' (text)' } as const;

/** What a table of the catalogue is. */
export interface CatalogueText {
  readonly description: string;
  /** The columns of its primary key that people know it by. */
  readonly key: readonly string[];
  /** Whether it tells people something; the others are for the mirror itself. */
  readonly isForPeople: boolean;
}

/** Every table of the catalogue, those for people first. */
export const CATALOGUE_TEXTS: Readonly<Record<string, CatalogueText>> = {
  mirror_forms: forPeople('Every form that was ever mirrored, with its table and view.', 'form_id'),
  mirror_fields: forPeople(
    'The fields of the forms: column, current label, and when they were removed.',
    'form_id',
    'field_id',
  ),
  mirror_label_history: forPeople('Every label that a field had, and from when to when.'),
  mirror_status_history: forPeople(
    'Every status that a submission was seen in: first at seen_at, and last in another one at not_before.',
  ),
  mirror_checkpoints: forPeople(
    'Since when the copy of a form is proven complete, and was last compared row by row.',
    'form_id',
  ),
  mirror_passes: forPeople('Every pass: what it read, what it changed, and how it ended.'),
  mirror_rejected: forPeople(
    'Submissions that could not be stored, or not unchanged, and why.',
    'form_id',
    'submission_id',
    'reason',
  ),
  mirror_windows: forPeople(
    'The spans of time that a large form is read in, and since when each is proven.',
    'form_id',
    'ordinal',
  ),
  mirror_refusals: forPeople(
    'Changes of status that the source refused, and why.',
    'form_id',
    'submission_id',
    'status',
    'wanted',
  ),
  mirror_pauses: forPeople(
    'What people have paused, since when, who and why; the target as a whole where form_id is empty.',
    'form_id',
  ),
  mirror_meta: internal('The version of these tables.'),
  mirror_locks: internal('Who writes to a form.'),
  mirror_looks: internal('What the last look at the workspace found.'),
  mirror_forgotten: internal('Digests of the IDs of forgotten submissions.'),
  mirror_emptied: internal('Fields whose answers were removed.'),
};

function forPeople(description: string, ...key: string[]): CatalogueText {
  return { description, key, isForPeople: true };
}

function internal(description: string): CatalogueText {
  return { description: `${description} For the mirror itself.`, key: [], isForPeople: false };
}
