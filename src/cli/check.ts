import type { App } from '../app.ts';
import { type ProblemCode, PROBLEMS } from '../base/catalogue.ts';
import { toMirrorError } from '../base/errors.ts';
import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import { count, plural } from '../base/format.ts';
import { fetchWithProxy, proxyHost } from '../base/proxy.ts';
import { keepPrivate } from '../base/private-files.ts';
import { startRunsHere } from '../health/processes.ts';
import { type FormReport, remedyText, type ShownPause } from '../health/report.ts';
import type { NoticeCode } from '../mirror/port.ts';
import { picksWholeForm } from '../mirror/picks.ts';
import { pauseText } from '../mirror/pauses.ts';
import { channelNames, type ChannelSettings, testChannels } from '../notify/notifier.ts';
import type { Form } from '../mirror/types.ts';
import { openBackend } from '../queue/backends.ts';
import type { TargetSettings } from '../settings/target-settings.ts';
import { unmatchedMessage, type UnmatchedName } from '../sync/unmatched-names.ts';
import { requireFreePort } from '../web/listen.ts';
import { statusPlace } from '../web/server.ts';
import type { CommandCall } from './command-spec.ts';
import type { Host } from './host.ts';
import { reportNow } from './health-sources.ts';
import { filesOf, openApp } from './open-app.ts';
import { runName } from './run-report.ts';
import type { Terminal } from './terminal.ts';

/** `check`: tries everything that the mirror depends on. */
export async function run({ host, flag }: CommandCall): Promise<ExitCode> {
  const { terminal } = host;
  const results: SubjectResult[] = [];
  const report = (result: SubjectResult): void => {
    results.push(result);
    if (flag('json')) return;
    const sign = signOf(terminal, result);
    terminal.print(`${sign} ${result.subject}: ${result.message}`);
    if (result.remedy !== undefined) terminal.print(`    → ${result.remedy}`);
  };
  await using app = await openApp(host, { source: true, statusPage: true });
  report({ subject: 'settings', ok: true, message: 'are all understood' });
  for (const warning of app.config.warnings) {
    // The checks below fail for anything that is wrong with it.
    if (warning.startsWith('ALERT_WEBHOOK_URL ')) continue;
    report({ subject: 'settings', ok: true, message: warning });
  }
  for (const result of describeProxy(app)) report(result);
  for (const result of await checkDataDir(app)) report(result);
  for (const result of await checkSource(app, host.stop.signal)) report(result);
  for (const { name } of app.config.targets) {
    for (const result of await checkTarget(app, name, host)) report(result);
  }
  report(describeWriteBack(app));
  report(await checkQueue(app));
  report(await checkPort(app));
  for (const result of describeReceivers(app)) report(result);
  if (flag('alert')) for (const result of await tryReceivers(app)) report(result);
  const ok = results.every((result) => result.ok);
  if (flag('json')) terminal.printJson({ ok, findings: results });
  const ending = results.some(({ mistaken }) => mistaken) ? EXIT_CODES.USAGE : EXIT_CODES.FAILED;
  return host.stop.exitCode() ?? (ok ? EXIT_CODES.DONE : ending).code;
}

/** `!` for a warning: nothing failed, but there is something to do. */
function signOf(terminal: Terminal, { ok, remedy }: Result): string {
  if (!ok) return terminal.style('red', '✗');
  return remedy === undefined ? terminal.style('green', '✓') : terminal.style('yellow', '!');
}

/** The finding, and a remedy. A remedy where nothing failed is shown as a warning. */
interface Result {
  readonly ok: boolean;
  readonly message: string;
  readonly remedy?: string;
}

/** One line of the output. */
interface SubjectResult extends Result {
  /** The subject of the check: `settings`, `source`, `target sheet`. */
  readonly subject: string;
  /** The form and the target, where it is about one form in one target. */
  readonly form?: string;
  readonly slug?: string;
  readonly target?: string;
  /** True for a mistake in the settings themselves. */
  readonly mistaken?: boolean;
}

/** Which proxy is used; nothing where none is set. */
function describeProxy({ config: { proxy } }: App): SubjectResult[] {
  if (proxy === undefined) return [];
  const except = ['this machine', ...proxy.except].join(', ');
  const message = `https goes through ${proxyHost(proxy)}, except to ${except}`;
  return [{ subject: 'proxy', ok: true, message }];
}

/** Which statuses the mirror changes at the source; nothing is tried, as only a change would show whether the key may. */
function describeWriteBack({ config: { marking } }: App): SubjectResult {
  const subject = 'statuses';
  if (marking === undefined) {
    const message = 'are never changed at the source: MARK_STATUS is not set';
    return { subject, ok: true, message };
  }
  const { status, from } = marking;
  const message = `are changed at the source from ${from.join(' or ')} to ${status} once every target has stored the submission; whether the key may do that is not known before the first change`;
  return { subject, ok: true, message };
}

