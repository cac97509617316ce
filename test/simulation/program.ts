import { Writable } from 'node:stream';
import { App } from '../../src/app.ts';
import type { Clock } from '../../src/base/clock.ts';
import { stopReason, toMirrorError } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/logger.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import type { Host } from '../../src/cli/host.ts';
import { jobHandlers } from '../../src/cli/service.ts';
import { runProgram } from '../../src/cli/program.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import { loadConfig } from '../../src/settings/config.ts';
import type { JobHandlers } from '../../src/queue/runtime.ts';
import type { SyncOrder } from '../../src/queue/jobs.ts';
import type { SimProcess } from './process.ts';
import type { World } from './world.ts';

/**
 * The only file here that imports the program: its command line, and the work of its queue. If the core is replaced, only this
 * file changes.
 */

/** Settings, as in the environment. */
export type Settings = Readonly<Record<string, string>>;

/** How one run over a form in a target ended, as reported by the program. */
export interface Run {
  readonly formId: string;
  readonly target: string;
  /** Everything was compared row by row. */
  readonly isWhole: boolean;
  readonly outcome: string;
  readonly code: string | null;
  readonly written: number;
  /** Rows that the run excludes: held, or still to be looked for. */
  readonly except: number;
  /** Submissions that the claim excludes, because they are not stored unchanged. */
  readonly rejected: number;
  readonly requests: number;
  readonly error: string | null;
}

/** The claim about a copy of a form, and its times (milliseconds; null: nothing is claimed). */
export interface Claimed {
  readonly formId: string;
  readonly target: string;
  readonly submissionsAsOf: number | null;
  readonly statusesAsOf: number | null;
  readonly answersAsOf: number | null;
  /** The number of rows that it excludes: held, or still to be looked for. */
  readonly except: number;
  /** The number of submissions that it excludes, because they are not stored unchanged. */
  readonly rejected: number;
}

/** The same as `status` shows it, with the copy's numbers and problems. */
export interface Claim extends Claimed {
  /** How many rows there are, and how many are marked deleted; null if that is not known. */
  readonly rows: number | null;
  readonly deletedRows: number | null;
  readonly state: string;
  readonly goneAt: string | null;
  /** Codes of the reported problems, without those that another problem explains. */
  readonly problems: readonly string[];
  /** Codes of the notices about people's changes to the target. */
  readonly notices: readonly string[];
}

/** The result of `verify` for a form in a target. */
export interface Comparison {
  readonly formId: string;
  readonly target: string;
  readonly isEqual: boolean;
  /** The number of reported rows that are listed as rejected, which may differ. */
  readonly listed: number;
  /** Nothing differs, or only changes too recent to have been copied. */
  readonly isWell: boolean;
}

/** The output of a command, and its exit code. */
export interface Printed {
  readonly code: number;
  readonly json: unknown;
  readonly text: string;
}

/** A job of the queue: it survives a crash. */
export type Job =
  | {
      readonly kind: 'sync';
      readonly formId: string;
      readonly target: string;
      readonly order: SyncOrder;
    }
  | { readonly kind: 'write-back'; readonly formId: string };

export const jobKey = (job: Job): string =>
  job.kind === 'sync'
    ? `${job.order.isComparison ? 'comparison' : job.kind} ${job.formId} ${job.target}`
    : `${job.kind} ${job.formId}`;

const VERSION = '0.0.0-simulation';

function clockOf(world: World, process: SimProcess): Clock {
  return {
    now: () => Math.floor(world.clock.now),
    async sleep(ms, signal) {
      try {
        if (signal?.aborted === true) throw signal.reason;
        await world.sleep(process, ms, signal);
      } catch (error) {
        throw stopReason(signal, error);
      }
    },
  };
}

