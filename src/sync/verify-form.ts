import type { Clock } from '../base/clock.ts';
import type { SubmissionItem } from '../forms/client.ts';
import { cellText, looksHashed } from '../mirror/cells.ts';
import { isHashed } from '../mirror/picks.ts';
import type { OpenForm, Row, Store, StoredRow, TargetNotice } from '../mirror/port.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';
import type { Joining } from '../mirror/picks.ts';
import type { Source } from './source.ts';
import type { Profile } from './profile.ts';
import { compareItems, type Difference, differencesOf, type Differing, verify } from './verify.ts';

/*
 * The comparison of the command `verify`: what differs is looked at again, as a run may be on its way.
 */

/** How a form compares with its copy in a target. */
export interface VerifyReport {
  readonly form: FormIdentity;
  readonly target: string;
  /** `lagging`: the same except for changes so young that the next runs explain them. */
  readonly outcome: 'same' | 'lagging' | 'different' | 'unproven';
  readonly startedAt: string;
  readonly endedAt: string;
  /** Submissions of the source that were compared. */
  readonly compared: number;
  readonly missing: Differing;
  /** Rows of submissions that are gone at the source. */
  readonly extra: Differing;
  readonly differing: Differing & {
    /** How often each column differs: system columns by name, fields by label. */
    readonly columns: Readonly<Record<string, number>>;
  };
  /** Rows that hold a plain answer where a hash belongs, those that are marked deleted included. */
  readonly plain: Differing;
  /** Submissions that changed or came within the last `withinMs`. */
  readonly lagging: Differing & { readonly withinMs: number };
  /** Stored, and hidden or left open by the source. */
  readonly undecided: Differing;
  /** Submissions that are listed as rejected, and so may differ. */
  readonly listed: number;
  /** Submissions that were forgotten, and so have no row. */
  readonly forgotten: number;
  readonly notices: readonly TargetNotice[];
  /** When the newest run ended, or a poll last found nothing to do; null before the first. */
  readonly lastRunAt: string | null;
  readonly requests: number;
}

/** How long differences are looked at again. */
export interface Patience {
  readonly waitMs: number;
  /** A change of this age is explained by the next runs. */
  readonly explainedMs: number;
  /** Called with how many differ, and until when they are looked at again. */
  readonly onWait: (differing: number, untilMs: number) => void;
}

