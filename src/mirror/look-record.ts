import { hash } from 'node:crypto';
import { canonicalTime, compareTimes } from './canonical-time.ts';
import { countsFrom, countsText, type StatusCounts } from './status-counts.ts';

/** What a look found of a target's forms, as the target keeps it. */
export interface LookRecord {
  /** ISO: at this time all forms of the target but those of `open` were as they had been accounted for. */
  readonly at: string;
  /** IDs of the forms that it found to differ, or could not judge. */
  readonly open: readonly string[];
  /** Those of them whose counts by status were found to differ: no pass settles that but one that compares. Absent: none. */
  readonly differing?: readonly string[];
  /** Submissions of forms that are not mirrored here; null: not known. */
  readonly others: OtherCounts | null;
  /**
   * Forms that it found as accounted for by how many they have and by their newest submissions alone, not status by status: by ID,
   * when a look last counted their statuses and found them so (ISO); null: it is not known.
   */
  readonly uncounted?: ReadonlyMap<string, string | null>;
  /** By form of which the brake withholds deletions: as what it needs no further pass. Absent: none. */
  readonly withheld?: ReadonlyMap<string, WithheldForm>;
}

/** With which counts a form was left to a person, whose deletions the brake withholds (L8): it differs until then. */
export interface WithheldForm {
  /** What the source had of it, by status. */
  readonly source: StatusCounts;
  /** A fingerprint of what the copy had, before the source was asked, and its checkpoint's `provenAt`. */
  readonly copy: string;
  readonly provenAt: string;
  /** When the source had been asked (ISO): another pass, that began since, has found nothing besides. */
  readonly askedAt: string;
}

/** The workspace's counts, less what is accounted for of a target's forms. */
export interface OtherCounts {
  readonly total: number;
  readonly statuses: StatusCounts;
  /** A fingerprint of the forms that were mirrored then: of others it says nothing. */
  readonly besides: string;
  /** Null: not known. Then no submission is known to have come since they were counted. */
  readonly newest: ForeignPage | null;
}

/** What the newest page of the workspace showed of forms that are not mirrored, when these were counted or later. */
export interface ForeignPage {
  /** Of their submissions, by {@link idDigest}. */
  readonly digests: ReadonlySet<string>;
  /** ISO: the page showed whatever was dated later than this; null: it showed all there was. */
  readonly oldest: string | null;
}

const DIGEST_LENGTH = 6;

/** Tells submissions apart, nearly always, without naming them: some may be forgotten by now. */
export const idDigest = (id: string): string =>
  hash('sha256', id, 'base64url').slice(0, DIGEST_LENGTH);

/** A record as JSON for the stores; equal records have equal texts. */
export function lookText(look: LookRecord): string {
  const { at, open, differing = [], others, uncounted, withheld } = look;
  const page = others?.newest ?? null;
  const newest = page && [[...page.digests].sort().join(''), page.oldest];
  const rest = others && [others.total, countsText(others.statuses), others.besides, newest];
  const times = byKey(uncounted ?? []);
  const forms = byKey(withheld ?? []).map(([formId, { source, copy, provenAt, askedAt }]) => {
    return [formId, countsText(source), copy, provenAt, askedAt];
  });
  const more = [inOrder(differing), times, forms];
  const last = more.findLastIndex((each) => each.length > 0);
  return JSON.stringify([at, inOrder(open), rest, ...more.slice(0, last + 1)]);
}

const byKey = <T>(pairs: Iterable<readonly [string, T]>): (readonly [string, T])[] =>
  [...pairs].toSorted(([a], [b]) => (a < b ? -1 : 1));

const inOrder = (ids: readonly string[]): string[] => [...new Set(ids)].sort();

/** The reverse; null for a text that is none. */
export function lookFrom(text: string): LookRecord | null {
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return null;
    const [at, open, others, differing, uncounted, withheld] = list as unknown[];
    if (typeof at !== 'string' || canonicalTime(at) !== at || !areIds(open)) return null;
    const times = timesFrom(uncounted);
    const forms = withheldFrom(withheld);
    return {
      at,
      open,
      others: othersFrom(others),
      ...(areIds(differing) && { differing }),
      ...(times.size > 0 && { uncounted: times }),
      ...(forms.size > 0 && { withheld: forms }),
    };
  } catch {
    return null;
  }
}

const areIds = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((id) => typeof id === 'string');

function timesFrom(value: unknown): Map<string, string | null> {
  const times = new Map<string, string | null>();
  for (const pair of Array.isArray(value) ? (value as unknown[]) : []) {
    const [formId, at] = Array.isArray(pair) ? (pair as unknown[]) : [];
    if (typeof formId !== 'string') continue;
    times.set(formId, typeof at === 'string' && canonicalTime(at) === at ? at : null);
  }
  return times;
}

function withheldFrom(value: unknown): Map<string, WithheldForm> {
  const forms = new Map<string, WithheldForm>();
  for (const form of Array.isArray(value) ? (value as unknown[]) : []) {
    const [formId, text, copy, ...times] = Array.isArray(form) ? (form as unknown[]) : [];
    const source = typeof text === 'string' ? countsFrom(text) : null;
    if (typeof formId !== 'string' || typeof copy !== 'string' || source === null) continue;
    const [provenAt, askedAt] = times.filter((time) => typeof time === 'string');
    if (provenAt === undefined || canonicalTime(provenAt) !== provenAt) continue;
    if (askedAt === undefined || canonicalTime(askedAt) !== askedAt) continue;
    forms.set(formId, { source, copy, provenAt, askedAt });
  }
  return forms;
}

function othersFrom(value: unknown): OtherCounts | null {
  if (!Array.isArray(value)) return null;
  if (value.length !== 4) return null;
  const [total, text, besides, newest] = value as [unknown, unknown, unknown, unknown];
  const statuses = typeof text === 'string' ? countsFrom(text) : null;
  if (typeof total !== 'number' || statuses === null || typeof besides !== 'string') return null;
  return { total, statuses, besides, newest: pageFrom(newest) };
}

function pageFrom(value: unknown): ForeignPage | null {
  if (!Array.isArray(value)) return null;
  const [text, oldest] = value as [unknown, unknown];
  if (typeof text !== 'string' || !/^(?:[\w-]{6})*$/.test(text)) return null;
  const isTime = typeof oldest === 'string' && canonicalTime(oldest) === oldest;
  if (oldest !== null && !isTime) return null;
  return { digests: new Set(text.match(/.{6}/g)), oldest };
}

/** A record so much newer than the one that is to replace it was made by a clock that was wrong: no look takes so long. */
const WRONG_CLOCK_MS = 10 * 60_000;

/** True when a record is to be kept in place of the one before: it is newer, or that one is of a time yet to come. */
export function isNewerLook(look: LookRecord, before: LookRecord | null): boolean {
  if (before === null || compareTimes(look.at, before.at) > 0) return true;
  return Date.parse(before.at) - Date.parse(look.at) > WRONG_CLOCK_MS;
}
