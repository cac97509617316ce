import type { App } from '../app.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { iso } from '../base/format.ts';
import { type Pause, pauseText } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { person } from '../sync/erase.ts';
import { PAUSES, pause as pauseStore, resume as resumeStore } from '../sync/records.ts';
import type { ActionOrder, DoneLine } from '../web/actions.ts';
import type { CommandCall, ExitCode, PlaceOptions } from './host.ts';
import { copyName } from './lines.ts';
import { openApp } from './open-app.ts';
import { findForm } from './selection.ts';
import type { Line } from './terminal.ts';

/* Pausing and resuming, by command and from the status page. */

type PauseOptions = PlaceOptions & { readonly reason?: string };

/** `pause`: stops every process from writing a form, a target, or everything. */
export const pause = (call: CommandCall<PauseOptions>): Promise<ExitCode> => act(call, 'pause');

/** `resume`: ends a `pause` of the same form, target or everything. */
export const resume = (call: CommandCall<PauseOptions>): Promise<ExitCode> => act(call, 'resume');

async function act(
  { host, options }: CommandCall<PauseOptions>,
  action: PauseOrder['do'],
): Promise<ExitCode> {
  await using app = await openApp(host);
  const { form = null, target = null, reason = null } = options;
  const about = { form, target, by: `command line, ${person()}` };
  const lines = await changePauses(app, { do: action, ...about, reason }, host.stop.signal);
  app.logger.info({ action, ...about }, 'A person asked for this.');
  host.terminal.print(...lines.map(({ ok, text }): Line => ({ sign: ok ? 'ok' : 'error', text })));
  return lines.every(({ ok }) => ok) ? 0 : 1;
}

/** What to pause or resume: a form, a target, or everything. */
interface PauseOrder extends Pick<ActionOrder, 'form' | 'target' | 'by'>, Pick<Pause, 'reason'> {
  readonly do: 'pause' | 'resume';
}

/**
 * Pauses or resumes in each selected target, and returns what happened there. If a target cannot be reached, the others continue.
 * Throws USAGE for an unknown name.
 */
export async function changePauses(
  app: App,
  { do: action, form: wanted, target: only, by, reason }: PauseOrder,
  signal: AbortSignal,
): Promise<DoneLine[]> {
  const asked = action === 'pause' ? { since: iso(app.clock.now()), by, reason } : null;
  const names = app.namesOf(only);
  const found = wanted === null ? null : await findForm(app, wanted, names, signal);
  const form = found?.form ?? null;
  // A pause may be older than the settings, so it is ended wherever it exists.
  const targets = names.filter(
    (name) =>
      form === null ||
      app.planner.isChosen(name, form) ||
      (asked === null && found?.targets.includes(name) === true),
  );
  if (targets.length === 0)
    throw new MirrorError(
      'USAGE',
      `No target mirrors the form ${form?.slug}: TARGET_FORMS does not select it.`,
    );
  return Promise.all(targets.map((target) => changeIn(app, form, target, asked)));
}

async function changeIn(
  app: App,
  form: FormIdentity | null,
  target: string,
  asked: Omit<Pause, 'formId'> | null,
): Promise<DoneLine> {
  const formId = form?.id ?? null;
  const name = form === null ? `Target ${target}` : copyName({ form, target });
  try {
    const { store } = await app.target(target);
    if (asked !== null) {
      const made = await pauseStore(store, { ...asked, formId });
      return { ok: true, text: `${name} is ${pauseText(made)}.` };
    }
    const ended = await resumeStore(store, formId);
    const text =
      ended === undefined ? 'was not paused' : `is resumed; it had been ${pauseText(ended)}`;
    const isRest = (await PAUSES.read(store)).length > 0;
    return { ok: true, text: `${name} ${text}.${isRest ? OTHER_PAUSES : ''}` };
  } catch (error) {
    const text = `${name} is not ${asked === null ? 'resumed' : 'paused'}: ${toMirrorError(error).message}`;
    return { ok: false, text };
  }
}

/** Pauses of single forms do not end with that of their target, nor the other way round. */
const OTHER_PAUSES =
  ' Other pauses there continue: forms-mirror status shows each, and how to end it.';
