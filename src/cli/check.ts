import type { App } from '../app.ts';
import { PROBLEMS } from '../base/catalogue.ts';
import {
  type MirrorError,
  mistakeText,
  type SettingMistake,
  toMirrorError,
} from '../base/errors.ts';
import { plural, wordList } from '../base/format.ts';
import { fetchWithProxy } from '../base/proxy.ts';
import { sendTest, receiversOf } from '../notify/notifier.ts';
import { namesFor } from '../mirror/selection.ts';
import type { Form } from '../mirror/types.ts';
import { openBackend } from '../queue/backends.ts';
import type { TargetSettings } from '../settings/target-settings.ts';
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
  readonly remedy?: string | null | undefined;
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
    ['copies', checkCopies],
    ['queue', checkQueue],
    ['notifications', checkReceivers(options.alert === true)],
  ];
  for (const [subject, check] of checks) {
    const found = await check(app, host).catch((error) => [failureOf(toMirrorError(error))]);
    for (const one of found) {
      const finding = { subject, ...one };
      findings.push(finding);
      const { ok, message, remedy } = finding;
      const sign = ok ? (remedy ? 'warning' : 'ok') : 'error';
      if (!options.json) terminal.print({ sign, text: `${finding.subject}: ${message}`, remedy });
    }
  }
  const ok = findings.every((finding) => finding.ok);
  if (options.json) terminal.printJson({ ok, findings });
  if (ok) return 0;
  return findings.some(({ mistaken }) => mistaken) ? 2 : 1;
}

/** The finding of a failed check. */
const failureOf = ({ code, message }: Pick<MirrorError, 'code' | 'message'>): Finding => {
  const mistaken = code === 'SETTINGS';
  return { ok: false, message: `${PROBLEMS[code].title}: ${message}`, mistaken };
};

/** Whether DATA_DIR can be written. */
const checkDataDir: Check = async ({ config, dataDir }) => {
  const problem = await dataDir.problem();
  if (problem !== null) return [{ ...failureOf(problem), remedy: PROBLEMS.DATA_DIR.remedy }];
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
  settings: TargetSettings,
  forms: readonly Form[],
  unmatched: readonly SettingMistake[],
): Finding[] {
  const { name, variables } = settings;
  const { selection } = app.planner.settingsById(settings);
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
  if (selection === undefined) {
    const message = `${variables.fields} is missing, so nothing may leave the source`;
    mistakes.push(wrong(message, 'forms-mirror forms <form> lists the fields to select from'));
  }
  if (mistakes.length > 0 || selection === undefined) return mistakes;
  const without = chosen.filter((form) => namesFor(selection.fields, form).length === 0);
  const slugs = wordList(
    without.map(({ slug }) => slug),
    'and',
  );
  const answers = without.length === 0 ? '' : `, without answers: ${slugs}`;
  return [{ ...fine(`selected; ${plural(chosen.length, 'form')} to mirror${answers}`), subject }];
}

/** Whether a target can be reached and written. */
const checkTarget =
  (name: string): Check =>
  async (app, host) => {
    const { store } = await app.target(name);
    return (await store.check(host.stop.signal)).map(({ what: message, isOk: ok, remedy }) => {
      return { ok, message, remedy };
    });
  };

/**
 * The copies, in the report's own line: `status` shows each with its problems. Copies without problems are only counted, because
 * another check may have failed. A failed copy fails the check, except a stale one: a check is often made before a start.
 */
const checkCopies: Check = async (app, host) => {
  const { state, title, summary, problems, targets, forms } = await reportNow(app, host);
  const ofTargets = targets.flatMap(({ problem }) => problem ?? []);
  const ofForms = forms.flatMap((form) => form.problems);
  const failures = [...problems, ...ofTargets, ...ofForms].filter(({ level }) => level === 'error');
  const remedy = 'forms-mirror status shows each copy, and what to do';
  const needsLook = state === 'failed' || state === 'attention' || state === 'paused';
  const ok = failures.every(({ code }) => code === 'STALE');
  return [{ ok, message: state === 'ok' ? summary : title, remedy: needsLook ? remedy : null }];
};

/** Whether the queue can be reached and is safe to use. The embedded one is not tried, because a process may be using it. */
const checkQueue: Check = async ({ config: { queueUrl: url, dataDir }, clock, logger }) => {
  if (url === undefined)
    return [fine(`embedded, in ${dataDir}; not tried, because only one process can open it`)];
  const store = { queueUrl: url, dataDir, role: 'worker', clock, logger } as const;
  const backend = await openBackend({ ...store, workers: 1, upkeepMs: 3_600_000, onError() {} });
  await backend.close(false);
  return [fine(`${backend.address} answers and is safe to use`)];
};

/**
 * The receivers of notifications. `isTest`: sends a test message to each, but does not call the heartbeat, because a call would say
 * that nothing has failed.
 */
const checkReceivers =
  (isTest: boolean): Check =>
  async ({ config: { notify, proxy } }) => {
    const receivers = receiversOf(notify, proxy && fetchWithProxy(proxy));
    const found = receivers.map(async (receiver): Promise<Finding> => {
      if (!isTest) return fine(`go to ${receiver.name}`);
      const problem = await sendTest(receiver, notify);
      const message = `${receiver.name}: ${problem ?? 'The test message was accepted.'}`;
      return { ok: problem === null, message };
    });
    const none = isTest ? { ok: false, mistaken: true, message: NO_TEST } : fine(NO_RECEIVERS);
    const host = notify.heartbeatUrl?.host;
    const beats = { ...fine(`goes to ${host} while nothing has failed`), subject: 'heartbeat' };
    return [
      ...(found.length === 0 ? [none] : await Promise.all(found)),
      ...(host === undefined ? [] : [beats]),
    ];
  };

const NO_RECEIVERS = 'are off: neither ALERT_WEBHOOK_URL nor ALERT_EMAIL_TO is set';
const NO_TEST = 'No test message was sent. Set ALERT_WEBHOOK_URL or ALERT_EMAIL_TO.';
