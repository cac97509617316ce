import type { StoredSubmission } from './store.ts';

/** How a page number is treated. `ignored`: always the first page, as page 1. `echoed`: the first page under the number asked for. */
export type PageReading = 'honoured' | 'ignored' | 'echoed';

/** What a write answers. */
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

/** How the stand-in reads what the specification leaves unsaid. {@link DEFAULT_BEHAVIOUR} has what is most likely. */
export interface SandboxBehaviour {
  /** `sortBy` and `sortOrder`. `strict`: 400 for anything but `submittedAt` and `desc`. */
  readonly sort: 'honoured' | 'ignored' | 'strict';
  /** The order of a list that is not sorted by request. `insertion`: as they were made; `id`: by ID; both ascending. */
  readonly baseOrder: 'newest' | 'oldest' | 'insertion' | 'id';
  /** Submissions of the same instant: always in the same order, or in another one for each request. */
  readonly ties: 'stable' | 'shuffled';

  /** `dateFrom` and `dateTo`. `refused`: 400 whenever one is given. */
  readonly dateFilter: 'honoured' | 'ignored' | 'refused';
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
  readonly submissionsPage: PageReading;
  /** A page of `GET /submissions` beyond the last one: an empty list, 404 or 400. */
  readonly pastLastPage: 'empty' | 'not-found' | 'refused';
  readonly formsPage: PageReading;
  readonly formsPageSize: number;
  /** `formId` of no form of the workspace: an empty list, or 404. */
  readonly unknownFormFilter: 'empty' | 'not-found';

  /** The property that `GET /submissions/:id` wraps its submission in; null: none. */
  readonly wrapper: string | null;
  readonly submitReply: WriteReply;
  readonly patchReply: WriteReply;
  /** What to say to a change of status; undefined: allowed. */
  readonly refuseTransition: (submission: StoredSubmission, to: string) => 400 | 409 | undefined;
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

/** What the stand-in does unless told otherwise. */
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
  submissionsPage: 'honoured',
  pastLastPage: 'empty',
  formsPage: 'honoured',
  formsPageSize: 50,
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