/** Whether `start` could open its page. Does not throw. */
async function checkPort(app: App): Promise<SubjectResult> {
  const subject = 'status page';
  const place = statusPlace(app.config.status);
  try {
    await requireFreePort(place);
    const port = place.port === 0 ? 'any free port' : `port ${place.port}`;
    return { subject, ok: true, message: `can open ${port} of ${place.host}` };
  } catch (error) {
    if (await startRunsHere(app.dataDir, app.clock.now())) {
      return { subject, ok: true, message: `a start that runs here has port ${place.port}` };
    }
    return { subject, ok: false, mistaken: true, message: toMirrorError(error).message };
  }
}

const channelsOf = ({ config: { notify, proxy }, clock }: App): ChannelSettings => ({
  ...notify,
  ...(proxy && { fetch: fetchWithProxy(proxy) }),
  clock,
});

/** Sends a test message to each receiver. The heartbeat is not called: a call would say that nothing has failed. Does not throw. */
async function tryReceivers(app: App): Promise<SubjectResult[]> {
  const subject = 'test message';
  const channels = channelsOf(app);
  if (channelNames(channels).length === 0) {
    const message = 'No test message was sent: set ALERT_WEBHOOK_URL or ALERT_EMAIL_TO';
    return [{ subject, ok: false, mistaken: true, message }];
  }
  const results = await testChannels(channels);
  return results.map(({ channel, ok, message }) => {
    return { subject, ok, message: `${channel}: ${message}` };
  });
}

/** Where notifications go, and whether that may be meant; nothing is sent. */
function describeReceivers(app: App): SubjectResult[] {
  const subject = 'notifications';
  const { heartbeatUrl } = app.config.notify;
  const names = channelNames(channelsOf(app));
  const results: SubjectResult[] = names.map((name) => {
    return { subject, ok: true, message: `go to ${name}` };
  });
  if (names.length === 0) {
    const message = 'are off: neither ALERT_WEBHOOK_URL nor ALERT_EMAIL_TO is set';
    results.push({ subject, ok: true, message });
  }
  if (heartbeatUrl !== undefined) {
    const message = `goes to ${new URL(heartbeatUrl).host} while nothing has failed`;
    results.push({ subject: 'heartbeat', ok: true, message });
  }
  return results;
}

/** Whether anything can be kept in DATA_DIR; nothing to say where it can, or is yet to be made. */
async function checkDataDir({ config, dataDir }: App): Promise<SubjectResult[]> {
  const subject = 'data directory';
  const problem = await dataDir.problem();
  if (problem !== null)
    return [{ subject, ok: false, message: problem, remedy: PROBLEMS.DATA_DIR.remedy }];
  const { loose } = keepPrivate(config.dataDir, filesOf(config));
  if (loose.length === 0) {
    return [{ subject, ok: true, message: `${config.dataDir} can be read only by its owner` }];
  }
  return loose.map(({ message, remedy }) => ({ subject, ok: true, message, remedy }));
}

/** Whether the source answers, and whether the settings name only forms and fields that it has. Does not throw. */
async function checkSource(app: App, signal: AbortSignal): Promise<SubjectResult[]> {
  try {
    const forms = await app.forms(signal);
    const found = `answers, the key is right, ${plural(forms.length, 'form')} found`;
    const answered = { subject: 'source', ok: true, message: found };
    // A target that does not answer gets its own line below.
    for (const { name } of app.config.targets) await app.readSlugs(name).catch(() => undefined);
    const { unmatched } = await app.plan(signal, { namesOnly: true });
    return [
      answered,
      ...app.config.targets.flatMap((target) => checkNames(app, target, forms, unmatched)),
    ];
  } catch (error) {
    return [{ subject: 'source', ok: false, message: toMirrorError(error).message }];
  }
}

function checkNames(
  app: App,
  { name, variables, ...settings }: TargetSettings,
  forms: readonly Form[],
  unmatched: readonly UnmatchedName[],
): SubjectResult[] {
  const subject = `fields of ${name}`;
  const mistakes = unmatched.filter(({ targets }) => targets.includes(name));
  const results: SubjectResult[] = mistakes.map((each) => ({
    subject,
    ok: false,
    mistaken: true,
    message: `${each.variable} ${unmatchedMessage(each)}`,
    remedy: `forms-mirror forms${each.kind === 'form' ? ' lists them' : ' <form> lists the fields of a form'}`,
  }));
  const chosen = forms.filter((form) => app.isChosen(name, form));
  for (const form of chosen) {
    const problem = app.slugProblem(name, form);
    if (problem === null) continue;
    const message = `${problem.code}: ${problem.message}`;
    results.push({ subject, ok: false, mistaken: true, message });
  }
  if (settings.picks === undefined) {
    const message = `${variables.fields} is missing, so nothing may leave the source`;
    const remedy = 'forms-mirror forms <form> lists the fields to choose from';
    return [...results, { subject, ok: false, mistaken: true, message, remedy }];
  }
  if (results.length > 0) return results;
  const picks = app.picksOf(name);
  const bare = chosen.filter(
    (form) => !picksWholeForm(picks, form) && !form.fields.some(({ id }) => picks.fields.has(id)),
  );
  const without =
    bare.length === 0 ? '' : `, ${count(bare.length)} of them with ID, status and time only`;
  const message = `picked; ${plural(chosen.length, 'form')} to mirror${without}`;
  return [{ subject, ok: true, message }];
}