class Recorded extends Writable {
  text = '';
  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

const noFile = (path: string): string => {
  throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
};

/** Runs one command line in a process. */
export async function command(
  world: World,
  process: SimProcess,
  settings: Settings,
  args: readonly string[],
): Promise<Printed> {
  const [stdout, stderr] = [
    new Recorded({ decodeStrings: false }),
    new Recorded({ decodeStrings: false }),
  ];
  const host: Host = {
    terminal: new Terminal(stdout, stderr),
    version: VERSION,
    clock: clockOf(world, process),
    stop: { signal: new AbortController().signal, exitCode: () => undefined },
    loadConfig: async (needs = {}) => loadConfig(settings, noFile, needs),
  };
  const code = await runProgram(COMMANDS, host, args);
  let json: unknown = null;
  try {
    json = JSON.parse(stdout.text);
  } catch {
    // A usage error, or a command without JSON.
  }
  return { code, json, text: stdout.text + stderr.text };
}

export const syncArgs = (options: { full?: boolean; accept?: boolean }): string[] => [
  'sync',
  '--json',
  ...(options.full === true ? ['--full'] : []),
  ...(options.accept === true ? ['--accept-deletes'] : []),
];

interface ClaimDocument {
  readonly submissionsAsOf: string | null;
  readonly statusesAsOf: string | null;
  readonly answersAsOf: string | null;
  readonly held: number;
  readonly undecided: number;
  readonly rejected: number;
}

/** The parts of the printed documents that are read here. */
interface RunDocument {
  readonly form: string;
  readonly target: string;
  readonly full: boolean;
  readonly outcome: string;
  readonly code: string | null;
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
  readonly claim: ClaimDocument;
  readonly requests: number;
  readonly error: string | null;
}

interface FormDocument {
  readonly form: { readonly id: string };
  readonly target: string;
  readonly state: string;
  readonly goneAt: string | null;
  readonly rows: number | null;
  readonly deletedRows: number | null;
  readonly problems: readonly { readonly code: string }[];
  readonly notices: readonly { readonly code: string }[];
  readonly claim: ClaimDocument;
}

interface ComparedDocument extends Pick<RunDocument, 'form' | 'target' | 'outcome'> {
  readonly listed?: number;
}

interface Document {
  readonly writeBacks?: readonly { readonly form: string; readonly code: string | null }[];
  readonly runs?: readonly RunDocument[];
  readonly forms?: readonly (FormDocument | ComparedDocument)[];
  readonly error?: { readonly code: string };
}

const documentOf = ({ json }: Printed): Document => json ?? {};

/** The code of the error that ended a command. */
export const errorOf = (printed: Printed): string | null => documentOf(printed).error?.code ?? null;

/** Whether `sync --json` reports a write-back that failed. */
export const hasFailedMark = (printed: Printed): boolean =>
  (documentOf(printed).writeBacks ?? []).some(({ code }) => code !== null);

/** Whether it reports a failed write-back of a form, or a failed run over it in a target. */
export const hasFailed = (printed: Printed, formId: string, target: string): boolean =>
  (documentOf(printed).writeBacks ?? []).some(
    (each) => each.form === formId && each.code !== null,
  ) ||
  runsOf(printed).some(
    (run) => run.formId === formId && run.target === target && run.outcome !== 'ok',
  );

/**
 * Whether `sync --json` reports that the source failed, or that a run was stopped for a name in the settings. If all forms are paused,
 * no run can report it, and nothing is copied.
 */
export function leavesNamesOpen(printed: Printed): boolean {
  const runs = runsOf(printed);
  if (runs.length > 0 && runs.every(({ outcome }) => outcome === 'paused')) return true;
  const codes = [errorOf(printed), ...runs.map(({ code }) => code)];
  const isOpen = /^(SETTINGS|RUN_INCOMPLETE|FORMS_.*)$/;
  return codes.some((code) => code !== null && isOpen.test(code));
}

/** The runs that `sync --json` printed. */
export const runsOf = (printed: Printed): Run[] =>
  (documentOf(printed).runs ?? []).map((run) => ({
    formId: run.form,
    target: run.target,
    isWhole: run.full,
    outcome: run.outcome,
    code: run.code,
    written: run.inserted + run.updated + run.deleted,
    except: run.claim.held + run.claim.undecided,
    rejected: run.claim.rejected,
    requests: run.requests,
    error: run.error,
  }));

/** How the runs of a `sync` ended, for a story. */
export function runLines(runs: readonly Run[], { code, text }: Printed): string[] {
  const lines = runs.map(({ formId, target, outcome, written, except, requests, ...run }) => {
    const problem = run.code === null ? '' : ` ${run.code}`;
    const error = run.error === null ? '' : ` (${run.error.slice(0, 150)})`;
    return `sync: ${formId} in ${target} ended ${outcome}${problem}: ${written} written, ${except} not claimed, ${requests} requests${error}`;
  });
  return [...lines, `sync exits with ${code}${runs.length === 0 ? `: ${text.slice(0, 200)}` : ''}`];
}

/** The claims that `status --json` printed. */
export function claimsOf(printed: Printed): Claim[] {
  const ms = (text: string | null): number | null => (text === null ? null : Date.parse(text));
  const forms = (documentOf(printed).forms ?? []) as readonly FormDocument[];
  return forms.map(({ form, claim, problems, notices, ...shown }) => ({
    formId: form.id,
    target: shown.target,
    submissionsAsOf: ms(claim.submissionsAsOf),
    statusesAsOf: ms(claim.statusesAsOf),
    answersAsOf: ms(claim.answersAsOf),
    except: claim.held + claim.undecided,
    rejected: claim.rejected,
    rows: shown.rows,
    deletedRows: shown.deletedRows,
    state: shown.state,
    goneAt: shown.goneAt,
    problems: problems.map(({ code }) => code),
    notices: notices.map(({ code }) => code),
  }));
}

/** The output of `verify --json`. */
export function comparisonsOf(printed: Printed): Comparison[] {
  const forms = (documentOf(printed).forms ?? []) as readonly ComparedDocument[];
  return forms.map(({ form, target, outcome, listed = 0 }) => {
    const isEqual = outcome === 'same';
    const isWell = isEqual || outcome === 'lagging';
    return { formId: form, target, isEqual, isWell, listed };
  });
}

/** A `start` or `worker`: an app that stays open, whose jobs the test assigns. */
export class Worker {
  readonly process: SimProcess;
  readonly log = new Recorded({ decodeStrings: false });
  readonly #app: App;
  readonly #handlers: JobHandlers;

