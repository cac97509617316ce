import { setTimeout as pause } from 'node:timers/promises';
import type { Child, ChildEnv } from '../child.ts';
import { MirrorView } from '../mirror-view.ts';
import type { CostPlace } from './cost-place.ts';
import type { LoggedRequest } from './large-source.ts';
import { listsIn } from './request-costs.ts';

const POLL_MS = 100;

/** A poll is over when nothing was asked for so long. */
const REST_MS = 1_500;

/** Each begins with the list of forms, of which it reads some pages or, in turn, one. */
const isFormsList = (entry: LoggedRequest | undefined): boolean =>
  /^GET \/forms(\?|$)/.test(entry?.request ?? '');

const beginsPoll = (entry: LoggedRequest, nth: number, log: readonly LoggedRequest[]): boolean =>
  isFormsList(entry) && !isFormsList(log[nth - 1]);

/** Asks again and again until the answer is yes. Throws when a process has ended, or it takes longer than so many minutes. */
export async function until(
  children: readonly Child[],
  minutes: number,
  isSo: () => Promise<boolean>,
): Promise<void> {
  const giveUpAt = Date.now() + minutes * 60_000;
  while (!(await isSo())) {
    const ended = children.find(({ isRunning }) => !isRunning);
    if (ended !== undefined) throw new Error(`a process ended: ${ended.stderr.slice(-2_000)}`);
    if (Date.now() > giveUpAt) throw new Error(`nothing came of it in ${minutes} minutes`);
    await pause(POLL_MS);
  }
}

/** Whether a target claims as many submissions as its source has, in all forms. */
export async function isComplete(place: CostPlace, url: string): Promise<boolean> {
  const rows = await new MirrorView(url).ask(
    'SELECT rows AS total FROM freshness WHERE submissions_as_of IS NOT NULL',
  );
  const { forms, submissions } = place.source.size;
  if (rows.length !== forms) return false;
  return rows.reduce((sum, { total }) => sum + Number(total), 0) === submissions;
}

/** Requests of single polls of a worker over a quiet source: each begins with the list of forms. The first copy is not counted. */
export async function requestsOfPolls(
  place: CostPlace,
  polls: number,
  env: ChildEnv = {},
): Promise<number[]> {
  await place.source.takeLog();
  const child = place.start(['start'], env);
  const log: LoggedRequest[] = [];
  // The first one comes with what a start brings, and the last one may still go on.
  await until([child], 5, async () => {
    log.push(...(await place.source.takeLog()));
    return log.filter(beginsPoll).length >= polls + 3;
  });
  await child.end('SIGTERM');
  const starts = log.flatMap((entry, nth) => (beginsPoll(entry, nth, log) ? [nth] : []));
  return starts.slice(2, -1).map((start, nth) => starts[nth + 3]! - start);
}

/** The cost of one poll of a worker. */
export interface RoundCosts {
  /** From the first request of the poll to its last one, milliseconds. */
  readonly askedMs: number;
  /** From the first request to the end of the last run; 0 where there was none. */
  readonly storedMs: number;
  readonly requests: number;
}

/** What polls of `start` over a complete copy take; see {@link costOfRounds}. */
export interface RoundsCosts {
  /** While nothing changes. */
  readonly quiet: RoundCosts;
  /** With a newcomer in every form, the first since the start: every form's fields are read. */
  readonly first: RoundCosts;
  /** With another one. */
  readonly changed: RoundCosts;
}

/** Each poll has to end before the next. */
export async function costOfRounds(place: CostPlace, env: ChildEnv = {}): Promise<RoundsCosts> {
  const { source } = place;
  await source.takeLog();
  const child = place.start(['start'], env);
  const log: LoggedRequest[] = [];
  const look = async (isSo: () => boolean | Promise<boolean>): Promise<void> =>
    until([child], 10, async () => {
      log.push(...(await source.takeLog()));
      return isSo();
    });
  const isAtRest = (): boolean => Date.now() - (log.at(-1)?.atMs ?? Infinity) > REST_MS;
  /** The requests of the first poll that begins from now on, once nothing is asked any more and `isSo`. */
  const round = async (isSo: () => Promise<boolean>): Promise<LoggedRequest[]> => {
    const from = log.length;
    const begin = (): number => log.findIndex((entry, nth) => nth >= from && isFormsList(entry));
    await look(async () => begin() !== -1 && isAtRest() && (await isSo()));
    return log.slice(begin());
  };
  /** One of newcomers, who come right after a poll has come to rest, so that all fall into one round. */
  const changedRound = async (): Promise<RoundCosts> =>
    roundCosts(await round(await submitEverywhere(place)), await lastRunMs(place));
  // What a start asks first, and its own poll.
  await look(isAtRest);
  const quiet = roundCosts(await round(() => Promise.resolve(true)), 0);
  const [first, changed] = [await changedRound(), await changedRound()];
  await child.end('SIGTERM');
  return { quiet, first, changed };
}

