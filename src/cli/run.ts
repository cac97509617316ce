import { withinTime } from '../base/deadline.ts';
import { MirrorError } from '../base/errors.ts';
import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import type { StatusSettings } from '../settings/service-settings.ts';
import { person } from '../sync/erasure-log.ts';
import { type ActionName, actAnswer, type DoneLine } from '../web/action-order.ts';
import type { CommandCall } from './command-spec.ts';
import type { Host } from './host.ts';
import { printLines } from './pause.ts';
import { commandFor } from './pausing.ts';

/** A look is asked for, not waited for. */
const ANSWER_WITHIN_MS = 30_000;

/** `run`: has the `start` that runs here look, or compare, now. It is asked over its own status page. */
export async function run({ host, text, flag }: CommandCall): Promise<ExitCode> {
  const { status } = await host.loadConfig();
  const order = orderOf(flag, text);
  const lines = await ask(status, { ...order, by: `command line, ${person()}` }, host);
  if (flag('json')) host.terminal.printJson({ action: order.do, lines });
  else printLines(host.terminal, lines);
  const failed = lines.some(({ ok }) => !ok);
  return host.stop.exitCode() ?? (failed ? EXIT_CODES.FAILED.code : EXIT_CODES.DONE.code);
}

interface RunOrder {
  readonly do: ActionName;
  readonly form: string | null;
  readonly target: string | null;
}

function orderOf(flag: CommandCall['flag'], text: CommandCall['text']): RunOrder {
  const [form, target] = [text('form') ?? null, text('target') ?? null];
  if (flag('acceptDeletes')) {
    if (form !== null) return { do: 'accept', form, target };
    throw new MirrorError(
      'USAGE',
      'Deletions are accepted form by form: name it with --form, after a look at it in the dashboard.',
    );
  }
  return { do: flag('full') ? 'compare' : 'look', form, target };
}

async function ask(
  status: StatusSettings,
  order: RunOrder & { readonly by: string },
  { clock, stop: { signal } }: Host,
): Promise<DoneLine[]> {
  const url = `${addressOf(status)}/actions`;
  let response: Response | undefined;
  try {
    const sent = fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(status.password !== undefined && {
          authorization: `Basic ${Buffer.from(`admin:${status.password}`).toString('base64')}`,
        }),
      },
      body: JSON.stringify(order),
      redirect: 'error',
      signal,
    });
    response = await withinTime(sent, ANSWER_WITHIN_MS, clock);
  } catch (error) {
    if (signal.aborted) throw new MirrorError('CANCELLED', 'Stopped on request.');
    throw notRunning(status, order, error);
  }
  if (response === undefined) {
    throw new MirrorError(
      'NOT_RUNNING',
      `What answers at ${addressOf(status)} has not said for ${ANSWER_WITHIN_MS / 1_000} s what became of it. It may be done all the same: forms-mirror status shows that.`,
    );
  }
  if (response.status === 401 || response.status === 429) {
    throw new MirrorError(
      'USAGE',
      `The mirror at ${addressOf(status)} refuses the password: set ADMIN_PASSWORD to the one that start was given.`,
    );
  }
  const answer = actAnswer.safeParse(await response.json().catch(() => undefined));
  if (!answer.success) {
    throw new MirrorError(
      'USAGE',
      `What answers at ${addressOf(status)} is no forms-mirror, or one of another release. PORT and HOST have to be those of start; without it: ${syncFor(order)}`,
    );
  }
  const [first] = answer.data.lines;
  if (response.status === 400 && first !== undefined) throw new MirrorError('USAGE', first.text);
  return answer.data.lines;
}

/** Where the page of a `start` with these settings answers. */
function addressOf({ host, port }: StatusSettings): string {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  const everywhere = bare === '0.0.0.0' || bare === '::';
  const name = everywhere ? 'localhost' : bare;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function notRunning(status: StatusSettings, order: RunOrder, cause: unknown): MirrorError {
  const where =
    status.port === 0
      ? 'PORT is 0, so that nobody can tell where its page answers'
      : `nothing answers at ${addressOf(status)}, where its page would be (HOST, PORT)`;
  return new MirrorError(
    'NOT_RUNNING',
    `No start is known to run here: ${where}. What you asked for can be done in this process instead: ${syncFor(order)}`,
    { cause },
  );
}

function syncFor({ do: action, form, target }: RunOrder): string {
  const how = { look: '', compare: ' --full', accept: ' --full --accept-deletes' } as const;
  const option = action in how ? how[action as keyof typeof how] : '';
  return commandFor(`sync${option}`, form, target);
}
