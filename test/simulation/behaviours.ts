import type { Random } from './random.ts';

/**
 * How the source behaves where the API leaves it unsaid (DESIGN, section 5). The first value of each list is what a plain,
 * well-behaved service does; a history deviates from it in a few points.
 */
const POINTS = {
  /** How the list is ordered when asked for `submittedAt` `desc`. */
  order: ['newest', 'insertion', 'shuffled', 'by-id'],
  /** Whether submissions of one instant come in another order each time. */
  ties: ['stable', 'shuffled'],
  /** What sort keys beyond the documented ones do. */
  otherSorts: ['honoured', 'ignored', 'refused'],
  bounds: ['instants', 'exclusive', 'days', 'changed', 'ignored', 'refused'],
  emptyPages: [1, 0],
  formsPaging: ['honoured', 'ignored'],
  wrapper: ['bare', 'wrapped'],
  patchAnswer: ['submission', 'empty-object', 'nothing', 'text', 'created'],
  errorBody: ['json', 'html', 'empty', 'cut'],
  fields: ['known', 'unknown-too'],
  statuses: ['six', 'seven'],
  answers: ['texts-and-numbers', 'anything'],
  items: ['whole', 'defective'],
  sections: ['present', 'absent'],
  labels: ['plain', 'odd'],
  doubles: ['none', 'counted-once', 'counted-twice'],
  total: ['exact', 'missing', 'text', 'high', 'low', 'absurd'],
  totalPages: ['exact', 'missing', 'absurd'],
  statusFilter: ['honoured', 'ignored-without-form', 'ignored'],
  workspaceList: ['honoured', 'refused', 'empty'],
  formFilter: ['honoured', 'ignored'],
  itemForm: ['named', 'missing'],
  transitions: [
    'accepted',
    'refused-400',
    'refused-403',
    'refused-405',
    'refused-409',
    'refused-422',
    'some-refused',
    'not-made',
  ],
  sickId: ['none', '410', '500', 'html'],
  okWithError: ['never', 'sometimes'],
  dateHeader: ['sent', 'missing', 'future'],
} as const;

export type BehaviourPoint = keyof typeof POINTS;
export type Behaviour = { readonly [P in BehaviourPoint]: (typeof POINTS)[P][number] };

export const BEHAVIOUR_POINTS = Object.keys(POINTS) as readonly BehaviourPoint[];

const entriesOf = (choose: (point: BehaviourPoint) => unknown): Behaviour =>
  Object.fromEntries(BEHAVIOUR_POINTS.map((point) => [point, choose(point)])) as Behaviour;

/** A service that does what one would expect. */
export const PLAIN: Behaviour = entriesOf((point) => POINTS[point][0]);

/** The plain value of a point, for shrinking. */
export const plainValue = (point: BehaviourPoint): unknown => POINTS[point][0];

/** Where a behaviour is not plain. */
export const deviations = (behaviour: Behaviour): BehaviourPoint[] =>
  BEHAVIOUR_POINTS.filter((point) => behaviour[point] !== PLAIN[point]);

/** Points at which the source contradicts itself, so that it may be that nothing can be proven. */
const CONTRADICTIONS: readonly BehaviourPoint[] = [
  'doubles',
  'total',
  'totalPages',
  'formFilter',
  'okWithError',
];

export const contradictsItself = (behaviour: Behaviour): boolean =>
  CONTRADICTIONS.some((point) => behaviour[point] !== PLAIN[point]);

/** A behaviour that deviates in so many points, but not in those that `known` defects of the program forbid. */
export function drawBehaviour(
  random: Random,
  count: number,
  known: ReadonlySet<string>,
): Behaviour {
  const drawn: Record<string, unknown> = { ...PLAIN };
  for (let n = 0; n < count; n++) {
    const point = random.pick(BEHAVIOUR_POINTS);
    const values: readonly unknown[] = POINTS[point].slice(1);
    const value = random.pick(values);
    if (!known.has(`${point}=${String(value)}`)) drawn[point] = value;
  }
  return drawn as Behaviour;
}

/** Behaviours that today's program is known to fail under; empty the list when they are mended. */
export const KNOWN: ReadonlySet<string> = new Set([
  // A total of 1e15 makes a run read on and on.
  'total=absurd',
  // The submissions of other forms are taken for those of the form.
  'formFilter=ignored',
  // An entry that begins to be counted twice hides a deletion of its status, though one response shows all: seed 206 before.
  'doubles=counted-twice',
  // Once a source has made a change of status, a 200 is believed, also one that made none: seed 82 before this switch.
  'some-patches-not-made',
  // Two forms trade their slugs.
  'trade-slugs',
  // A trigger or constraint of people's refuses rows, and the run says that it is complete.
  'refusing-trigger',
  // A schema that people dropped is filled again in silence.
  'dropped-database',
  // A newcomer between the newest page and the counts hides a deletion.
  'newcomer-hides-deletion',
  // A form that was emptied and then deleted stays held.
  'emptied-then-deleted',
]);
