import { createHash } from 'node:crypto';
import { SYSTEM_COLUMNS } from '../../mirror/column-names.ts';
import { type Comment, quoted, relationsOf, type Session, type ViewedForm } from './dialect.ts';
import { readRecord, writeRecord } from './schema.ts';
import { answerColumns, publicViews, viewedForms } from './views.ts';
import { MORE } from './fields.ts';

/* The public tables and views: keeping them up to date, and describing them. */

const KEPT = 'views';

/**
 * Makes the views that are missing or out of date. Returns a sentence for each view that could not be made; the next run tries
 * again at its end. `doubted`: a table whose views are made again, even if they seem to be up to date: views follow a table or
 * column that people rename, and would still show its contents after the mirror has made another one.
 */
export async function makeViews(
  tx: Session,
  history: boolean,
  doubted: string | null = null,
): Promise<string[]> {
  const { dialect } = tx;
  await dialect.alone(tx);
  const notes: string[] = [];
  const forms = await viewedForms(tx);
  const wanted = publicViews(dialect, forms, history);
  const kept = (await readRecord(tx, KEPT))?.value ?? null;
  const made = new Map(Object.entries((kept ?? {}) as Record<string, string>));
  const relations = await relationsOf(tx);
  const isMade = ([name, sql]: readonly [string, string]): boolean =>
    relations.get(name) === 'view' &&
    made.get(name) === digestOf(sql) &&
    (doubted === null || !sql.includes(quoted(doubted)));
  const gone = [...made.keys()].filter((name) => !wanted.has(name)).toReversed();
  const open = [...wanted].filter((view) => !isMade(view));
  if (kept !== null && gone.length + open.length === 0) return notes;
  const isOurs = (name: string): boolean =>
    !relations.has(name) || (made.has(name) && relations.get(name) === 'view');
  const next = new Map(made);
  for (const [name] of open) if (isOurs(name)) next.set(name, NOT_AS_WANTED);
  // Before the views, for a database that commits with each of them: the views that a killed process leaves are then known as ours.
  await writeRecord(tx, KEPT, Object.fromEntries(next), true);
  const failed = (what: string, error: unknown): void => {
    const { message, detail = '' } = error as Error & { readonly detail?: string };
    const why = [message, ...detail.split('\n').filter((line) => line !== '')].join('; ');
    notes.push(`The view ${what}: ${why}`);
  };
  const drop = async (name: string): Promise<unknown> =>
    dialect.dropView?.(tx, name) ?? tx.run(`DROP VIEW IF EXISTS ${quoted(name)}`);
  for (const name of gone)
    try {
      if (relations.get(name) === 'view') await drop(name);
      next.delete(name);
    } catch (error) {
      failed(`${name} is not kept any more and could not be removed`, error);
    }
  for (const [name, sql] of open) {
    if (!isOurs(name)) {
      notes.push(
        `The view ${name} was not made: a table, view or index of yours has that name. To get ours, rename or drop it.`,
      );
      next.delete(name);
      continue;
    }
    try {
      await dialect.putView(tx, name, sql);
      next.set(name, digestOf(sql));
    } catch (error) {
      failed(`${name} could not be brought up to date`, error);
      if (!relations.has(name)) next.delete(name);
    }
  }
  await writeRecord(tx, KEPT, Object.fromEntries(next), true);
  const ours = new Set([...next.keys(), ...forms.map(({ table }) => table)]);
  await dialect.comment?.(
    tx,
    commentsOn(forms).filter(({ relation }) => ours.has(relation)),
  );
  return notes;
}

/** The record for one of our views that shows something else. */
const NOT_AS_WANTED = '';

/** What a record says of a view. The texts of all views would be long: two of them name every form. */
const digestOf = (sql: string): string => createHash('sha256').update(sql).digest('base64url');

/** Descriptions of the columns that every form's table has in addition to its fields. */
const SYSTEM_TEXTS: Readonly<Record<(typeof SYSTEM_COLUMNS)[number], string>> = {
  id: 'ID of the submission at the source.',
  status: 'Status of the submission at the source.',
  created_at: 'When it was submitted, in UTC; empty if the source gives no valid time.',
  _first_seen_at: 'When the mirror stored the submission for the first time.',
  _changed_at: 'When the mirror last changed this row.',
  _deleted_at: 'When the submission was found deleted at the source; empty while it exists.',
};

/** The views over all forms. */
const SHARED: Readonly<Record<string, string>> = {
  submissions: 'The submissions of all forms, including those marked deleted.',
  answers: 'The answers of all forms: a row for each answer, and for each choice of several.',
  freshness:
    'How many rows each form has, and as of when submissions, statuses and answers are known.',
  mirror_forms: 'Every form that was ever copied, with its table and view.',
  mirror_fields: 'The fields of the forms: column and current label.',
  mirror_label_history: 'Every label that a field had, and when.',
  mirror_status_history:
    'Every status that a submission was seen in. It changed between not_before and seen_at.',
  mirror_runs: 'Every run: how many rows it changed, and how it ended.',
  mirror_rejected: 'Submissions that could not be stored, or were stored with changes, and why.',
};

/** The end of the comment on a column that gets no more answers. */
const NO_LONGER = ' (no longer in the form, or no longer selected)';

/** The comments on everything that may be ours. The database skips missing relations and columns. */
function commentsOn(forms: readonly ViewedForm[]): Comment[] {
  const on = (
    relation: string,
    text: string,
    column: string | null = null,
    former: readonly string[] = [],
  ): Comment => ({ relation, column, text, former });
  const ofForms = forms.flatMap((form) => {
    const { table } = form;
    const own = answerColumns(form).map(({ label, labels, isInForm, name: of }) => {
      const former = labels.flatMap((each) => [each, each + NO_LONGER]);
      return on(table, isInForm ? label : label + NO_LONGER, of, former);
    });
    return [
      on(table, 'The submissions of a form, including those marked deleted.'),
      ...SYSTEM_COLUMNS.map((of) => on(table, SYSTEM_TEXTS[of], of)),
      ...own,
      on(table, 'Answers without a column of their own, as JSON by column name.', MORE),
      on(
        `${table}_labelled`,
        'The submissions of a form, with the current labels as column names.',
      ),
      on(`${table}_live`, 'The submissions of a form that are not marked deleted.'),
      on(`${table}_history`, 'Every version that the submissions of a form had.'),
    ];
  });
  return [...ofForms, ...Object.entries(SHARED).map(([name, text]) => on(name, text))];
}
