import type { StoredSubmission } from './store.ts';

/** How a page number is treated. `ignored`: always the first page, as page 1. `echoed`: the first page under the number asked for. */
export type PageReading = 'honoured' | 'ignored' | 'echoed';

/** The answer to a write. */
export interface WriteReply {
  readonly status: 200 | 201 | 202 | 204;
  /** The submission bare or wrapped as `GET /submissions/:id` shows it, `{"success":true}`, the text `OK`, or nothing. */
  readonly body: 'submission' | 'success' | 'text' | 'none';
}

/** A limit on requests, as may be introduced later. */
export interface Quota {
  readonly requests: number;
  readonly windowMs: number;
  /** How `Retry-After` is written. */
  readonly retryAfter: 'seconds' | 'date' | 'absent';
}

/** How a change of status may be refused. */
export type RefusalStatus = 400 | 403 | 405 | 409 | 422;

/** How the sandbox reads what the specification leaves open. {@link DEFAULT_BEHAVIOUR} holds the likeliest readings. */
export interface SandboxBehaviour {
  /** `sortBy` and `sortOrder`. `strict`: 400 for anything but `submittedAt` and `desc`. */
  readonly sort: 'honoured' | 'ignored' | 'strict';
  /** The order of a list that is not sorted by request. `insertion`: as they were made; `id`: by ID; both ascending. */
  readonly baseOrder: 'newest' | 'oldest' | 'insertion' | 'id';
  /** Submissions of the same instant: always in the same order, or in another one for each request. */
  readonly ties: 'stable' | 'shuffled';

  /** `dateFrom` and `dateTo`. `refused`: 400 whenever one is given. `dates-only`: 400 for one with a time of day. */
  readonly dateFilter: 'honoured' | 'ignored' | 'refused' | 'dates-only';
  /** What the bounds compare with: `createdAt`, or the time of the last change. */
  readonly dateStamp: 'created' | 'updated';
  readonly dateFrom: 'inclusive' | 'exclusive';
  readonly dateTo: 'inclusive' | 'exclusive';
  /** `day`: stamps and bounds are cut to their day (UTC) before they are compared. */
  readonly dateGrain: 'instant' | 'day';

  /** Page size of `GET /submissions` without `limit`, and the most there is. */
  readonly defaultLimit: number;
  readonly maxLimit: number;
  readonly emptyTotalPages: 0 | 1;
  /** `totalPages` of both lists. `absent`: left out. `absurd`: a billion, whatever there is. */
  readonly totalPages: 'counted' | 'absent' | 'absurd';
  readonly submissionsPage: PageReading;
  /** A page of `GET /submissions` beyond the last one: an empty list, 404 or 400. */
  readonly pastLastPage: 'empty' | 'not-found' | 'refused';
  readonly formsPage: PageReading;
  readonly formsPageSize: number;
  /** `GET /submissions` without `formId`: everything, 400, or an empty list. */
  readonly workspaceList: 'honoured' | 'refused' | 'empty';
  /** `status` where `formId` is not given: honoured, not looked at, or 400. */
  readonly workspaceStatus: 'honoured' | 'ignored' | 'refused';
  /** `formId` in a list of submissions. `ignored`: the list is that of the workspace. */
  readonly formFilter: 'honoured' | 'ignored';
  /** Whether a submission says which form it belongs to. */
  readonly shownFormId: 'shown' | 'absent';
  /** `formId` of no form of the workspace: an empty list, or 404. */
  readonly unknownFormFilter: 'empty' | 'not-found';

  /** The property that `GET /submissions/:id` wraps its submission in; null: none. */
  readonly wrapper: string | null;
  readonly submitReply: WriteReply;
  readonly patchReply: WriteReply;
  /** The status code that refuses a change of status; undefined: allowed. */
  readonly refuseTransition: (
    submission: StoredSubmission,
    to: string,
  ) => RefusalStatus | undefined;
  /** Where a submit carries its contract ID: as `contractId` beside `data`, or as an answer with that key. */
  readonly contractIdIn: 'body' | 'data';

  /** Bodies of 401, 404, 409, 429 and 500. `cut`: JSON that ends too early. */
  readonly errorBody: 'json' | 'html' | 'empty' | 'cut';
  /** Bodies of 400; the specification promises JSON with `fields`. */
  readonly badRequestBody: 'json' | 'html' | 'empty' | 'cut';
  /** The entries of `fields`: `{field, message}`, sentences, or an object of messages by field. */
  readonly fieldErrors: 'objects' | 'sentences' | 'map';
  readonly quota: Quota | null;

