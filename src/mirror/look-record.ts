import { type StatusCounts } from './status-counts.ts';

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
