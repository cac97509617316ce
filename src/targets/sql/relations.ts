import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, hasPassed } from '../../base/clock.ts';
import { SYSTEM_COLUMNS, VIEW_SUFFIXES } from '../../mirror/column-names.ts';
import type { HistoryKind, TargetNotice } from '../../mirror/port.ts';
import type { Database } from './database.ts';
import { type Comment, quoted, relationsOf, type Session, type ViewedForm } from './dialect.ts';
import { readRecord, writeRecord } from './schema.ts';
import { answerColumns, publicViews, viewedForms } from './views.ts';
import { MORE } from './fields.ts';

/* The public tables and views: keeping them up to date, and describing them. */

/** The record of the views that were made. */
interface Made {
  /** By name, a digest of the view; '' for one of ours that shows something else. The texts would be long: some name every form. */
  readonly views: Readonly<Record<string, string>>;
  /** By form ID, a digest of the form that the views show: see {@link digestOfForm}. */
  readonly forms: Readonly<Record<string, string>>;
  /** Why a view could not be made, by its name: the rest of a sentence. */
  readonly notes: Readonly<Record<string, string>>;
}

const KEPT = 'views';
const NOT_AS_WANTED = '';
const NONE: Made = { views: {}, forms: {}, notes: {} };

/** The record of the views of this database. */
export const readMade = async (session: Session): Promise<Made> =>
  ((await readRecord(session, KEPT))?.value ?? NONE) as Made;

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** Whether a view shows only the form with this table. */
export const isViewOf =
  (table: string) =>
  (view: string): boolean =>
    VIEW_SUFFIXES.some((end) => view === table + end);

/** The notices about these views, as of the last time that views were made. */
export const viewNotices = ({ notes }: Made, isMeant: (view: string) => boolean): TargetNotice[] =>
  Object.entries(notes)
    .filter(([view]) => isMeant(view))
    .map(([view, text]) => ({
      code: 'VIEW_BEHIND',
      blocks: false,
      message: `The view ${view} ${text}`,
      remedy:
        'Close transactions that read it; a later run tries again. If this lasts, drop it, with views of yours that read it: a later run makes it again.',
    }));

/** A digest of everything that the views of a form depend on. */
function digestOfForm(form: ViewedForm, history: HistoryKind): string {
  const { slug, name, table, fields, columns } = form;
  return digestOf(JSON.stringify([slug, name, table, fields, [...columns].toSorted(), history]));
}

/** While other runs are in progress, making views takes at most a tenth of the time. */
const REST = 10;
/** How long a view that could not be made waits, because each try keeps its readers waiting; and the longest rest. */
const RETRY_MS = 60_000;

/**
 * Keeps the views of a database up to date with its forms. Some views show all forms, so each of many first copies would make larger
 * ones: while other runs of this process are in progress, views are made for several at a time.
 */
export class ViewKeeper {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #history: HistoryKind;
  #made = NONE;
  /** A run has ended whose form they do not show. */
  #isBehind = false;
  #madeAtMs = 0;
  /** How long that took. */
  #tookMs = 0;
  /** How many forms this process is writing to. */
  #writers = 0;
  /** Messages about views of other forms, and of all. */
  readonly #reported = new Set<string>();