/** Whether the queue can be reached and is safe to use; the embedded one is not opened, as a worker may hold it. Does not throw. */
async function checkQueue(app: App): Promise<SubjectResult> {
  const subject = 'queue';
  const { queueUrl, dataDir } = app.config;
  if (queueUrl === undefined) {
    return { subject, ok: true, message: `embedded, in ${dataDir}: one process, no server needed` };
  }
  try {
    const { clock, logger } = app;
    const onError = (): void => {};
    const options = {
      url: queueUrl,
      dataDir,
      workers: 1,
      upkeepMs: 3_600_000,
      clock,
      logger,
      onError,
    };
    const backend = await openBackend('worker', options);
    await backend.close(false);
    return { subject, ok: true, message: `${backend.address} answers and is safe to use` };
  } catch (error) {
    return { subject, ok: false, message: toMirrorError(error).message };
  }
}

/** A target's reach and rights, and the forms in it that need attention. Does not throw. */
async function checkTarget(app: App, name: string, host: Host): Promise<SubjectResult[]> {
  const subject = `target ${name}`;
  const results: SubjectResult[] = [];
  try {
    const { store } = await app.target(name);
    for (const { what: message, isOk: ok, remedy } of await store.check(host.stop.signal))
      results.push({ subject, ok, message, ...(remedy !== null && { remedy }) });
    if (results.some(({ ok }) => !ok)) return results;
    return [...results, ...(await checkForms(app, name, host))];
  } catch (error) {
    return [...results, { subject, ok: false, message: toMirrorError(error).message }];
  }
}

/** What `check` reports in addition to problems: answers that are stored where they should not be. */
const IN_CHECK: ReadonlySet<NoticeCode> = new Set([
  'UNPICKED_ANSWERS',
  'PLAIN_ANSWERS',
  'SCRUB_PENDING',
]);

/** The forms with a problem, a pause, or rejections, as the report has them. */
async function checkForms(app: App, name: string, host: Host): Promise<SubjectResult[]> {
  const report = await reportNow(app, host, [name]);
  const [target] = report.targets;
  const results: SubjectResult[] = [];
  const { problem = null, pause = null } = target ?? {};
  if (problem !== null)
    results.push({ subject: `target ${name}`, ok: false, message: problem.message });
  if (pause !== null) results.push(pausedResult(`target ${name}`, pause));
  return results.concat(report.forms.flatMap(checkForm));
}

function checkForm(report: FormReport): SubjectResult[] {
  const { form, target, problems, pause, notices, rejected } = report;
  const about = { subject: runName(report), form: form.id, slug: form.slug, target };
  const results: SubjectResult[] = [];
  if (pause?.ofTarget === false) results.push({ ...about, ...pausedResult(about.subject, pause) });
  for (const problem of problems) {
    // The line about its fields reports it.
    if (problem.code === 'SLUG_REUSED') continue;
    const remedy = remedyText(problem);
    const message = `${problem.title} (${problem.code}): ${problem.message}`;
    const ok = IS_NEWS.has(problem.code);
    results.push({ ...about, ok, message, ...(remedy !== null && { remedy }) });
  }
  for (const { code, message, remedy } of notices)
    if (IN_CHECK.has(code)) results.push({ ...about, ok: true, message, remedy });
  if ((rejected ?? 0) > 0) {
    const message = `${count(rejected ?? 0)} listed as rejected, with their reasons`;
    results.push({ ...about, ok: true, message });
  }
  return results;
}

/** Nothing is wrong with the mirror. */
const IS_NEWS: ReadonlySet<ProblemCode> = new Set([
  'FORM_GONE',
  'COPY_REFILLED',
  'STALE',
  'WRITE_BACK_REFUSED',
]);

const pausedResult = (
  subject: string,
  { command, ...pause }: ShownPause,
): Omit<SubjectResult, 'form'> => ({
  subject,
  ok: true,
  message: pauseText(pause),
  remedy: `To resume: ${command}`,
});
