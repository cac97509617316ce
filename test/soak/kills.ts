import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import { runTraffic } from '../../src/sandbox/traffic.ts';
import { Random } from '../simulation/random.ts';
import { ChildPlace } from '../support/child-place.ts';
import { MirrorView } from '../support/mirror-view.ts';
import { SQL_SERVERS } from '../support/servers.ts';
import { breachesOf } from '../support/settled.ts';

// Kills `sync` with -9 at random instants while the source changes. After every tenth kill, one run is completed, and the
// target is compared with the source: L1, L5 and L13. Ends on its own, with 1 if a law was broken. Run with: npm run
// soak:kills -- --store postgres --kills 200 --seed 1

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
  },
});
const seed = Number(values.seed);
const random = new Random(seed);

/** Each place begins with an empty target, so that first copies are killed, too. */
const KILLS_A_PLACE = 10;
const SUBMISSIONS = 6_000;
const CHANGES_A_MINUTE = 3_000;

const kind = SQL_SERVERS[values.store];
if (kind === undefined && values.store !== 'sqlite')
  throw new Error('--store: sqlite, postgres or mariadb');
const server = await kind?.start();
console.log(`${values.kills} kills, ${values.store}, --seed ${seed}`);
let killed = 0;
let inTime = 0;
const breaches: string[] = [];
try {
  while (killed < Number(values.kills) && breaches.length === 0) await onePlace();
} finally {
  await server?.stop();
}
console.log(
  `${killed} kills, ${inTime} of them before the run had ended; ${breaches.length} breaches`,
);
for (const breach of breaches) console.log(breach);
process.exitCode = breaches.length === 0 ? 0 : 1;

async function onePlace(): Promise<void> {
  const endings: (() => Promise<void> | void)[] = [];
  const store = createSampleWorkspace({ submissions: SUBMISSIONS, seed: seed + killed });
  const place = await ChildPlace.open({ store }, (work) => endings.push(work));
  if (server !== undefined) place.env = { ...place.env, TARGET_URL: await kind?.database(server) };
  try {
    let usualMs = 2_000;
    for (let kill = 0; kill < KILLS_A_PLACE; kill++) {
      using _ = peopleOf(place);
      const began = performance.now();
      const child = place.start(['sync', ...(random.chance(0.5) ? ['--full'] : [])]);
      const ended = await Promise.race([
        child.ended.then(() => true),
        pause(usualMs * (0.2 + random.next()), false),
      ]);
      await child.end('SIGKILL');
      killed++;
      if (ended) usualMs = performance.now() - began;
      else inTime++;
    }
    // Accepts the deletions that it holds.
    await place.run(['sync', '--full']);
    const last = await place.run(['sync', '--full', '--accept-deletes']);
    if (last.code !== 0) breaches.push(`exit ${last.code}: ${last.stdout}${last.stderr}`);
    breaches.push(...(await breachesOf(store, new MirrorView(place.targetUrl))));
    console.log(`${killed} kills, ${inTime} before the run had ended; ${breaches.length} breaches`);
  } finally {
    for (const end of endings) await end();
  }
}

/** People who change the source until the end. */
function peopleOf({ store }: ChildPlace): Disposable {
  const people = new AbortController();
  void runTraffic(store, { perMinute: CHANGES_A_MINUTE, signal: people.signal });
  return { [Symbol.dispose]: () => people.abort() };
}