  constructor(database: Database, clock: Clock, history: HistoryKind) {
    [this.#database, this.#clock, this.#history] = [database, clock, history];
  }

  /** A form is opened for writing. Returns a function to call when it is closed. */
  begin(): () => Promise<void> {
    this.#writers++;
    return async () => {
      this.#writers--;
      // Other runs may have left it to this one.
      if (this.#writers > 0 || !this.#isBehind) return;
      await this.make().then(
        () => this.#database.settle(),
        // The next run tries again.
        () => {},
      );
    };
  }

  /** A run ends. Returns notices about views of the form, and about views of all forms, the latter once. */
  async follow(form: ViewedForm): Promise<TargetNotice[]> {
    if (this.#made.forms[form.formId] !== digestOfForm(form, this.#history)) this.#isBehind = true;
    const mayRetry = Object.keys(this.#made.notes).length > 0 && this.#hasPassed(RETRY_MS);
    if (this.#isBehind ? this.#writers === 1 || this.#hasRested : mayRetry) await this.make();
    const others = viewNotices(this.#made, (view) => !isViewOf(form.table)(view)).filter(
      ({ message }) => !this.#reported.has(message),
    );
    for (const { message } of others) this.#reported.add(message);
    return [...viewNotices(this.#made, isViewOf(form.table)), ...others];
  }

  /** A run has stored rows, and goes on: others that have ended may be waiting for it. */
  async catchUp(): Promise<void> {
    // Its own rows are stored, also if this fails.
    if (this.#isBehind && this.#hasRested) await this.make().catch(() => {});
  }

  /** Makes the views that are missing or out of date. If one cannot be made, a later run tries again. */
  async make(): Promise<void> {
    const startMs = this.#clock.now();
    try {
      this.#made = await this.#database.transaction((tx) => makeViews(tx, this.#history));
      this.#isBehind = false;
    } finally {
      this.#madeAtMs = this.#clock.now();
      this.#tookMs = this.#madeAtMs - startMs;
    }
  }

  /** The record was read: another process may have made views. */
  note(made: Made): void {
    this.#made = made;
  }

  /** Has all views of a form made again: views follow a table or column that people rename, and would still show its contents. */
  async doubt(tx: Session, formId: string): Promise<void> {
    await tx.dialect.alone(tx);
    const made = await readMade(tx);
    const { [formId]: known, ...forms } = made.forms;
    if (known === undefined) return;
    this.#made = { ...made, forms };
    await writeRecord(tx, KEPT, this.#made, true);
  }

  get #hasRested(): boolean {
    return this.#hasPassed(Math.min(REST * this.#tookMs, RETRY_MS));
  }

  #hasPassed(ms: number): boolean {
    return hasPassed(this.#madeAtMs, ms, this.#clock.now());
  }
}

async function makeViews(tx: Session, history: HistoryKind): Promise<Made> {
  const { dialect } = tx;
  await dialect.alone(tx);
  const forms = await viewedForms(tx);
  const wanted = publicViews(dialect, forms, history === 'full');
  const before = await readMade(tx);
  const known = new Map(Object.entries(before.views));
  const shown = Object.fromEntries(
    forms.map((form) => [form.formId, digestOfForm(form, history)] as const),
  );
  const doubted = forms.filter(({ formId }) => before.forms[formId] === undefined);
  const relations = await relationsOf(tx);
  const isMade = ([name, sql]: readonly [string, string]): boolean =>
    relations.get(name) === 'view' &&
    known.get(name) === digestOf(sql) &&
    !doubted.some(({ table }) => sql.includes(quoted(table)));
  const gone = [...known.keys()].filter((name) => !wanted.has(name)).toReversed();
  const open = [...wanted].filter((view) => !isMade(view));
  if (gone.length + open.length === 0 && isDeepStrictEqual(before.forms, shown)) return before;
  const notes: Record<string, string> = {};
  const isOurs = (name: string): boolean =>
    !relations.has(name) || (known.has(name) && relations.get(name) === 'view');
  const next = new Map(known);
  for (const [name] of open) if (isOurs(name)) next.set(name, NOT_AS_WANTED);
  // Before the views, for a database that commits with each of them: the views that a killed process leaves are then known as ours.
  await writeRecord(tx, KEPT, { ...before, views: Object.fromEntries(next) }, true);
  const failed = (view: string, what: string, error: unknown): void => {
    const { message, detail = '' } = error as Error & { readonly detail?: string };
    const why = [message, ...detail.split('\n').filter((line) => line !== '')].join('; ');
    notes[view] = `${what}: ${why}`;
  };
  const drop = async (name: string): Promise<unknown> =>
    dialect.dropView?.(tx, name) ?? tx.run(`DROP VIEW IF EXISTS ${quoted(name)}`);
  for (const name of gone)
    try {
      if (relations.get(name) === 'view') await drop(name);
      next.delete(name);
    } catch (error) {
      failed(name, 'is not kept any more and could not be removed', error);
    }
  for (const [name, sql] of open) {
    if (!isOurs(name)) {
      notes[name] =
        'was not made: a table, view or index of yours has that name. To get ours, rename or drop it.';
      next.delete(name);
      continue;
    }
    try {
      await dialect.putView(tx, name, sql);
      next.set(name, digestOf(sql));
    } catch (error) {
      failed(name, 'could not be brought up to date', error);
      if (!relations.has(name)) next.delete(name);
    }
  }
  const made = {
    views: Object.fromEntries(next),
    forms: shown,
    notes,
  };
  await writeRecord(tx, KEPT, made, true);
  const ours = new Set([...next.keys(), ...forms.map(({ table }) => table)]);
  await dialect.comment?.(
    tx,
    commentsOn(forms).filter(({ relation }) => ours.has(relation)),
  );
  return made;
}

/** Descriptions of the columns that every form's table has in addition to its fields. */
const SYSTEM_TEXTS: Readonly<Record<(typeof SYSTEM_COLUMNS)[number], string>> = {
  id: 'ID of the submission at the source.',
  status: 'Status of the submission at the source.',
  created_at: 'When it was submitted, in UTC; empty if the source gives no valid time.',
  _first_seen_at: 'When the mirror stored the submission for the first time.',
  _changed_at: 'When the mirror last changed this row.',
  _deleted_at: 'When the submission was found deleted at the source; empty while it exists.',
};

const MORE_TEXT = 'Answers without a column of their own, as JSON by column name.';

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
    const own = answerColumns(form).map(({ label, labels, name: of }) =>
      on(table, of === MORE ? MORE_TEXT : label, of, labels),
    );
    return [
      on(table, 'The submissions of a form, including those marked deleted.'),
      ...SYSTEM_COLUMNS.map((of) => on(table, SYSTEM_TEXTS[of], of)),
      ...own,
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
