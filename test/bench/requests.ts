import { join } from 'node:path';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { count } from '../../src/base/format.ts';
import { ChildPlace } from '../support/child-place.ts';
import { MirrorView } from '../support/mirror-view.ts';
import {
  costOfDeletions,
  costOfStatuses,
  requestsDuring,
  requestsOfPolls,
  spreadStore,
  synced,
} from '../support/request-costs.ts';

// How many requests the mirror needs, counted by the source: a line a figure, as a table in Markdown.
// Run with: npm run bench requests [figures] [submissions], for example "changes,kill" 1000000.

const chosen = (process.argv[2] ?? 'quiet,changes,kill,rounds').split(',');
const large = Number(process.argv[3] ?? 100_000);

const FORM = 'frm-1';

function show(what: string, ...figures: string[]): void {
  console.log(`| ${what} | ${figures.join('; ')} |`);
}

/** Does something with a source and with processes of the program, and takes both away. */
async function withPlace(
  options: SandboxOptions,
  work: (place: ChildPlace) => Promise<void>,
): Promise<void> {
  const endings: (() => Promise<void> | void)[] = [];
  const place = await ChildPlace.open((end) => endings.push(end), options);
  try {
    await work(place);
  } finally {
    for (const end of endings) await end();
  }
}

/** A poll in which nothing happened. */
async function quiet(): Promise<void> {
  for (const targets of ['a', 'a,b']) {
    await withPlace({ store: spreadStore(50, 20_000) }, async (place) => {
      const file = (name: string): string => `sqlite:${join(place.folder, `${name}.sqlite`)}`;
      const urls = {
        TARGET_A_URL: file('a'),
        ...(targets === 'a' ? {} : { TARGET_B_URL: file('b') }),
      };
      place.env = { ...place.env, TARGET_URL: undefined, TARGETS: targets, ...urls };
      await synced(place);
      const { length } = await requestsDuring(place, () => synced(place));
      const polls = await requestsOfPolls(place, 3, { SYNC_EVERY: '10s' });
      const what = `quiet poll, 50 forms, targets ${targets}`;
      show(what, `${length} requests (\`sync\`)`, `${polls.join(', ')} in a worker`);
    });
  }
}

/** Changes to old submissions of one large form; each has to be there after one `sync`. */
async function changes(): Promise<void> {
  await withPlace({ store: spreadStore(1, large) }, async (place) => {
    const first = await requestsDuring(place, () => synced(place));
    show(`first copy of ${count(large)}`, `${first.length} requests`);
    for (const [many, to] of [[10, 'DONE'], [10], [1]] as const) {
      const log = await costOfStatuses(place, FORM, many, to);
      const what = `${many} old among ${count(large)} set to ${to ?? 'their next status'}`;
      show(what, `${log.length} requests`);
    }
    const log = await costOfDeletions(place, FORM, 5);
    const notFound = log.filter(({ status }) => status === 404).length;
    show(`5 old of ${count(large)} deleted`, `${log.length} requests, ${notFound} with 404`);
    const full = await requestsDuring(place, () => synced(place, '--full'));
    show('`sync --full` then', `${full.length} requests`);
  });
}

/** A first copy that is killed with -9 when so many lists were answered; then `sync` does the rest. */
async function kill(): Promise<void> {
  for (const [submissions, most] of [
    [60_000, 380],
    [large, large / 200],
  ] as const) {
    let lists = 0;
    const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const onRequest = ({ path }: { readonly path: string }): Promise<void> | undefined => {
      if (path !== '/submissions' || ++lists <= most) return undefined;
      held.resolve();
      return over.promise;
    };
    await withPlace({ store: spreadStore(1, submissions), onRequest }, async (place) => {
      const before = await requestsDuring(place, async () => {
        const child = place.start(['sync', '--json']);
        await held.promise;
        await child.end('SIGKILL');
      });
      over.resolve();
      const after = await requestsDuring(place, () => synced(place));
      const what = `first copy killed at ${most} of ${submissions / 100} pages`;
      show(what, `${before.length} requests before, ${after.length} after`);
    });
  }
}

/** Many small forms: a `sync` in which nothing happened, and one with a newcomer in each form. */
async function rounds(): Promise<void> {
  const askedAtMs: number[] = [];
  const afterResponse = (): void => void askedAtMs.push(Date.now());
  await withPlace({ store: spreadStore(200, 1_000), afterResponse }, async (place) => {
    await synced(place);
    const view = new MirrorView(place.targetUrl);
    const round = async (what: string): Promise<void> => {
      askedAtMs.length = 0;
      await synced(place);
      const [run] = await view.ask('SELECT max(ended_at) AS ended FROM mirror_runs');
      const endMs = Math.max(askedAtMs.at(-1)!, Date.parse(String(run?.['ended'])));
      const seconds = ((endMs - askedAtMs[0]!) / 1_000).toFixed(1);
      show(`200 forms of 5 rows, ${what}`, `${askedAtMs.length} requests`, `${seconds} s`);
    };
    await round('quiet');
    for (const { id } of place.store.forms()) place.store.insert({ formId: id, data: {} });
    await round('a newcomer in each');
  });
}

const figures = { quiet, changes, kill, rounds };
console.log('| what | figures |\n| --- | --- |');
for (const [name, measure] of Object.entries(figures)) {
  if (chosen.includes(name)) await measure();
}
