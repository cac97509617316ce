import { namesForms } from './behaviours.ts';
import type { Breach } from './breach.ts';
import type { CopiedForm, CopiedRow, Copy } from './copy.ts';
import { clockTime, type Special } from './judge.ts';
import type { Claim } from './program.ts';
import type { Source, SourceForm } from './source.ts';

/** The events since a copy was last read. */
export interface Since {
  /** When an ID was last answered with 404 or 410. */
  readonly goneAt: (id: string) => number;
  /** The maximum number of rows that may be marked deleted in a form with this many live ones. */
  readonly mostDeleted: (live: number) => number;
  /** Rows that were marked deleted before may have been purged. */
  readonly isPurged: boolean;
  /**
   * When people last moved cells of a form while it was written: the next run corrects values that were written beside
   * their places.
   */
  readonly rearrangedAt: (formId: string) => number;
}

/** Faults of the copy that it shows on its own, or compared with the copy that was read before. */
export class CopyWatch {
  readonly #columns = new Map<string, string>();
  #before: Copy = new Map();
  #beforeAt = 0;

  look(source: Source, copy: Copy, target: string, special: Special, since: Since): Breach[] {
    const breaches: Breach[] = [];
    for (const [formId, form] of copy) {
      const touched = special.touched.get(`${target} ${formId}`) ?? 0;
      breaches.push(
        ...formBreaches(source, form, target, special),
        ...addedBreaches(
          form,
          target,
          special.isProtected(target, formId),
          since.rearrangedAt(formId),
        ),
        ...(touched === 0 ? historyBreaches(source, form) : []),
        ...this.#columnsOf(form, target),
      );
      const before = this.#before.get(formId);
      const rearrangedAt = since.rearrangedAt(formId);
      const isAstray = rearrangedAt > 0 && rearrangedAt >= this.#beforeAt;
      if (before !== undefined && !isAstray)
        breaches.push(...lostLabels(source, before, form, touched > 0));
      if (before !== undefined && touched < this.#beforeAt)
        breaches.push(...this.#changes(source, before, form, special, since, isAstray));
    }
    this.#before = copy;
    this.#beforeAt = source.now;
    return breaches;
  }

  #changes(
    source: Source,
    before: CopiedForm,
    form: CopiedForm,
    special: Special,
    { goneAt, isPurged, mostDeleted }: Since,
    isAstray: boolean,
  ): Breach[] {
    const breaches: Breach[] = [];
    let [live, deleted] = [0, 0];
    for (const [id, was] of before.rows) {
      if (!was.isDeleted) live++;
      const is = form.rows.get(id);
      if (is === undefined) {
        if (!special.forgotten.has(id) && !(isPurged && was.isDeleted) && !isAstray)
          breaches.push(`L8: the row of ${id} has vanished from ${form.table}`);
        continue;
      }
      if (is.isDeleted && !was.isDeleted) {
        deleted++;
        if (goneAt(id) < this.#beforeAt && !isAstray)
          breaches.push(
            `L8: ${id} was marked deleted, and never answered 404 or 410 since ${clockTime(this.#beforeAt)}`,
          );
      }
      const had = before.statuses?.get(id) ?? [];
      const has = form.statuses?.get(id) ?? [];
      if (form.statuses !== null && !isPurged && !had.every((status, at) => status === has[at]))
        breaches.push(
          `L17: the history of ${id} showed ${had.join(', ')}, and shows ${has.join(', ')}`,
        );
      if (is.changedAt === was.changedAt) continue;
      const submission = source.submissions.get(id);
      const lives = source.formOf(form.formId)?.lives ?? [];
      const isQuiet = [...(submission?.versions ?? []), ...lives].every(
        ({ at }) => at < this.#beforeAt,
      );
      // One that answered by its ID as if it were gone was marked deleted, and restored when the list showed it.
      const wasGone = goneAt(id) >= this.#beforeAt;
      if (isQuiet && !wasGone && contentOf(is) === contentOf(was))
        breaches.push(`L4: the row of ${id} was written again without a change`);
    }
    if (deleted > mostDeleted(live))
      breaches.push(
        `L8: ${deleted} of ${live} rows of ${form.formId} were marked deleted at once, and nobody accepted that`,
      );
    return breaches;
  }

  #columnsOf(form: CopiedForm, target: string): Breach[] {
    const breaches: Breach[] = [];
    const owners = new Map<string, string>();
    for (const { fieldId, column, textColumn } of form.fields) {
      for (const name of [column, textColumn]) {
        if (name === null) continue;
        const owner = owners.get(name);
        if (owner !== undefined && owner !== fieldId)
          breaches.push(`L9: ${owner} and ${fieldId} share the column ${name}`);
        owners.set(name, fieldId);
      }
      if (column === null) continue;
      const key = `${target} ${form.formId} ${fieldId}`;
      const known = this.#columns.get(key);
      if (known !== undefined && known !== column)
        breaches.push(`L9: ${fieldId} was in the column ${known} and is in ${column}`);
      this.#columns.set(key, column);
    }
    return breaches;
  }
}

/** Data that a form in a copy may never show. */
function formBreaches(
  source: Source,
  form: CopiedForm,
  target: string,
  special: Special,
): Breach[] {
  const breaches: Breach[] = [];
  if (form.twice.length > 0) breaches.push(`L5: ${form.twice[0]} has two rows`);
  // If nothing names the form, such rows may be stored by a run that ends incomplete: only a claim is broken by them.
  for (const id of namesForms(source.behaviour) ? form.rows.keys() : []) {
    const owner = source.submissions.get(id)?.formId ?? form.formId;
    if (owner !== form.formId) breaches.push(`L3: ${id} of ${owner} is in ${form.table}`);
  }
  for (const id of special.erased) {
    const isLeft = form.people?.others.some((row) => row.id === id) === true;
    if (form.rows.has(id) || form.rejected.has(id) || isLeft)
      breaches.push(`L18: ${id} was forgotten, and is in ${form.table} again`);
  }
  for (const [id, { reason, isStored, isBlocked }] of form.rejected) {
    const submission = source.submissions.get(id);
    if (isBlocked === true && special.isProtected(target, form.formId)) continue;
    if (submission?.defect !== 'none' || submission.sick) continue;
    // If many do not answer, others are asked only once, and one that was gone for a time may stay undecided until the next run.
    const lives = [...submission.versions, ...(source.formOf(submission.formId)?.lives ?? [])];
    const wasGone = lives.some(({ exists }) => !exists);
    if (source.behaviour.sickId !== 'none' && isStored && wasGone) continue;
    // If `formId` is ignored, a form lists submissions of others.
    if (source.behaviour.formFilter === 'ignored' && submission.formId !== form.formId) continue;
    // One that changed while an unordered list was read cannot be distinguished from one that the list contains twice,
    // differently.
    if (!isStored || submission.versions.length === 1)
      breaches.push(`L6: ${id} is listed as rejected (${reason}), and nothing is wrong with it`);
  }
  return breaches;
}

/**
 * People's additions to a sheet stay in place (L9): notes and texts beside their submission; filters and tables take in new rows,
 * except for rows that come while people move rows, or cannot be added above the last one because of a protection.
 */
function addedBreaches(
  { formId, people }: CopiedForm,
  target: string,
  isProtected: boolean,
  rearrangedAt: number,
): Breach[] {
  if (people === undefined) return [];
  const outside = isProtected || rearrangedAt > 0 ? [] : people.outside;
  return [...people.misplaced, ...outside].map(
    (text): Breach => `L9: in ${formId} of ${target}, ${text}`,
  );
}

/** `status` counts the rows of the copy. `held`: undefined if the copy has no such form, or people changed it since. */
export function countBreach(
  { formId, target, rows, deletedRows }: Claim,
  held: CopiedForm | undefined,
): Breach | null {
  if (held === undefined || rows === null) return null;
  const stored = [...held.rows.values()];
  const deleted = stored.filter(({ isDeleted }) => isDeleted).length;
  const counts = [rows, deletedRows].join(' and ');
  const real = [stored.length - deleted, deleted].join(' and ');
  if (counts === real) return null;
  const text = `status counts ${counts} live and deleted rows of ${formId} in ${target}, and there are ${real}`;
  return `L17: ${text}`;
}

/** `status` reports the rows that people copied, and those whose ID they cleared. */
export function namedBreach(
  { formId, target, notices }: Claim,
  held: CopiedForm | undefined,
): Breach | null {
  for (const { id, status, createdAt } of held?.people?.others ?? []) {
    // The remains of a copy are not reported.
    if (status === '' || createdAt === '') continue;
    const code = id === '' ? 'ROWS_WITHOUT_ID' : 'ROWS_COPIED';
    if (!notices.includes(code))
      return `L17: a row ${id === '' ? 'without an ID' : `that repeats ${id}`} is in ${formId} in ${target}, and status does not name it`;
  }
  return null;
}

/** The history of statuses ends with the status of the row, and shows no change that the source did not make. */
function historyBreaches(source: Source, { rows, statuses }: CopiedForm): Breach[] {
  if (statuses === null) return [];
  for (const [id, { status }] of rows) {
    const seen = statuses.get(id) ?? [];
    if (seen.at(-1) !== status)
      return [
        `L17: ${id} is stored as ${status}, and the history of its statuses ends with ${seen.at(-1) ?? 'nothing'}`,
      ];
    const submission = source.submissions.get(id);
    if (submission === undefined || submission.defect === 'status') continue;
    const had = submission.versions.map((version) => version.status);
    if (!isAmong(seen, had))
      return [
        `L13: the history of ${id} shows ${seen.join(', ')}, and the source had ${had.join(', ')}`,
      ];
  }
  return [];
}

/** Whether these come in this order; others may come between them. */
function isAmong(some: readonly string[], all: readonly string[]): boolean {
  let at = -1;
  return some.every((each) => (at = all.indexOf(each, at + 1)) !== -1);
}

/**
 * After a run that read the form since `from`: each label is one that the source has shown since then (L9). For the copy,
 * a field that is no longer selected is like a deleted one: it keeps its last label.
 */
export function labelBreach(
  form: SourceForm,
  held: CopiedForm,
  from: number,
  isSelected: (fieldId: string) => boolean,
): Breach | null {
  for (const { fieldId, label } of held.fields) {
    const field = form.fields.find(({ id }) => id === fieldId);
    if (field?.exists !== true || !isSelected(fieldId)) continue;
    const first = field.labels.findLastIndex(({ at }) => at <= from);
    const shown = field.labels
      .slice(Math.max(0, first))
      .map((each) => labelOrId(each.label, fieldId));
    if (!shown.includes(label.trim()))
      return `L9: the label of ${fieldId} is "${label}" in the copy, and "${shown.join('", "')}" at the source`;
  }
  return null;
}

/** A deleted field keeps its last label (L9). In a sheet its column is gone if people deleted it. */
function lostLabels(
  source: Source,
  before: CopiedForm,
  { formId, fields }: CopiedForm,
  isTouched: boolean,
): Breach[] {
  return before.fields.flatMap(({ fieldId, label }): Breach[] => {
    const field = source.formOf(formId)?.fields.find(({ id }) => id === fieldId);
    // In a sheet, one of two equal labels has a number, also after people deleted the other column.
    const now = fields.find((each) => each.fieldId === fieldId)?.label.replace(/ \(\d+\)$/, '');
    if (now === undefined && isTouched) return [];
    if (field?.labels.some((each) => labelOrId(each.label, fieldId) === now?.trim()) !== false)
      return [];
    const text = `${fieldId} had the label "${label}" in the copy, and has "${now}", which it never had`;
    return label === now ? [] : [`L9: ${text}`];
  });
}

/** A field without a label is shown by its ID. Space around a label is ignored: a header of a sheet has none. */
const labelOrId = (label: string, id: string): string => label.trim() || id;

const contentOf = ({ status, createdAt, isDeleted, cells }: CopiedRow): string =>
  JSON.stringify([
    status,
    createdAt,
    isDeleted,
    Object.entries(cells).map(([name, cell]) => [name, String(cell)]),
  ]);

/** After a purge: submissions that were marked deleted before this time have no row any more (L18). */
export function purgeBreach(copy: Copy, target: string, beforeMs: number): Breach | null {
  for (const { rows } of copy.values()) {
    for (const { id, deletedAt } of rows.values()) {
      if (deletedAt !== null && Date.parse(deletedAt) < beforeMs)
        return `L18: ${id} was marked deleted at ${deletedAt}, and is still in ${target}`;
    }
  }
  return null;
}
