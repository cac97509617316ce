import type { StoredSubmission } from './store.ts';

/** The answer to a write. */
export interface WriteReply {
  readonly status: 200 | 201 | 202 | 204;
  /** The submission bare or wrapped as `GET /submissions/:id` shows it, `{"success":true}`, the text `OK`, or nothing. */
  readonly body: 'submission' | 'success' | 'text' | 'none';
}

/** The status code that refuses a change of status; undefined: it is made. */
export type RefuseTransition = (
  submission: StoredSubmission,
  to: string,
) => 400 | 403 | 405 | 409 | 422 | undefined;

const OTHER_REPLIES: readonly WriteReply[] = [
  { status: 200, body: 'success' },
  { status: 204, body: 'none' },
  { status: 201, body: 'text' },
];

/** How the sandbox reads what the specification leaves open. The first reading of each point is the default. */
export const READINGS = {
  /** `sortBy` and `sortOrder`. `strict`: 400 for anything but `submittedAt` and `desc`. */
  sort: ['honoured', 'ignored', 'strict'],
  /** The order of a list without a sort parameter. `insertion`: the order in which they were created. */
  baseOrder: ['newest', 'oldest', 'insertion'],
  /** Submissions of the same instant: always in the same order, or in another one for each request. */
  ties: ['stable', 'shuffled'],

  /** `dateFrom` and `dateTo`. `refused`: 400 whenever one is given. */
  dateFilter: ['honoured', 'ignored', 'refused'],
  /** What the bounds compare with: `createdAt`, or the time of the last change. */
  dateStamp: ['created', 'updated'],
  dateFrom: ['inclusive', 'exclusive'],
  dateTo: ['inclusive', 'exclusive'],
  /** `day`: times and bounds are cut to their day (UTC) before they are compared. */
  dateGrain: ['instant', 'day'],

  /** The largest page of submissions. */
  maxLimit: [100, 25, 7] as readonly number[],
  formsPageSize: [50] as readonly number[],
  emptyTotalPages: [0, 1],
  /** `totalPages` of both lists. `absent`: left out. `absurd`: always a billion. */
  totalPages: ['counted', 'absent', 'absurd'],
  /** `page` of the list of forms. `ignored`: always the first page. */
  formsPage: ['honoured', 'ignored'],
  /** `GET /submissions` without `formId`: everything, or 400. */
  workspaceList: ['honoured', 'refused'],
  /** `status` where `formId` is not given. */
  workspaceStatus: ['honoured', 'ignored'],
  /** `formId` in a list of submissions. `ignored`: the list is that of the workspace. */
  formFilter: ['honoured', 'ignored'],
  /** Whether a submission says which form it belongs to. */
  shownFormId: ['shown', 'absent'],

  /** The property that `GET /submissions/:id` wraps its submission in; null: none. */
  wrapper: [null, 'submission', 'data'],
  submitReply: [{ status: 201, body: 'submission' }, ...OTHER_REPLIES] as readonly WriteReply[],
  patchReply: [{ status: 200, body: 'submission' }, ...OTHER_REPLIES] as readonly WriteReply[],
  refuseTransition: [
    () => undefined,
    ({ status }) => (status === 'ARCHIVED' ? 409 : undefined),
    ({ status }, to) => (status === to || status === 'REJECTED' ? 400 : undefined),
  ] as readonly RefuseTransition[],
  /** Bodies of errors. `cut`: JSON that ends too early. */
  errorBody: ['json', 'html', 'empty', 'cut'],
  /** Adds properties that the specification does not know to everything. */
  extraFields: [false, true],
} as const;

/** A reading of each point of {@link READINGS}. */
export type SandboxBehaviour = {
  readonly [Point in keyof typeof READINGS]: (typeof READINGS)[Point][number];
};

/** How the sandbox behaves by default. */
export const DEFAULT_BEHAVIOUR = Object.fromEntries(
  Object.entries(READINGS).map(([point, readings]) => [point, readings[0]]),
) as unknown as SandboxBehaviour;
