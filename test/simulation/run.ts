import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { drawPlan, type Plan, SOURCE_KINDS, type SourceKind, withMore } from './plan.ts';
import { newTally, type Tally } from './judge.ts';
import { lawOf } from './breach.ts';
import { runHistory, type Verdict } from './run-history.ts';
import { STORES, stopServers } from './stores.ts';
import { shrink, tell } from './story.ts';

const USAGE = `npm run simulate -- [options]
Draws histories, runs the program in each, and checks every claim when it is made. Ends at the first law that is broken.

  --seconds N    of one core, for histories that were never drawn before (default 60)
  --from SEED    begins with this seed
  --seed SEED    runs this history, and prints what happened if it breaks a law
  --plan JSON    runs this history, as a shortened one is printed
  --whole        does not make the story of a broken history shorter
  --kind KINDS   of the source, with commas: ${SOURCE_KINDS.join(', ')} (default all)
  --store STORE  ${STORES.join(', ')} (default sqlite)
  --with WHAT    a behaviour (point=value), a change, a deed, a night or a crash that each history gets; may be repeated.
                 people=N: people work in a spreadsheet N times as often
  --keep         goes on after a broken history
  --brief        prints no story
  --help         prints this`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    plan: { type: 'string' },
    whole: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '60' },
    from: { type: 'string' },
    kind: { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
    with: { type: 'string', multiple: true, default: [] },
    keep: { type: 'boolean', default: false },
    brief: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}

const kinds = values.kind === undefined ? SOURCE_KINDS : (values.kind.split(',') as SourceKind[]);
const store = STORES.find((each) => each === values.store);
if (store === undefined) throw new Error(`--store is one of ${STORES.join(', ')}`);
const planOf = (seed: number): Plan => ({
  ...values.with.reduce(withMore, drawPlan(seed, kinds)),
  store,
});

if (values.seed !== undefined || values.plan !== undefined) {
  const plan =
    values.plan === undefined ? planOf(Number(values.seed)) : (JSON.parse(values.plan) as Plan);
  const verdict = await runHistory(plan, { story: true });
  if (verdict.breaches.length === 0) console.log('No law is broken.');
  else await report(plan, verdict, values.whole);
  await stopServers();
  process.exit(verdict.breaches.length === 0 ? 0 : 1);
}

/** Prints the shortest story that breaks the same law, and how to repeat it. */
async function report(plan: Plan, verdict: Verdict, whole: boolean): Promise<void> {
  const law = lawOf(verdict.breaches[0]);
  const short = whole ? { plan, verdict } : await shrink(plan, law);
  console.log(tell(short.plan, short.verdict));
  console.log(
    `\nAgain, whole: npm run simulate -- --seed ${plan.seed}${values.kind === undefined ? '' : ` --kind ${values.kind}`}${store === 'sqlite' ? '' : ` --store ${store}`}${values.with.map((what) => ` --with ${what}`).join('')}`,
  );
  if (!whole)
    console.log(
      `As short as here: npm run simulate -- --whole --plan '${JSON.stringify(short.plan)}'`,
    );
}

/** Seconds of one core, so that a busy machine changes nothing. */
const spent = (): number => (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
const byKind = new Map<SourceKind, Tally & { histories: number }>();
const first = values.from === undefined ? randomInt(1_000_000_000) : Number(values.from);
console.log(`Seeds from ${first}.`);
let [requests, histories, broken] = [0, 0, 0];
// A person who stops a long soak still sees its results.
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isStopped = true));
const isOver = (): boolean => isStopped || spent() >= Number(values.seconds);
for (let seed = first; histories === 0 || !isOver(); seed++) {
  const plan = planOf(seed);
  const before = performance.now();
  const verdict = await runHistory(plan);
  // Servers may be stopped, too: a history that was interrupted shows nothing.
  if (isStopped) break;
  const took = performance.now() - before;
  if (took > 10_000)
    console.log(`seed ${seed} took ${Math.round(took / 1_000)} s and ${verdict.requests} requests`);
  histories++;
  requests += verdict.requests;
  const sum = byKind.get(plan.kind) ?? { histories: 0, ...newTally() };
  byKind.set(plan.kind, sum);
  sum.histories++;
  for (const key of Object.keys(verdict.tally) as (keyof Tally)[]) sum[key] += verdict.tally[key];
  if (verdict.breaches.length > 0) {
    broken++;
    const [breach] = verdict.breaches;
    console.log(`seed ${seed} (${plan.kind}): ${breach?.slice(0, 400)}`);
    if (!values.brief && !values.keep) await report(plan, verdict, false);
    if (!values.keep) break;
  }
}
const minutes = spent() / 60;
console.log(
  `${histories} histories (${Math.round(histories / minutes)} a minute of one core), ${requests} requests (${Math.round(requests / minutes)}), ${broken} broken`,
);
for (const [kind, sum] of byKind)
  console.log(
    `${kind}: ${sum.histories} histories, ${sum.claims} claims, ${sum.excused} excused, ${sum.runs} runs, ${sum.incomplete} incomplete (${((100 * sum.incomplete) / Math.max(1, sum.runs)).toFixed(1)} %), ${sum.crashes} crashes, ${sum.patches} patches, ${sum.acts} acts of people`,
  );
await stopServers();
process.exit(broken === 0 ? 0 : 1);