  constructor(world: World, process: SimProcess, settings: Settings) {
    this.process = process;
    const config = loadConfig(settings, noFile, { source: true });
    const clock = clockOf(world, process);
    this.#app = new App(config, { clock, logger: createLogger('info', this.log) });
    this.#handlers = jobHandlers(this.#app);
  }

  /** The scheduled check of the workspace: returns the jobs to queue. */
  async poll(): Promise<Job[]> {
    const { signal } = new AbortController();
    const { syncs, writeBacks } = await this.#handlers.poll(signal);
    return [
      ...syncs.map((order): Job => {
        return { kind: 'sync', formId: order.formId, target: order.target, order };
      }),
      ...writeBacks.map((formId): Job => ({ kind: 'write-back', formId })),
    ];
  }

  /** Does one job; `again`: it must be tried again. */
  async work(job: Job): Promise<{ outcome: string; again: boolean }> {
    const { signal } = new AbortController();
    try {
      if (job.kind === 'sync') {
        const outcome = await this.#handlers.sync(job.order, signal, () => {});
        return { outcome, again: false };
      }
      await this.#handlers.writeBack(job.formId, signal, async () => false);
      return { outcome: 'done', again: false };
    } catch (error) {
      const { code, message } = toMirrorError(error);
      return { outcome: `failed: ${message}`, again: code === 'TARGET_BUSY' };
    }
  }

  async close(): Promise<void> {
    await this.#app[Symbol.asyncDispose]();
  }
}