  /** Adds properties that the specification doesn't know to everything. */
  readonly extraFields: boolean;
  /** Statuses beyond the six that filter and PATCH accept. (The store takes any status.) */
  readonly extraStatuses: readonly string[];
}

/** How the sandbox behaves by default. */
export const DEFAULT_BEHAVIOUR: SandboxBehaviour = {
  sort: 'honoured',
  baseOrder: 'newest',
  ties: 'stable',
  dateFilter: 'honoured',
  dateStamp: 'created',
  dateFrom: 'inclusive',
  dateTo: 'inclusive',
  dateGrain: 'instant',
  defaultLimit: 50,
  maxLimit: 100,
  emptyTotalPages: 0,
  totalPages: 'counted',
  submissionsPage: 'honoured',
  pastLastPage: 'empty',
  formsPage: 'honoured',
  formsPageSize: 50,
  workspaceList: 'honoured',
  workspaceStatus: 'honoured',
  formFilter: 'honoured',
  shownFormId: 'shown',
  unknownFormFilter: 'empty',
  wrapper: null,
  submitReply: { status: 201, body: 'submission' },
  patchReply: { status: 200, body: 'submission' },
  refuseTransition: () => undefined,
  contractIdIn: 'body',
  errorBody: 'json',
  badRequestBody: 'json',
  fieldErrors: 'objects',
  quota: null,
  extraFields: false,
  extraStatuses: [],
};

/**
 * Every reading of what the specification leaves open under which a client can still do its whole job; for tests that
 * try all of them, or a random mix. Typed so that a new point of {@link SandboxBehaviour} does not compile without its
 * readings. The first of each is the default.
 */
export const READINGS: {
  readonly [Point in keyof SandboxBehaviour]: readonly SandboxBehaviour[Point][];
} = {
  sort: ['honoured', 'ignored', 'strict'],
  baseOrder: ['newest', 'oldest', 'insertion', 'id'],
  ties: ['stable', 'shuffled'],
  dateFilter: ['honoured', 'ignored', 'refused', 'dates-only'],
  dateStamp: ['created', 'updated'],
  dateFrom: ['inclusive', 'exclusive'],
  dateTo: ['inclusive', 'exclusive'],
  dateGrain: ['instant', 'day'],
  defaultLimit: [50],
  maxLimit: [100, 25, 7],
  emptyTotalPages: [0, 1],
  totalPages: ['counted', 'absent', 'absurd'],
  submissionsPage: ['honoured'],
  pastLastPage: ['empty'],
  formsPage: ['honoured', 'ignored', 'echoed'],
  formsPageSize: [50],
  workspaceList: ['honoured', 'refused', 'empty'],
  workspaceStatus: ['honoured', 'ignored', 'refused'],
  formFilter: ['honoured'],
  shownFormId: ['shown'],
  unknownFormFilter: ['empty', 'not-found'],
  wrapper: [null, 'submission', 'data'],
  submitReply: [
    { status: 201, body: 'submission' },
    { status: 200, body: 'success' },
    { status: 204, body: 'none' },
    { status: 201, body: 'text' },
  ],
  patchReply: [
    { status: 200, body: 'submission' },
    { status: 201, body: 'success' },
    { status: 204, body: 'none' },
    { status: 200, body: 'text' },
  ],
  refuseTransition: [
    () => undefined,
    ({ status }) => (status === 'ARCHIVED' ? 409 : undefined),
    ({ status }, to) => (status === to || status === 'REJECTED' ? 400 : undefined),
    ({ status }) => (status === 'ARCHIVED' ? 403 : undefined),
    ({ status }) => (status === 'ARCHIVED' ? 405 : undefined),
    ({ status }) => (status === 'ARCHIVED' ? 422 : undefined),
  ],
  contractIdIn: ['body', 'data'],
  errorBody: ['json', 'html', 'empty', 'cut'],
  badRequestBody: ['json', 'html', 'empty', 'cut'],
  fieldErrors: ['objects', 'sentences', 'map'],
  quota: [null],
  extraFields: [false, true],
  extraStatuses: [[], ['ON_HOLD']],
};
