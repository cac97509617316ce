import type { App } from '../app.ts';
import type { Clock } from '../base/clock.ts';
import { toMirrorError } from '../base/errors.ts';
import { unknownPicks } from '../mirror/picks.ts';
import type { CheckFinding } from '../mirror/target.ts';
import type { Form } from '../mirror/types.ts';
import { openBackend, parseQueueUrl } from '../queue/backends.ts';
import type { TargetSettings } from '../settings/target-settings.ts';
import { choosesForm, unknownForms } from '../sync/planned-forms.ts';
import { count, plural } from './words.ts';

/** One line of `check`. */
export interface Finding extends CheckFinding {
  /** What was tried: `settings`, `source`, `target sheet`. */
  readonly subject: string;
}

/** The source, and whether the settings name forms and fields that it has. Does not throw. */
export async function checkSource(app: App, signal: AbortSignal): Promise<Finding[]> {
  try {
    const forms = await app.forms(signal);
    const found = `answers, the key is right, ${plural(forms.length, 'form')} found`;
    const answered = { subject: 'source', ok: true, message: found };
    return [answered, ...app.config.targets.flatMap((target) => checkNames(target, forms))];
  } catch (error) {
    return [{ subject: 'source', ok: false, message: toMirrorError(error).message }];
  }
}

function checkNames(
  { name, forms: choice, picks, variables }: TargetSettings,
  forms: readonly Form[],
): Finding[] {
  const subject = `fields of ${name}`;
  const findings: Finding[] = unknownForms(choice, forms).map((unknown) => ({
    subject,
    ok: false,
    message: `${variables.forms} names ${unknown}, and there is no such form`,
    remedy: 'forms-mirror forms lists what there is',
  }));
  if (picks === undefined) {
    const message = `${variables.fields} is missing, so nothing may leave the source`;
    return [
      ...findings,
      { subject, ok: false, message, remedy: 'forms-mirror fields lists what there is' },
    ];
  }
  const strangers = unknownPicks(picks, forms);
  if (strangers.length > 0) {
    const message = `${variables.fields} names ${strangers.join(', ')}, which no form shows now`;
    const remedy =
      'right for a field that was deleted and lives on in old answers; else a typing error';
    findings.push({
      subject,
      ok: strangers.every((entry) => !entry.endsWith(':*')),
      message,
      remedy,
    });
  }
  const chosen = forms.filter((form) => choosesForm(choice, form)).length;
  if (findings.length === 0) {
    findings.push({ subject, ok: true, message: `picked; ${plural(chosen, 'form')} to mirror` });
  }
  return findings;
}

/** Whether the queue can be reached and is safe to use; the embedded one may be in use, and needs nothing. Does not throw. */
export async function checkQueue(app: App, clock: Clock): Promise<Finding> {
  const subject = 'queue';
  const { queueUrl, dataDir } = app.config;
  if (queueUrl === undefined) {
    return { subject, ok: true, message: `embedded, in ${dataDir}: one process, no server needed` };
  }
  try {
    const { logger } = app;
    const url = parseQueueUrl(queueUrl);
    const faults = (): void => {};
    const options = { url, dataDir, workers: 1, upkeepMs: 3_600_000, clock, logger, faults };
    const backend = await openBackend('worker', options);
    await backend.close(false);
    return { subject, ok: true, message: `${backend.address} answers and is safe to use` };
  } catch (error) {
    return { subject, ok: false, message: toMirrorError(error).message };
  }
}

/** A target's reach and rights, and what in it waits for a person. Throws MirrorError when it cannot be opened. */
export async function checkTarget(app: App, name: string, signal: AbortSignal): Promise<Finding[]> {
  const subject = `target ${name}`;
  const target = await app.target(name);
  const found = await target.check(signal);
  const findings = found.map((finding) => Object.assign({ subject }, finding));
  if (findings.some(({ ok }) => !ok)) return findings;
  return [...findings, ...(await checkForms(app, name))];
}

/** Forms in which deletions are withheld, or that are gone, or that hold what was rejected. */
async function checkForms(app: App, name: string): Promise<Finding[]> {
  const target = await app.target(name);
  return (await target.overview()).flatMap(({ slug, formId, lastFull, goneAt, rejected }) => {
    const subject = `${slug} → ${name}`;
    const findings: Finding[] = [];
    if (lastFull?.outcome === 'withheld') {
      findings.push({
        subject,
        ok: false,
        message: `${plural(lastFull.withheld, 'row')} absent from the source, too many to be marked deleted unasked`,
        remedy: `if that is right: forms-mirror sync --full --accept-deletes --form ${formId}`,
      });
    }
    if (goneAt !== null) {
      findings.push({
        subject,
        ok: true,
        message: `the form is gone since ${goneAt}; its rows stay`,
      });
    }
    if (rejected > 0) {
      findings.push({
        subject,
        ok: true,
        message: `${count(rejected)} listed as rejected, with their reasons`,
      });
    }
    return findings;
  });
}
