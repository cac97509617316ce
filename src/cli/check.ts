import type { App } from '../app.ts';
import { PROBLEMS, type ProblemCode } from '../base/catalogue.ts';
import { type MirrorError, mistakeText, toMirrorError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { fetchWithProxy } from '../base/proxy.ts';
import { startRunsHere } from '../health/processes.ts';
import { type FormReport, type Problem, problemOf, type Report } from '../health/report.ts';
import { sendTest, transportsOf } from '../notify/notifier.ts';
import type { Form } from '../mirror/types.ts';
import { openBackend } from '../queue/backends.ts';
import type { TargetSettings } from '../settings/target-settings.ts';
import type { NameMistake } from '../sync/names.ts';
import { requireFreePort } from '../web/listen.ts';
import type { CommandCall, ExitCode, Host } from './host.ts';
import { reportNow } from './health-sources.ts';
import { openApp } from './open-app.ts';

/** One line of the output. A check that throws has failed with that error. */
interface Finding {
  /** `source`, `target sheet`; absent: the check's subject. */
  readonly subject?: string;
  readonly ok: boolean;
  readonly message: string;
  /** If nothing failed: a warning. */
  readonly remedy?: string | undefined;
  /** Whether it is a mistake in the settings themselves. */
  readonly mistaken?: boolean;
}

type Check = (app: App, host: Host) => Promise<readonly Finding[]>;

const fine = (message: string): Finding => ({ ok: true, message });

/** `check`: tries everything that the mirror depends on. */
export async function check({
  host,
  options,
}: CommandCall<{ alert?: boolean; json?: boolean }>): Promise<ExitCode> {
  const { terminal } = host;
  await using app = await openApp(host, { source: true, serves: 'PORT' });
  const findings: Finding[] = [];
  const checks: readonly (readonly [subject: string, check: Check])[] = [
    ['data directory', checkDataDir],
    ['source', checkSource],
    ...app.targetNames.map((name) => [`target ${name}`, checkTarget(name)] as const),
    ['mirror', checkReport(findings)],
    ['queue', checkQueue],
    ['status page', checkPort],
    ['notifications', checkReceivers],
    ...(options.alert ? [['test message', tryReceivers] as const] : []),
  ];
  for (const [subject, check] of checks) {
    const found = await check(app, host).catch((error) => [failureOf(toMirrorError(error))]);
    for (const one of found) {
      const finding = { subject, ...one };
      findings.push(finding);
      const { ok, message, remedy } = finding;
      const sign = ok ? (remedy === undefined ? 'ok' : 'warning') : 'error';
      if (!options.json) terminal.print({ sign, text: `${finding.subject}: ${message}`, remedy });
    }
  }
  const ok = findings.every((finding) => finding.ok);
  if (options.json) terminal.printJson({ ok, findings });
  if (ok) return 0;
  return findings.some(({ mistaken }) => mistaken) ? 2 : 1;
}

/** The finding of a failed check. */
export function failureOf({ code, message }: MirrorError): Finding {
  if (code === 'SETTINGS') return { ok: false, message, mistaken: true };
  return { ok: false, message: `${PROBLEMS[code].title}: ${message}` };
}

/** Whether DATA_DIR can be written. */
const checkDataDir: Check = async ({ config, dataDir }) => {
  const trouble = await dataDir.trouble();
  if (trouble !== null) return [findingOf(problemOf(trouble))];
  return [fine(`${config.dataDir} can be written`)];
};

/** Whether the source answers, and whether the settings name only forms and fields that it has. */
const checkSource: Check = async (app, { stop: { signal } }) => {
  // A target that does not answer gets its own line below.
  const { listed: forms, unmatched } = await app.plan(signal, { waitForTargets: true });
  return [
    fine(`answers, the key is right, ${plural(forms.length, 'form')} found`),
    ...app.config.targets.flatMap((target) => checkNames(app, target, forms, unmatched)),
  ];
};

function checkNames(
  app: App,
  { name, variables, selection: named }: TargetSettings,
  forms: readonly Form[],
  unmatched: readonly NameMistake[],
): Finding[] {
  const subject = `fields of ${name}`;
  const wrong = (message: string, remedy?: string): Finding => {
    return { subject, ok: false, message, remedy, mistaken: true };
  };
  const chosen = forms.filter((form) => app.planner.isChosen(name, form));
  const ofTarget = new Set(Object.values(variables));
  const remedy = 'forms-mirror forms lists the forms, and forms-mirror forms <form> its fields';
  const mistakes = [
    ...unmatched
      .filter(({ variable }) => ofTarget.has(variable))
      .map((each) => wrong(mistakeText(each).replace(/\.$/, ''), remedy)),
    ...chosen
      .flatMap((form) => app.planner.refusal(name, form) ?? [])
      .map(({ code, message }) => wrong(`${code}: ${message}`)),
  ];
  if (named === undefined) {
    const message = `${variables.fields} is missing, so nothing may leave the source`;
    mistakes.push(wrong(message, 'forms-mirror forms <form> lists the fields to select from'));
  }
  if (mistakes.length > 0) return mistakes;
  return [{ ...fine(`selected; ${plural(chosen.length, 'form')} to mirror`), subject }];
}

/** Whether a target can be reached and written. */
const checkTarget =
  (name: string): Check =>
  async (app, host) => {
    const { store } = await app.target(name);
    return (await store.check(host.stop.signal)).map(({ what: message, isOk: ok, remedy }) => {
      return { ok, message, remedy: remedy ?? undefined };
    });
  };

/** What no try shows: the report's problems with copies and with the processes that keep them up to date. */
const checkReport =
  (findings: readonly Finding[]): Check =>
  async (app, host) => {
    const failing = new Set(findings.filter(({ ok }) => !ok).map(({ subject }) => subject));
    return findingsOf(await reportNow(app, host), failing);
  };

/**
 * The problems of a report that no other check tries; problems of forms as one finding per kind and target. `failing`: the subjects
 * with a failed check, which already says why such a target cannot be read.
 */
export function findingsOf(
  { problems, targets, forms }: Report,
  failing: ReadonlySet<string | undefined> = new Set(),
): Finding[] {
  const found = problems.filter(({ code }) => !TRIED.has(code)).map(findingOf);
  for (const { name, isReadable, problem } of targets) {
    const subject = `target ${name}`;
    if (problem !== null && (isReadable || !failing.has(subject)))
      found.push({ ...findingOf(problem), subject });
    // Nothing is known about the copies of a target that cannot be read, even if its own check succeeded.
    const copies = isReadable ? forms.filter((form) => form.target === name) : [];
    const byTitle = Map.groupBy(copies.flatMap(reasonsOf), ({ title }) => title);
    for (const group of byTitle.values()) found.push({ ...groupResult(group), subject });
  }
  return found;
}

/** Why a form is shown. */
interface Reason extends Finding {
  readonly slug: string;
  readonly title: string;
}

/** The form's pause, which hides no problem, and its worst problem. Nothing for a form that has ended. */
function reasonsOf({ form: { slug }, state, pause, problems }: FormReport): Reason[] {
  const serious = problems.find(({ code }) => PROBLEMS[code].isNews !== true);
  const worst = state === 'ended' ? undefined : (serious ?? problems[0]);
  const { title } = PROBLEMS.PAUSED;
  const paused = pause && { slug, title, ...fine(''), remedy: pause.command };
  const remedy = 'forms-mirror status shows what to do';
  const ok = serious === undefined;
  const problem = worst && { slug, title: worst.title, ok, message: worst.message, remedy };
  return [paused ?? [], problem ?? []].flat();
}

/** Forms that share a reason. */
function groupResult(group: readonly Reason[]): Finding {
  const [{ slug, title, message, remedy }] = group as readonly [Reason];
  const [who, which] =
    group.length === 1 ? [slug, ''] : [plural(group.length, 'form'), `The first is ${slug}: `];
  const why = message === '' ? '' : `. ${which}${message}`;
  return { ok: group.every((each) => each.ok), message: `${who}: ${title}${why}`, remedy };
}

/** Other checks try these: what failed before may work now. */
export const TRIED: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'FORMS_UNAUTHORIZED',
  'FORMS_REFUSED',
  'FORMS_FAILED',
  'SETTINGS',
  'DATA_DIR',
]);

