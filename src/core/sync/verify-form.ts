import type { Clock } from '../../base/clock.ts';
import type { SubmissionItem } from '../../forms/client.ts';
import { cellText } from '../../mirror/cell.ts';
import { looksHashed } from '../../mirror/hashing.ts';
import { isHashed } from '../../mirror/picks.ts';
import type { TargetNotice } from '../../mirror/notices.ts';
import type { Form, FormIdentity } from '../../mirror/types.ts';
import type { OpenForm, Row, Store } from '../mirror/port.ts';
import type { Joining } from './sink.ts';
import type { Source } from './source.ts';
import type { Profile } from './profile.ts';
import { compareItems, type Difference, type Differing, verify } from './verify.ts';

/*
 * The comparison of the command `verify`: what differs is looked at again, as a run may be on its way.
 */

/** How a form compares with its copy in a target. */
export interface VerifyReport {
  readonly form: FormIdentity;
  readonly target: string;
  /** `lagging`: the same but for changes that are so young that the next runs explain them. */
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
  readonly lastPassAt: string | null;
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
  'form' | 'target' | 'startedAt' | 'endedAt' | 'notices' | 'lastPassAt' | 'requests'
>;

/** A table that is all wrong needs no second look. */
const MOST_LOOKED_AT = 1_000;
const LOOK_EVERY_MS = 3_000;
const LISTED = 20;

interface Suspect {
  readonly difference: Difference;
  /** When the source was first seen to show this version. */
  readonly sinceMs: number;
}

/** A comparison that has read all of the source. */
export interface StartedVerification {
  /** Looks again at what differs. To be called once. */
  finish(patience: Patience): Promise<Verified>;
}

/** Compares a form, and looks again at what differs until it agrees or the patience is over. Rejects as source and target do. */
export async function startVerification(parts: VerifyParts): Promise<StartedVerification> {
  const { source, form, store, joining, profile, clock } = parts;
  await using held = await opened(store, form.id);
  const suspects = new Map<string, Suspect>();
  const startedAtMs = clock.now();
  const result = await verify(source, form, held.form, joining, profile, clock, (difference) => {
    suspects.set(difference.id, { difference, sinceMs: startedAtMs });
  });
  const agreed = new Set([...suspects.keys()].filter((id) => !result.differing.has(id)));
  for (const id of agreed) suspects.delete(id);
  const plain = held.form === null ? [] : await plainRows(held.form, form, joining);
  const { rejected = 0, forgotten = 0 } = held.form?.state.tally ?? {};
  return {
    async finish({ waitMs, explainedMs, onWait }) {
      const untilMs = clock.now() + waitMs;
      const isHopeless = suspects.size > MOST_LOOKED_AT;
      const mayLook = isHopeless ? startedAtMs : untilMs;
      while (suspects.size > 0 && clock.now() < mayLook) {
        onWait(suspects.size, untilMs);
        await clock.sleep(Math.min(LOOK_EVERY_MS, untilMs - clock.now()), parts.signal);
        await lookAgain(parts, suspects);
      }
      const nowMs = clock.now();
      const isYoung = ({ difference: { row }, sinceMs }: Suspect): boolean =>
        !isHopeless &&
        (sinceMs > startedAtMs || Date.parse(row?.createdAt ?? '') > startedAtMs - explainedMs) &&
        Math.max(sinceMs, Date.parse(row?.createdAt ?? '') || 0) > nowMs - explainedMs;
      const all = [...suspects.values()];
      const young = all.filter(isYoung);
      const left = all.filter((one) => !isYoung(one)).map(({ difference }) => difference);
      const missing = left.filter(({ row, stored }) => row !== null && isGone(stored));
      const extra = left.filter(({ row }) => row === null);
      const changed = left.filter(({ row, stored }) => row !== null && !isGone(stored));
      const isSame = left.length + plain.length === 0;
      const isProven = result.isProven && result.undecided.count === 0;
      const unproven = isProven ? (young.length > 0 ? 'lagging' : 'same') : 'unproven';
      return {
        outcome: isSame ? unproven : 'different',
        compared: result.compared,
        missing: firstOf(missing.map(({ id }) => id)),
        extra: firstOf(extra.map(({ id }) => id)),
        differing: {
          ...firstOf(changed.map(({ id }) => id)),
          columns: columnsOf(changed, form, held.form?.fields ?? []),
        },
        plain: firstOf(plain),
        lagging: {
          ...firstOf(young.map(({ difference }) => difference.id)),
          withinMs: explainedMs,
        },
        undecided: result.undecided,
        listed: rejected,
        forgotten,
      };
    },
  };
}

const isGone = (stored: Difference['stored']): boolean =>
  stored === null || stored.deletedAt !== null;

const firstOf = (ids: readonly string[]): Differing => ({
  count: ids.length,
  ids: ids.slice(0, LISTED),
});

/** Asks source and target again for what differs; what agrees is dropped. */
async function lookAgain(
  { source, form, store, joining, clock }: VerifyParts,
  suspects: Map<string, Suspect>,
): Promise<void> {
  const there: SubmissionItem[] = [];
  const gone: string[] = [];
  const open = new Set<string>();
  await source.byIds([...suspects.keys()], (id, answer) => {
    if (answer.kind === 'there') there.push(answer.item);
    else if (answer.kind === 'gone') gone.push(id);
    else open.add(id);
  });
  await using held = await opened(store, form.id);
  const found = new Map<string, Difference>();
  await compareItems(form, held.form, joining, clock.now(), there, (difference) =>
    found.set(difference.id, difference),
  );
  for await (const rows of held.form?.rows({ ids: gone }) ?? [])
    for (const { id } of rows)
      found.set(id, { id, stored: null, row: null, columns: [], fieldIds: [] });
  for (const [id, { difference, sinceMs }] of suspects) {
    const now = found.get(id);
    if (open.has(id)) continue;
    if (now === undefined) suspects.delete(id);
    else {
      const isSame = versionOf(now.row) === versionOf(difference.row);
      suspects.set(id, { difference: now, sinceMs: isSame ? sinceMs : clock.now() });
    }
  }
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
  changed: readonly Difference[],
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
