import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { count } from '../../src/base/format.ts';
import { CostPlace } from '../support/large-source/cost-place.ts';
import type { LoggedRequest } from '../support/large-source/large-source.ts';
import { sortsOf } from '../support/large-source/request-costs.ts';
import { isComplete, until } from '../support/large-source/worker-costs.ts';
import { seededRandom } from '../support/seeded-random.ts';
import {
  createDatabase,
  postgresMissing,
  redisMissing,
  startPostgres,
  startRedis,
  type TestServer,
} from '../support/servers.ts';
import { Traffic } from './traffic-watch.ts';

// Minutes of traffic over many forms and two targets: how many requests a minute the mirror needs, how long a change at the
// source takes at most until it is in each target, and how much memory the process takes. Ends by itself, with 1 when a
// change that moves a count did not arrive, or the copies differ otherwise in the end.
// Run with: npm run soak:traffic; SOAK_MINUTES, SOAK_SUBMISSIONS, SOAK_FORMS, SOAK_CHANGES (a minute), SOAK_EVERY and
// SOAK_SEED make it smaller or another one.

const setting = (name: string, otherwise: string): string =>
  process.env[`SOAK_${name}`] ?? otherwise;
const minutes = Number(setting('MINUTES', '10'));
const submissions = Number(setting('SUBMISSIONS', '1000000'));
const forms = Number(setting('FORMS', '40'));
const changesAMinute = Number(setting('CHANGES', '120'));
const every = setting('EVERY', '30s');
const seed = Number(setting('SEED', String(Math.floor(Math.random() * 1_000_000))));

/** A first copy of a million rows in two targets takes some minutes, on a busy machine more. */
const COPY_MINUTES = 45;
/** What is under way when the traffic ends has so long to arrive. */
const SETTLE_MS = 180_000;
const WATCH_MS = 500;

const servers: TestServer[] = [];
await using place = await CostPlace.open({ forms, submissions }, { SYNC_EVERY: every });
try {
  process.exitCode = (await soak()) ? 0 : 1;
} finally {
  await Promise.all(place.children.map((child) => child.end('SIGKILL')));
  await Promise.all(servers.map((server) => server.stop()));
}

async function secondTarget(): Promise<string> {
  if (postgresMissing()) return place.fileUrl('second');
  const server = await startPostgres();
  servers.push(server);
  return createDatabase(server);
}

async function queueUrl(): Promise<string | undefined> {
  if (redisMissing()) return undefined;
  const server = await startRedis();
  servers.push(server);
  return server.url;
}

async function soak(): Promise<boolean> {
  const urls = { A: place.fileUrl('first'), B: await secondTarget() };
  console.log(
    `soak: ${count(submissions)} submissions, ${forms} forms, SYNC_EVERY=${every}, ${changesAMinute} changes a minute ` +
      `for ${minutes} minutes, SOAK_SEED=${seed}`,
  );
  const began = Date.now();
  const child = place.start(['start'], {
    TARGETS: 'a,b',
    TARGET_URL: undefined,
    TARGET_A_URL: urls.A,
    TARGET_B_URL: urls.B,
    QUEUE_URL: await queueUrl(),
    LOG_LEVEL: 'error',
  });
  for (const url of Object.values(urls)) {
    await until([child], COPY_MINUTES, () => isComplete(place, url));
  }
  const copied = await place.source.takeLog();
  console.log(
    `first copy: ${seconds(Date.now() - began)}, ${count(copied.length)} requests, peak ${peakMB(child.pid)} MB`,
  );
  const traffic = await Traffic.open(place.source, urls, seededRandom(seed));
  const log: LoggedRequest[] = [];
  const perMinute: number[] = [];
  for (let minute = 1; minute <= minutes; minute++) {
    const asked = await minuteOf(traffic);
    perMinute.push(asked.length);
    log.push(...asked);
    console.log(`minute ${minute}: ${count(asked.length)} requests; ${traffic.summary()}`);
  }
  const settleUntil = Date.now() + SETTLE_MS;
  while (traffic.missing().length > 0 && Date.now() < settleUntil && child.isRunning) {
    await pause(WATCH_MS);
    await traffic.watch();
  }
  const mean = Math.round(log.length / minutes);
  console.log(`requests a minute: ${mean} on average, ${Math.max(...perMinute)} at most`);
  console.log(`of which: ${sortsOf(log)}`);
  for (const line of traffic.longest()) console.log(line);
  for (const line of traffic.exchanged()) console.log(`no count tells of it, in ${line}`);
  const [missing, exchanged] = [traffic.missing(), traffic.exchanged()];
  for (const line of missing) console.log(`never arrived in ${line}`);
  console.log(`peak memory of the process: ${peakMB(child.pid)} MB`);
  const { code } = await child.end('SIGTERM');
  let differences = 0;
  for (const [name, url] of Object.entries(urls)) {
    const found = await place.differences(url);
    differences += found;
    console.log(`target ${name}: ${count(found)} rows differ from the source in the end`);
  }
  const errors = child.stderr.split('\n').filter((line) => line.startsWith('{'));
  for (const line of errors.slice(0, 20)) console.log(`it logged: ${line}`);
  return missing.length === 0 && differences === exchanged.length && code === 0;
}

/** A minute of traffic, evenly; returns what was asked in it. */
async function minuteOf(traffic: Traffic): Promise<LoggedRequest[]> {
  const began = Date.now();
  let made = 0;
  for (let passedMs = 0; passedMs < 60_000; passedMs = Date.now() - began) {
    for (; made < (changesAMinute * passedMs) / 60_000; made++) await traffic.change();
    await traffic.watch();
    await pause(WATCH_MS);
  }
  return place.source.takeLog();
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** Peak resident memory, where the system tells it. */
function peakMB(pid: number): string {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return String(Math.round(Number(kilobytes) / 1_024));
  } catch {
    return 'unknown';
  }
}