/** When the last run ended (ms since the epoch), from its record: constant questions would slow it down. */
async function lastRunMs({ targetUrl }: CostPlace): Promise<number> {
  const [row] = await new MirrorView(targetUrl).ask(
    'SELECT max(ended_at) AS ended FROM mirror_runs',
  );
  return Date.parse(String(row?.['ended']));
}

function roundCosts(round: readonly LoggedRequest[], storedAtMs: number): RoundCosts {
  const beganAtMs = round[0]!.atMs;
  return {
    askedMs: round.at(-1)!.atMs - beganAtMs,
    storedMs: Math.max(0, storedAtMs - beganAtMs),
    requests: round.length,
  };
}

/** A person submits to every form; returns the question whether all of that is in the target. */
async function submitEverywhere({ source, targetUrl }: CostPlace): Promise<() => Promise<boolean>> {
  const view = new MirrorView(targetUrl);
  const counts: string[] = [];
  const tables = new Map<string, string>();
  for (const formId of source.formIds) tables.set(formId, (await view.tableOf(formId)) ?? '');
  for (const [formId, table] of tables) {
    const [id] = await source.insert(formId, [Date.now()]);
    counts.push(`SELECT count(*) AS n FROM "${table}" WHERE id = '${id}'`);
  }
  const sql = `SELECT sum(n) AS n FROM (${counts.join(' UNION ALL ')})`;
  return async () => Number((await view.ask(sql))[0]?.['n']) === counts.length;
}

/** A first copy by several workers. */
export interface BackfillCosts {
  readonly ms: number;
  readonly requests: number;
  /** Lists that were asked for more than once, word for word. */
  readonly again: number;
  /** How many windows they are of: pages that were asked for with the same dates. */
  readonly windowsAgain: number;
}

/** How {@link costOfBackfill} goes. */
export interface BackfillOptions {
  readonly workers: number;
  readonly targetUrl: string;
  readonly queueUrl: string;
  readonly latencyMs?: number;
  /** Strikes when so many lists were answered: one of three workers is killed with -9 and another one stopped. */
  readonly strikesAfter?: number;
}

/** One `start` and further workers copy everything into a fresh target. The clock runs when all are up. */
export async function costOfBackfill(
  place: CostPlace,
  { workers, targetUrl, queueUrl, latencyMs = 0, strikesAfter }: BackfillOptions,
): Promise<BackfillCosts> {
  const { source } = place;
  await source.setLatency(latencyMs);
  await source.holdAfter(0);
  await source.takeLog();
  const env = (nth: number): ChildEnv => ({
    TARGET_URL: targetUrl,
    QUEUE_URL: queueUrl,
    DATA_DIR: `${place.folder}/worker-${nth}`,
  });
  const children = Array.from({ length: workers }, (_, nth) =>
    place.start([nth === 0 ? 'start' : 'worker'], env(nth)),
  );
  await source.untilHeld();
  // The others need as long to start as the first one did.
  await pause(3_000);
  await source.letGo();
  const began = performance.now();
  const log: LoggedRequest[] = [];
  let left = children;
  await until(children.slice(0, 1), 60, async () => {
    log.push(...(await source.takeLog()));
    if (strikesAfter !== undefined && left === children && listsIn(log).length >= strikesAfter) {
      left = children.slice(0, 1);
      void children[1]?.end('SIGKILL');
      void children[2]?.end('SIGTERM');
    }
    return isComplete(place, targetUrl);
  });
  const ms = Math.round(performance.now() - began);
  await Promise.all(children.map((child) => child.end('SIGTERM')));
  log.push(...(await source.takeLog()));
  await source.setLatency(0);
  return { ms, requests: log.length, ...repeatsIn(log) };
}

function repeatsIn(log: readonly LoggedRequest[]): Pick<BackfillCosts, 'again' | 'windowsAgain'> {
  const seen = new Set<string>();
  const again = listsIn(log).filter(({ request }) => seen.size === seen.add(request).size);
  const windows = again.flatMap(({ request }) => {
    const query = new URLSearchParams(request.split('?')[1]);
    const isPage = query.get('limit') === '100' && (query.has('dateFrom') || query.has('dateTo'));
    return isPage ? `${query.get('dateFrom')} ${query.get('dateTo')}` : [];
  });
  return { again: again.length, windowsAgain: new Set(windows).size };
}
