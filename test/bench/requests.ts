import { count } from '../../src/base/format.ts';
import { CostPlace } from '../support/large-source/cost-place.ts';
import {
  costOfDeletions,
  costOfKill,
  costOfStatuses,
} from '../support/large-source/request-costs.ts';
import {
  costOfBackfill,
  costOfRounds,
  requestsOfPolls,
  type RoundsCosts,
} from '../support/large-source/worker-costs.ts';
import { createDatabase, startPostgres, startRedis } from '../support/servers.ts';

// How many requests the mirror needs, counted by a Forms API that is not ours: a line a figure, as a table in Markdown.
// Run with: npm run bench requests [figures] [submissions] [latency of workers in ms], for one "changes,kill" 1000000.
// BENCH_CHECKOUT names another checkout whose program is measured, for before and after.

const chosen = (process.argv[2] ?? 'quiet,changes,kill,workers,strikes,rounds').split(',');
const large = Number(process.argv[3] ?? 100_000);
const latencyMs = Number(process.argv[4] ?? 100);

const FORM = 'frm-1';

function show(what: string, ...figures: string[]): void {
  console.log(`| ${what} | ${figures.join('; ')} |`);
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

const median = (numbers: readonly number[]): number | undefined =>
  numbers.toSorted((one, other) => one - other)[numbers.length >> 1];

/** A poll in which nothing happened. */
async function quiet(): Promise<void> {
  for (const targets of [1, 2]) {
    const what = `quiet poll, 50 forms, ${targets === 1 ? 'one target' : 'two targets'}`;
    await using place = await CostPlace.open({ forms: 50, submissions: 20_000 });
    if (targets === 2) {
      const [first, second] = [place.fileUrl('first'), place.fileUrl('second')];
      const env = { TARGETS: 'a,b', TARGET_A_URL: first, TARGET_B_URL: second };
      place.env = { ...place.env, TARGET_URL: undefined, ...env };
    }
    await place.copyAll();
    const asked = await place.sync();
    const polls = await requestsOfPolls(place, 3, { SYNC_EVERY: '10s' });
    show(what, `${asked.log.length} requests (\`sync\`)`, `${median(polls)} in a worker`);
  }
}

/** Changes to old submissions of one large form; each has to be there after one `sync`. */
async function changes(): Promise<void> {
  await using place = await CostPlace.open({ forms: 1, submissions: large });
  const first = await place.copyAll();
  show(`first copy of ${count(large)}`, `${first.log.length} requests`, seconds(first.ms));
  for (const many of [10, 1]) {
    const { requests, seen, ms } = await costOfStatuses(place, FORM, many);
    const what = `status of ${many} old among ${count(large)} changes`;
    show(what, `${seen} of ${many} seen by the next poll`, `${requests} requests`, seconds(ms));
  }
  const { requests, seen, notFound, ms } = await costOfDeletions(place, FORM, 5);
  show(
    `5 old of ${count(large)} deleted`,
    `${seen} of 5 seen by the next poll`,
    `${requests} requests, ${notFound} with 404`,
    seconds(ms),
  );
  const full = await place.sync(['--full']);
  show(`\`sync --full\` then`, `${full.log.length} requests`, seconds(full.ms));
  show('rows that differ in the end', String(await place.differences()));
}

/** A first copy that is killed. */
async function kill(): Promise<void> {
  for (const [submissions, lists] of [
    [60_000, 380],
    [large, large / 200],
  ] as const) {
    await using place = await CostPlace.open({ forms: 1, submissions });
    const { before, after, again } = await costOfKill(place, lists);
    show(
      `backfill killed at ${lists} of ${submissions / 100} pages`,
      `${before} requests before, ${after} after`,
      `${again} lists asked for twice`,
    );
  }
}

async function withServers(
  work: (urls: () => Promise<{ targetUrl: string; queueUrl: string }>) => Promise<void>,
): Promise<void> {
  const [redis, postgres] = [await startRedis(), await startPostgres()];
  let queues = 0;
  try {
    await work(async () => ({
      targetUrl: await createDatabase(postgres),
      queueUrl: `${redis.url}?prefix=q${queues++}`,
    }));
  } finally {
    await Promise.all([redis.stop(), postgres.stop()]);
  }
}

/** One form by one worker and by three, where the source is slow. */
async function workers(): Promise<void> {
  await withServers(async (urls) => {
    await using place = await CostPlace.open({ forms: 1, submissions: large });
    const one = await costOfBackfill(place, { workers: 1, latencyMs, ...(await urls()) });
    const three = await costOfBackfill(place, { workers: 3, latencyMs, ...(await urls()) });
    show(
      `backfill of one form of ${count(large)} at ${latencyMs} ms latency`,
      `one worker ${seconds(one.ms)}, ${one.requests} requests`,
      `three workers ${seconds(three.ms)}, ${three.requests} requests`,
      `${(one.ms / three.ms).toFixed(2)} times as fast`,
    );
  });
}

/** Three workers over one form, two of which do not live to see its end. */
async function strikes(): Promise<void> {
  await withServers(async (urls) => {
    await using place = await CostPlace.open({ forms: 1, submissions: large });
    const strikesAfter = Math.floor(large / 200);
    const options = { workers: 3, latencyMs: 20, strikesAfter, ...(await urls()) };
    const { requests, again, windowsAgain, ms } = await costOfBackfill(place, options);
    show(
      `three workers over one form of ${count(large)}, one killed and one stopped in the middle`,
      `${requests} requests, ${again} lists asked for twice, in ${windowsAgain} windows`,
      seconds(ms),
      `${await place.differences(options.targetUrl)} rows differ`,
    );
  });
}

/** Far enough apart for a round to end before the next. */
const ROUNDS_EVERY = '20s';

const ROUNDS: Readonly<Record<keyof RoundsCosts, string>> = {
  quiet: 'quiet',
  first: 'a newcomer in each, the first since the start',
  changed: 'a newcomer in each',
};

/** Many small forms. */
async function rounds(): Promise<void> {
  await using place = await CostPlace.open({ forms: 200, submissions: 1_000 });
  await place.copyAll();
  const costs = await costOfRounds(place, { SYNC_EVERY: ROUNDS_EVERY });
  for (const [name, { requests, askedMs, storedMs }] of Object.entries(costs)) {
    const what = `200 forms of 5 rows, one round, ${ROUNDS[name as keyof RoundsCosts]}`;
    show(what, `${requests} requests`, seconds(Math.max(askedMs, storedMs)));
  }
}

const figures = { quiet, changes, kill, workers, strikes, rounds };
console.log('| what | figures |\n| --- | --- |');
for (const [name, measure] of Object.entries(figures)) {
  if (chosen.includes(name)) await measure();
}
