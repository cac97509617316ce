import type { SandboxBehaviour } from './behaviour.ts';

/**
 * Every reading of what the specification leaves unsaid under which a client can still do its whole job; for tests that
 * try all of them, or a random mix. Typed so that a new point of {@link SandboxBehaviour} does not compile without its
 * readings. The first of each is the default.
 */
export const READINGS: {
  readonly [Point in keyof SandboxBehaviour]: readonly SandboxBehaviour[Point][];
} = {
  sort: ['honoured', 'ignored', 'strict'],
  baseOrder: ['newest', 'oldest', 'insertion', 'id'],
  ties: ['stable', 'shuffled'],
  dateFilter: ['honoured', 'ignored', 'refused'],
  dateStamp: ['created', 'updated'],
  dateFrom: ['inclusive', 'exclusive'],
  dateTo: ['inclusive', 'exclusive'],
  dateGrain: ['instant', 'day'],
  defaultLimit: [50],
  maxLimit: [100, 25, 7],
  emptyTotalPages: [0, 1],
  submissionsPage: ['honoured'],
  pastLastPage: ['empty'],
  formsPage: ['honoured', 'ignored', 'echoed'],
  formsPageSize: [50],
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
  ],
  contractIdIn: ['body', 'data'],
  errorBody: ['json', 'html', 'empty', 'cut'],
  badRequestBody: ['json', 'html', 'empty', 'cut'],
  fieldErrors: ['objects', 'sentences', 'map'],
  quota: [null],
  extraFields: [false, true],
  extraStatuses: [[], ['ON_HOLD']],
};
