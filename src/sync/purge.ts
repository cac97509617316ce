import { toMirrorError } from '../base/errors.ts';
import { count } from '../base/format.ts';
import { shellOption } from '../base/printable.ts';
import type { TargetNotice } from '../mirror/port.ts';
import { type FieldPicks, isPicked } from '../mirror/picks.ts';
import type { StoringSettings } from '../mirror/proven-for.ts';
import { type Copy, type Erasure, type FormOverview, NOTHING_ERASED } from '../mirror/target.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { type EraseOptions, type ErasureReport, scrubbed, writing } from './erase.ts';
import { plainFieldsOf } from './plain-columns.ts';

/** A field whose column still holds answers though it is not picked any more. */
export type UnpickedField = FormOverview['filledFields'][number];

/** The fields of a form whose columns hold answers that may not leave the source any more (L11). */
export function unpickedFields(picks: FieldPicks, overview: FormOverview): UnpickedField[] {
  const { formId: id, slug, filledFields } = overview;
  return filledFields.filter((field) => !isPicked(picks, { id, slug }, field.id));
}

/** What there is to say of such columns, which a pass leaves as they are; undefined when there are none. */
export function unpickedNotice(
  picks: FieldPicks,
  overview: FormOverview,
  target: string,
): TargetNotice | undefined {
  const fields = unpickedFields(picks, overview);
  if (fields.length === 0) return undefined;
  const shown = fields.slice(0, MOST_NAMED).map(({ id, label }) => `"${label}" (${id})`);
  const more = fields.length - shown.length;
  const names = `${shown.join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`;
  const one = fields.length === 1;
  const form = shellOption('--form', overview.slug || overview.formId);
  const which = `${form} ${shellOption('--target', target)}`;
  return {
    code: 'UNPICKED_ANSWERS',
    blocks: false,
    tab: overview.location,
    columns: fields.map(({ label }) => label),
    rows: [],
    message: `The ${one ? 'column' : 'columns'} of ${names} may still hold answers, though ${one ? 'the field is' : 'the fields are'} no longer picked.`,
    remedy: `To empty ${one ? 'it' : 'them'}, which cannot be undone: forms-mirror purge --unpicked ${which}`,
  };
}

/** Columns named in a notice. */
const MOST_NAMED = 10;

/** Forms to purge in one target. */
export interface PurgeScope {
  readonly target: Copy;
  /** Undefined: no fields are picked for it, so nothing is known to be unpicked. */
  readonly storing: StoringSettings | undefined;
  /** Whether the settings have the target mirror a form. */
  readonly isChosen: (form: FormIdentity) => boolean;
  readonly includes: (form: FormIdentity) => boolean;
}

/** {@link EraseOptions} of a purge; `dryRun`: counts and changes nothing. */
export interface PurgeOptions extends EraseOptions {
  readonly dryRun: boolean;
}

/** Removes rows that were marked deleted before `before` (ISO); the forms in which there were any. */
export const purgeDeleted = (
  scopes: readonly PurgeScope[],
  before: string,
  options: PurgeOptions,
): Promise<ErasureReport[]> =>
  inEachForm(scopes, async ({ target }, overview, form) => {
    // Where there are histories, what has no row any more may have been.
    if (overview.deletedRows === 0 && target.pruneHistory === undefined) return undefined;
    const rows = (await (await target.reader(form.id))?.countDeleted(before)) ?? 0;
    if (rows === 0) return undefined;
    if (options.dryRun) return { asked: rows, erasure: { ...NOTHING_ERASED, rows } };
    const erasure = await writing(target, form, options, (writer) => writer.purgeDeleted(before));
    return { asked: rows, erasure, failure: await scrubbed(target) };
  });

/** What emptying columns did: `fields` are those that were emptied. */
export interface UnpickedReport extends ErasureReport {
  readonly fields: readonly UnpickedField[];
}

/**
 * Empties the columns of fields that are no longer picked, and those of fields to be hashed that hold plain answers in forms
 * that no pass writes again; the forms that have such columns. `rows`: how many held something.
 */
export async function purgeUnpicked(
  scopes: readonly PurgeScope[],
  at: string,
  options: PurgeOptions,
): Promise<UnpickedReport[]> {
  const fieldsOf = new Map<string, UnpickedField[]>();
  const key = (target: string, formId: string): string => JSON.stringify([target, formId]);
  const reports = await inEachForm(
    scopes,
    async ({ target, storing, isChosen }, overview, form) => {
      if (storing === undefined) return undefined;
      const plain = await plainFieldsOf(target, { storing, isChosen }, overview);
      const fields = [...unpickedFields(storing.picks, overview), ...plain];
      if (fields.length === 0) return undefined;
      fieldsOf.set(key(target.name, form.id), fields);
      const ids = fields.map(({ id }) => id);
      const reader = await target.reader(form.id);
      if (options.dryRun) {
        const rows = (await reader?.countFilled(ids)) ?? 0;
        return { asked: ids.length, erasure: { ...NOTHING_ERASED, rows } };
      }
      const rows = await writing(target, form, options, (writer) => writer.emptyFields(ids, at));
      const failure = await scrubbed(target);
      return { asked: ids.length, erasure: { ...NOTHING_ERASED, rows }, failure };
    },
  );
  return reports.map((report) => {
    const fields = fieldsOf.get(key(report.target, report.form.id)) ?? [];
    return Object.assign({}, report, { fields });
  });
}

/** What was done in a form. */
interface Purged extends Pick<ErasureReport, 'asked'>, Partial<Pick<ErasureReport, 'failure'>> {
  readonly erasure: Erasure;
}

/** Runs `work` for each form of each target; a target or form that fails holds up no other (L12). */
async function inEachForm(
  scopes: readonly PurgeScope[],
  work: (
    scope: PurgeScope,
    overview: FormOverview,
    form: FormIdentity,
  ) => Promise<Purged | undefined>,
): Promise<ErasureReport[]> {
  const reports: ErasureReport[] = [];
  for (const scope of scopes) {
    const about = { target: scope.target.name, asked: 0, ...NOTHING_ERASED };
    let overviews: readonly FormOverview[] = [];
    try {
      overviews = await scope.target.overview();
    } catch (error) {
      const form = { id: '', slug: '', name: '' };
      reports.push({ ...about, form, failure: toMirrorError(error) });
    }
    for (const overview of overviews) {
      const form = { id: overview.formId, slug: overview.slug, name: overview.name };
      if (!scope.includes(form)) continue;
      try {
        const done = await work(scope, overview, form);
        if (done === undefined) continue;
        const { asked, erasure, failure = null } = done;
        reports.push({ target: scope.target.name, form, asked, ...erasure, failure });
      } catch (error) {
        reports.push({ ...about, form, failure: toMirrorError(error) });
      }
    }
  }
  return reports;
}