export interface VerifyParts {
  readonly source: Source;
  readonly form: Form;
  readonly store: Store;
  readonly joining: Joining;
  readonly profile: Profile;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What a comparison found, without what its caller knows. */
export type Verified = Omit<
  VerifyReport,
  'form' | 'target' | 'startedAt' | 'endedAt' | 'notices' | 'lastRunAt' | 'requests'
>;

/** A table that is all wrong needs no second look, and is not kept in memory. */
const MOST_LOOKED_AT = 1_000;
const LOOK_EVERY_MS = 3_000;
const LISTED = 20;

/** A submission that differs. */
interface Suspect {
  /** `denied`: the list showed it, and asked for by ID the source says that it is gone. */
  readonly kind: 'missing' | 'extra' | 'changed' | 'denied';
  readonly columns: readonly string[];
  readonly fieldIds: readonly string[];
  /** As the source showed it; null for `extra`, and beyond those that are looked at again. */
  readonly row: Row | null;
  /** The source showed another version at the end than at the beginning. */
  readonly hasChanged: boolean;
}

/** A comparison that has read all of the source. */
export interface StartedVerification {
  /** Looks again at what differs. To be called once. */
  finish(patience: Patience): Promise<Verified>;
}

/**
 * Compares a form, and looks again at what differs until it agrees or the patience is over: at the target now and then, at the source
 * once more at the end. Rejects as source and target do.
 */
export async function startVerification(parts: VerifyParts): Promise<StartedVerification> {
  const { source, form, store, joining, profile, clock } = parts;
  await using held = await opened(store, form.id);
  const found = new Map<string, Suspect>();
  const startedAtMs = clock.now();
  const result = await verify(source, form, held.form, joining, profile, clock, (difference) =>
    found.set(difference.id, suspectOf(difference, found.size < MOST_LOOKED_AT)),
  );
  for (const id of found.keys()) if (!result.differing.has(id)) found.delete(id);
  const plain = held.form === null ? [] : await plainRows(held.form, form, joining);
  const { rejected = 0, forgotten = 0 } = held.form?.state.tally ?? {};
  return {
    async finish({ waitMs, explainedMs, onWait }) {
      let suspects: ReadonlyMap<string, Suspect> = found;
      if (found.size <= MOST_LOOKED_AT) {
        const untilMs = clock.now() + waitMs;
        while (suspects.size > 0 && clock.now() < untilMs) {
          onWait(suspects.size, untilMs);
          await clock.sleep(Math.min(LOOK_EVERY_MS, untilMs - clock.now()), parts.signal);
          suspects = await unlikeStored(parts, suspects);
        }
        suspects = await unlikeSource(parts, suspects);
      }
      const isYoung = ({ kind, row, hasChanged }: Suspect): boolean =>
        explainedMs > 0 &&
        (hasChanged ||
          (kind === 'missing' && Date.parse(row?.createdAt ?? '') > startedAtMs - explainedMs));
      const young = [...suspects].flatMap(([id, one]) => (isYoung(one) ? [id] : []));
      const left = [...suspects].filter(([, one]) => one.kind !== 'denied' && !isYoung(one));
      const denied = [...suspects].flatMap(([id, { kind }]) => (kind === 'denied' ? [id] : []));
      const idsOf = (kind: Suspect['kind']): Differing =>
        firstOf(left.flatMap(([id, one]) => (one.kind === kind ? [id] : [])));
      const undecided = {
        count: result.undecided.count + denied.length,
        ids: [...result.undecided.ids, ...denied].slice(0, LISTED),
      };
      const isProven = result.isProven && undecided.count === 0;
      const same = young.length > 0 ? 'lagging' : 'same';
      return {
        outcome: left.length + plain.length > 0 ? 'different' : isProven ? same : 'unproven',
        compared: result.compared,
        missing: idsOf('missing'),
        extra: idsOf('extra'),
        differing: {
          ...idsOf('changed'),
          columns: columnsOf(
            left.flatMap(([, one]) => (one.kind === 'changed' ? [one] : [])),
            form,
            held.form?.fields ?? [],
          ),
        },
        plain: firstOf(plain),
        lagging: { ...firstOf(young), withinMs: explainedMs },
        undecided,
        listed: rejected,
        forgotten,
      };
    },
  };
}

function suspectOf({ stored, row, columns, fieldIds }: Difference, isKept: boolean): Suspect {
  const isMissing = stored === null || stored.deletedAt !== null;
  const kind = row === null ? 'extra' : isMissing ? 'missing' : 'changed';
  return { kind, columns, fieldIds, row: isKept ? row : null, hasChanged: false };
}

const firstOf = (ids: readonly string[]): Differing => ({
  count: ids.length,
  ids: ids.slice(0, LISTED),
});

/** Those that the target does not hold yet as the source showed them. */
async function unlikeStored(
  { form, store }: VerifyParts,
  suspects: ReadonlyMap<string, Suspect>,
): Promise<ReadonlyMap<string, Suspect>> {
  await using held = await opened(store, form.id);
  const live = new Map<string, StoredRow>();
  for await (const rows of held.form?.rows({ ids: [...suspects.keys()] }, true) ?? [])
    for (const row of rows) live.set(row.id, row);
  return new Map(
    [...suspects].filter(([id, { row }]) => {
      const stored = live.get(id);
      if (row === null || stored === undefined) return (row === null) === (stored !== undefined);
      const { system, others } = differencesOf(row, stored, row.cells.keys());
      return system.length + others.length > 0;
    }),
  );
}

/** Those that still differ from what the source says of each. One that the source leaves open stays. */
async function unlikeSource(
  { source, form, store, joining, clock }: VerifyParts,
  suspects: ReadonlyMap<string, Suspect>,
): Promise<ReadonlyMap<string, Suspect>> {
  const there: SubmissionItem[] = [];
  const gone = new Set<string>();
  const open = new Set<string>();
  await source.byIds([...suspects.keys()], (id, answer) => {
    if (answer.kind === 'there') there.push(answer.item);
    else if (answer.kind === 'gone') gone.add(id);
    else open.add(id);
  });
  await using held = await opened(store, form.id);
  const now = new Map<string, Suspect>();
  await compareItems(form, held.form, joining, clock.now(), there, (difference) =>
    now.set(difference.id, suspectOf(difference, true)),
  );
  for await (const rows of held.form?.rows({ ids: [...gone] }) ?? [])
    for (const { id } of rows)
      now.set(id, { kind: 'extra', columns: [], fieldIds: [], row: null, hasChanged: false });
  return new Map(
    [...suspects].flatMap(([id, before]): [string, Suspect][] => {
      const found = now.get(id);
      if (open.has(id)) return [[id, before]];
      if (found === undefined && before.kind === 'missing' && gone.has(id))
        return [[id, { ...before, kind: 'denied' }]];
      if (found === undefined) return [];
      return [[id, { ...found, hasChanged: versionOf(found.row) !== versionOf(before.row) }]];
    }),
  );
}

const versionOf = (row: Row | null): string =>
  row === null
    ? ''
    : JSON.stringify([
        row.status,
        row.createdAt,
        [...row.cells].map(([id, cell]) => [id, cellText(cell)]),
      ]);

/** IDs of rows with a plain answer where a hash belongs. */
async function plainRows(held: OpenForm, form: Form, { picks }: Joining): Promise<string[]> {
  const hashed = held.fields.filter(({ id }) => isHashed(picks, form, id)).map(({ id }) => id);
  const plain: string[] = [];
  if (hashed.length === 0) return plain;
  for (const isDeleted of [false, true])
    for await (const rows of held.rows({ isDeleted }, true))
      for (const { id, cells } of rows)
        if (
          hashed.some((field) => {
            const cell = cells.get(field) ?? null;
            return cell !== null && !looksHashed(cell);
          })
        )
          plain.push(id);
  return plain;
}

/** In how many of the rows each column differs. */
function columnsOf(
  changed: readonly Pick<Difference, 'columns' | 'fieldIds'>[],
  form: Form,
  stored: OpenForm['fields'],
): Record<string, number> {
  const labels = new Map([...stored, ...form.fields].map(({ id, label }) => [id, label]));
  const columns: Record<string, number> = {};
  for (const difference of changed)
    for (const name of [
      ...difference.columns,
      ...difference.fieldIds.map((id) => labels.get(id) ?? id),
    ])
      columns[name] = (columns[name] ?? 0) + 1;
  return columns;
}

async function opened(
  store: Store,
  formId: string,
): Promise<AsyncDisposable & { readonly form: OpenForm | null }> {
  const form = await store.open({ id: formId }, 'read');
  return { form, [Symbol.asyncDispose]: async () => form?.[Symbol.asyncDispose]() };
}