/** With only a warning, the copy is as claimed. */
function findingOf({ level, title, message, remedy }: Problem): Finding {
  const ok = level === 'warning';
  return { ok, message: `${title}: ${message}`, remedy: remedy ?? undefined };
}

/** Whether the queue can be reached and is safe to use. The embedded one is not opened, because a process may be using it. */
const checkQueue: Check = async ({ config: { queueUrl: url, dataDir }, clock, logger }) => {
  if (url === undefined) return [fine(`embedded, in ${dataDir}: one process, no server needed`)];
  const store = { queueUrl: url, dataDir, role: 'worker', clock, logger } as const;
  const backend = await openBackend({ ...store, workers: 1, upkeepMs: 3_600_000, onError() {} });
  await backend.close(false);
  return [fine(`${backend.address} answers and is safe to use`)];
};

/** Whether `start` could open its page. */
const checkPort: Check = async ({ config, dataDir, clock }) => {
  const { host, port } = config;
  try {
    await requireFreePort(config);
  } catch (error) {
    if (await startRunsHere(dataDir, clock.now()))
      return [fine(`a running start uses port ${port}`)];
    throw error;
  }
  return [fine(`can open ${port === 0 ? 'any free port' : `port ${port}`} of ${host}`)];
};

const receiversOf = ({ config: { notify, proxy } }: App) =>
  transportsOf(notify, proxy && fetchWithProxy(proxy));

/** The receivers of notifications; nothing is sent. */
const checkReceivers: Check = async (app) => {
  const { heartbeatUrl } = app.config.notify;
  const names = receiversOf(app).map(({ name }) => name);
  const off = fine('are off: neither ALERT_WEBHOOK_URL nor ALERT_EMAIL_TO is set');
  const beats = heartbeatUrl && `goes to ${new URL(heartbeatUrl).host} while nothing has failed`;
  return [
    ...(names.length === 0 ? [off] : names.map((name) => fine(`go to ${name}`))),
    ...(beats === undefined ? [] : [{ ...fine(beats), subject: 'heartbeat' }]),
  ];
};

/** Sends a test message to each receiver. Does not call the heartbeat, because a call would say that nothing has failed. */
const tryReceivers: Check = async (app) => {
  const results = receiversOf(app).map(async (receiver): Promise<Finding> => {
    const problem = await sendTest(receiver, app.config.notify, app.clock);
    const message = `${receiver.name}: ${problem ?? 'The test message was accepted.'}`;
    return { ok: problem === null, message };
  });
  if (results.length > 0) return Promise.all(results);
  const message = 'No test message was sent: set ALERT_WEBHOOK_URL or ALERT_EMAIL_TO';
  return [{ ok: false, mistaken: true, message }];
};
