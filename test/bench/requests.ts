import { join } from 'node:path';
import type { SandboxOptions } from '../support/sandbox.ts';
import { count } from '../../src/base/format.ts';
import { ChildPlace } from '../support/child-place.ts';
import {
  costOfDeletions,
  costOfStatuses,
  requestsDuring,
  spreadStore,
  synced,
} from '../support/request-costs.ts';

// How many requests the mirror needs, counted by the source: a line for each figure, as a table in Markdown. Run with:
// npm run bench requests [figures] [submissions], for example "changes,kill" 1000000.

const chosen = (process.argv[2] ?? 'quiet,newcomers,changes,kill').split(',');
const large = Number(process.argv[3] ?? 100_000);

const FORM = 'frm-1';

function show(what: string, ...figures: string[]): void {
  console.log(`| ${what} | ${figures.join('; ')} |`);
}

/** Runs work with a source and with processes of the program, and removes both afterwards. */
async function withPlace(
  options: SandboxOptions,
  work: (place: ChildPlace) => Promise<void>,
): Promise<void> {
  const endings: (() => Promise<void> | void)[] = [];
  const place = await ChildPlace.open(options, (end) => endings.push(end));
  try {
    await work(place);
  } finally {
    for (const end of endings) await end();
  }
}

/** A poll in which nothing happened, for two targets. */
async function quiet(): Promise<void> {
  await withPlace({ store: spreadStore(50, 20_000) }, async (place) => {
    const file = (name: string): string => `sqlite:${join(place.folder, `${name}.sqlite`)}`;
    const urls = { TARGET_URL: undefined, TARGET_A_URL: file('a'), TARGET_B_URL: file('b') };
    place.env = { ...place.env, TARGETS: 'a,b', ...urls };
    await synced(place);
    const { length } = await requestsDuring(place, () => synced(place));
    show('quiet poll, 50 forms, two targets', `${length} requests`);
  });
}

/** A newcomer in each of many forms: more than a page of the workspace shows. */
async function newcomers(): Promise<void> {
  const many = 200;
  await withPlace({ store: spreadStore(many, 101 * many) }, async (place) => {
    await synced(place);
    for (const { id: formId } of place.store.forms())
      place.store.insert({ formId, data: { name: 'Žofie' } });
    const { length } = await requestsDuring(place, () => synced(place));
    show(`one newcomer in each of ${many} forms`, `${length} requests`);
  });
}

/** Changes to old submissions of one large form; each must be copied after one `sync`. */
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

/** A first copy that is killed with -9 after this many lists were answered; then `sync` copies the rest. */
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

const figures = { quiet, newcomers, changes, kill };
console.log('| what | figures |\n| --- | --- |');
for (const [name, measure] of Object.entries(figures)) {
  if (chosen.includes(name)) await measure();
}
