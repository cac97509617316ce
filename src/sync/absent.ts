import { shellWord } from '../base/printable.ts';
import type { SubmissionItem } from '../mirror/types.ts';
import { flagAll, type FormState, liveRows } from '../mirror/form-state.ts';
import { isIn } from '../mirror/accounting.ts';
import type { Entry, RowQuery, StoredRow } from '../mirror/port.ts';
import { type Span } from './profile.ts';
import { idsOf, type Target } from './target.ts';
import { accountedIn, Incomplete, type RunOptions, type Work } from './work.ts';

/** Up to this many deletions at once never wait for a person: a small form may well lose half of its rows. */
const FEW_DELETIONS = 20;

/**
 * After a proven list: settles the submissions that it did not show. Asks for each row by its ID; only a 404 or 410 marks it
 * deleted (L8). Removes an entry without a row, and no longer counts a forgotten submission. `keys`: everything that the list
 * showed, already stored. False if a list by date hid a submission that exists: then the source's dates are not creation times, and
 * only the whole list can tell. Throws Incomplete if a whole list hid it.
 */
export async function settleAbsent(
  work: Work,
  query: Span,
  keys: ReadonlySet<string>,
): Promise<boolean> {
  const { form, sink } = work;
  const { clock } = work.target;
  await sink.flush();
  const { held, undecided, forgotten } = form.state.tally;
  // Every shown submission is accounted for. If the numbers are equal, the target has no other row.
  if (held + undecided + forgotten === 0 && (await accountedIn(form, query)) === keys.size)
    return true;
  const absent: StoredRow[] = [];
  for await (const rows of form.rows(query)) absent.push(...rows.filter(({ id }) => !keys.has(id)));
  await dropListed(work, query, keys);
  if (absent.length === 0) return true;
  // A submission that a list of one status does not show may have another status now, so it is asked for by its ID in any case.
  if (query.status === undefined) {
    const listed = await listedMissing(work);
    const fresh = absent.filter(({ id }) => !listed.has(id));
    if (isOverLimit(work, fresh.length)) {
      const entries = fresh.map((row) => missingEntry('held', row, TOO_MANY, clock.now()));
      if (entries.length > 0) await sink.flush({ entries });
      return true;
    }
  }
  const there = await askAbsent(work, absent);
  const hidden = there.find(({ submission }) => submission !== null && isIn(submission, query));
  if (hidden === undefined) return true;
  if (query.fromMs !== null || query.toMs !== null) {
    work.profile.learn({ bounds: 'none' });
    return false;
  }
  await sink.note((state) => ({ ...flagAll(state), isListDoubted: true }));
  const { key } = hidden;
  // A service with a trash may show it there forever.
  const remedy = `if it was deleted on purpose, forms-mirror forget ${shellWord(key)} removes it here`;
  throw new Incomplete('HIDES', `such as ${key}; ${remedy}`);
}

/**
 * How many more rows of a form may be marked deleted without a person. Rows deleted since the last agreement count as rows that existed.
 */
export const deletionsLeft = (
  { tally, recentlyDeleted }: FormState,
  { maxDeleteFraction }: Target,
  { acceptDeletes = 0 }: RunOptions,
): number => {
  const limit = Math.max(FEW_DELETIONS, maxDeleteFraction * (liveRows(tally) + recentlyDeleted));
  return Math.max(limit - recentlyDeleted, acceptDeletes);
};

/**
 * Whether more rows are gone than {@link deletionsLeft} allows (L8). The guard adds up over ranges and runs, and considers the
 * total of the whole form first. `more`: rows that are gone in addition to the known ones.
 */
export function isOverLimit({ target, form, asked, shortBy }: Work, more = 0): boolean {
  const { held } = form.state.tally;
  return held + Math.max(more, shortBy) > deletionsLeft(form.state, target, asked);
}

const TOO_MANY = 'many rows disappeared at once';

const missingEntry = (
  kind: 'held' | 'undecided',
  { id, status, createdAt }: StoredRow,
  reason: string,
  atMs: number,
): Entry => ({ kind, id, status, createdAt, reason, atMs });

/** IDs of the rows that are listed as held or undecided. */
async function listedMissing({ form }: Work): Promise<Set<string>> {
  return new Set((await form.entries(['held', 'undecided'])).map(({ id }) => id));
}

/** Asks for absent rows by ID and stores the results. Returns the rows that still exist. */
async function askAbsent(work: Work, rows: readonly StoredRow[]): Promise<SubmissionItem[]> {
  const { source, sink } = work;
  const { clock } = work.target;
  const byId = new Map(rows.map((row) => [row.id, row]));
  const gone: string[] = [];
  const undecided: Entry[] = [];
  const there: SubmissionItem[] = [];
  await source.byIds(work.form.state.formId, [...byId.keys()], (id, answer) => {
    const row = byId.get(id) as StoredRow;
    if (answer.kind === 'gone') gone.push(id);
    else if (answer.kind === 'there') there.push(answer.item);
    else undecided.push(missingEntry('undecided', row, answer.reason, clock.now()));
  });
  // If a response by ID has no status, the stored row stays as it is.
  await sink.add(there.filter(({ submission }) => submission?.status !== ''));
  await sink.flush();
  const listed = await listedMissing(work);
  const isHeld = isOverLimit(work, gone.filter((id) => !listed.has(id)).length);
  const held = (isHeld ? gone : []).map((id) =>
    missingEntry('held', byId.get(id) as StoredRow, TOO_MANY, clock.now()),
  );
  const deleted = isHeld ? [] : gone;
  await sink.flush({
    deleted,
    entries: [...undecided, ...held],
    settled: [
      { kind: 'held', ids: undecided.map(({ id }) => id) },
      { kind: 'undecided', ids: held.map(({ id }) => id) },
    ],
    state: (state) => ({ ...state, recentlyDeleted: state.recentlyDeleted + deleted.length }),
  });
  work.shortBy -= deleted.length;
  return there;
}

/** Stops counting entries without a row that are no longer shown. */
async function dropListed(
  { form, sink }: Work,
  query: RowQuery,
  keys: ReadonlySet<string>,
): Promise<void> {
  const { tally } = form.state;
  for (const kind of ['rejected', 'held', 'undecided'] as const) {
    if (tally[kind] === 0) continue;
    const ids = (await form.entries([kind]))
      .filter((entry) => isIn(entry, query) && !keys.has(entry.id))
      .map(({ id }) => id);
    const stored = ids.length > 0 ? await idsOf(form.rows({ ids })) : new Set();
    // People may have removed a row that was held.
    const gone = ids.filter((id) => !stored.has(id));
    if (gone.length > 0) await sink.flush({ settled: [{ kind, ids: gone }] });
  }
  if (tally.forgotten === 0) return;
  const shown = new Set((await form.forgotten([...keys])).values());
  const ended: Entry[] = [];
  for (const entry of await form.entries(['forgotten']))
    if (entry.status !== null && isIn(entry, query) && !shown.has(entry.id))
      ended.push({ ...entry, status: null });
  if (ended.length > 0) await sink.flush({ entries: ended });
}
