import { STATUSES } from '../../src/mirror/types.ts';
import type { LoggedRequest } from './sandbox.ts';
import { FormsStore, type StoredSubmission } from '../../src/sandbox/store.ts';
import type { ChildPlace } from './child-place.ts';
import { type CliResult, syncDocument } from './cli-host.ts';
import { MirrorView } from './mirror-view.ts';
import { Random } from '../simulation/random.ts';

const SPAN_MS = 730 * 86_400_000;
/** Among the newest submissions, a page would show a change. */
const NEWEST = 200;

/**
 * This many submissions, spread over the forms and over two years. A million take about 300 MB: answers are made when read.
 */
export function spreadStore(forms: number, submissions: number): FormsStore {
  const random = new Random(11);
  const store = new FormsStore({ seed: 'costs' });
  const newestMs = store.now();
  for (let place = 1; place <= forms; place++) {
    const id = `frm-${place}`;
    store.addForm({ id, slug: id, name: `Form ${place}`, fields: [{ id: 'name', label: 'Name' }] });
  }
  for (let index = 0; index < submissions; index++) {
    store.insert({
      formId: `frm-${1 + (index % forms)}`,
      createdAt: newestMs - SPAN_MS * (1 - (index + random.next() / 2) / submissions),
      status: random.pick(STATUSES),
      data: { name: `Žofie ${index}` },
    });
  }
  return store;
}

/** The requests to the source in the meantime. */
export async function requestsDuring(
  { sandbox }: ChildPlace,
  work: () => Promise<unknown>,
): Promise<LoggedRequest[]> {
  const before = sandbox.requests.at(-1)?.number ?? 0;
  await work();
  return sandbox.requests.filter(({ number }) => number > before);
}

/** Runs `sync` to its end. Throws if a run fails. */
export async function synced(place: ChildPlace, ...args: string[]): Promise<CliResult> {
  const result = await place.run(['sync', '--json', ...args]);
  const wrong = syncDocument(result).runs.find(({ outcome }) => outcome !== 'ok');
  if (result.code !== 0) throw new Error(`sync failed: ${wrong?.error ?? result.stderr}`);
  return result;
}

/**
 * This many old submissions of a form get another status. Returns the requests of the next `sync`, which must copy them all. `to`: the
 * status of all except those that have it; without it each gets the status after its own.
 */
export async function costOfStatuses(
  place: ChildPlace,
  formId: string,
  many: number,
  to?: string,
): Promise<LoggedRequest[]> {
  const wanted = new Map<string, string>();
  for (const { id, status } of oldOnes(place.store, formId, many)) {
    const after = STATUSES[(STATUSES.findIndex((each) => each === status) + 1) % STATUSES.length]!;
    const next = to === undefined || to === status ? after : to;
    place.store.setStatus(id, next);
    wanted.set(id, next);
  }
  return costOfSync(place, formId, wanted);
}

/** This many old submissions of a form are deleted; see {@link costOfStatuses}. */
export async function costOfDeletions(
  place: ChildPlace,
  formId: string,
  many: number,
): Promise<LoggedRequest[]> {
  const ids = oldOnes(place.store, formId, many).map(({ id }) => id);
  for (const id of ids) place.store.delete(id);
  return costOfSync(place, formId, new Map(ids.map((id) => [id, 'deleted'])));
}

/** Some submissions of a form, far apart in age. */
function oldOnes(store: FormsStore, formId: string, many: number): StoredSubmission[] {
  const old = store.byTime(formId).slice(0, -NEWEST);
  return Array.from({ length: many }, (_, nth) => {
    const share = ((nth + 1 + many) * 0.618_033_988_7) % 1;
    return old[Math.floor(share * old.length)]!;
  });
}

async function costOfSync(
  place: ChildPlace,
  formId: string,
  wanted: ReadonlyMap<string, string>,
): Promise<LoggedRequest[]> {
  const log = await requestsDuring(place, () => synced(place));
  const view = new MirrorView(place.targetUrl);
  const ids = [...wanted.keys()].map((id) => `'${id}'`);
  const rows = await view.ask(
    `SELECT id, CASE WHEN _deleted_at IS NULL THEN status ELSE 'deleted' END AS status
     FROM "${await view.tableOf(formId)}" WHERE id IN (${ids.join()})`,
  );
  const unseen = rows.filter(({ id, status }) => wanted.get(String(id)) !== status);
  if (rows.length < wanted.size || unseen.length > 0)
    throw new Error(`the next sync did not bring ${unseen.map(({ id }) => id).join()}`);
  return log;
}
