import type { Random } from './random.ts';

/**
 * The behavior of the source at points that the API leaves open (DESIGN, section 5). The first value of each list is that
 * of a plain, well-behaved service; a history deviates from it in a few points.
 */
const POINTS = {
  /** The order of a list that is requested with `submittedAt` `desc`. */
  order: ['newest', 'insertion', 'shuffled', 'by-id'],
  /** Whether submissions of the same instant come in another order each time. */
  ties: ['stable', 'shuffled'],
  /** The effect of sort keys beyond the documented ones. */
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
  okWithError: ['never', 'sometimes', 'always-for-a-form'],
  dateHeader: ['sent', 'missing', 'future'],
  /** The list of a form that does not exist. */
  unknownForm: ['empty', '404'],
} as const;

export type BehaviourPoint = keyof typeof POINTS;
export type Behaviour = { readonly [P in BehaviourPoint]: (typeof POINTS)[P][number] };

export const BEHAVIOUR_POINTS = Object.keys(POINTS) as readonly BehaviourPoint[];

/** The points that a history draws. `unknownForm` follows from the seed, so that the histories of all seeds did not change. */
const DRAWN = BEHAVIOUR_POINTS.filter((point) => point !== 'unknownForm');

const entriesOf = (choose: (point: BehaviourPoint) => unknown): Behaviour =>
  Object.fromEntries(BEHAVIOUR_POINTS.map((point) => [point, choose(point)])) as Behaviour;

/** A service that behaves as expected. */
export const PLAIN: Behaviour = entriesOf((point) => POINTS[point][0]);

/** The plain value of a point, for shrinking. */
export const plainValue = (point: BehaviourPoint): unknown => POINTS[point][0];

/** The points at which a behavior is not plain. */
export const deviations = (behaviour: Behaviour): BehaviourPoint[] =>
  BEHAVIOUR_POINTS.filter((point) => behaviour[point] !== PLAIN[point]);

/** Points at which the source contradicts itself, so that possibly nothing can be proven. */
const CONTRADICTIONS: readonly BehaviourPoint[] = [
  'doubles',
  'total',
  'totalPages',
  'formFilter',
  'okWithError',
];

export const contradictsItself = (behaviour: Behaviour): boolean =>
  CONTRADICTIONS.some((point) => behaviour[point] !== PLAIN[point]);

/** Whether any data shows to which form a submission belongs: otherwise it is stored in all forms that show it. */
export const namesForms = ({ formFilter, itemForm }: Behaviour): boolean =>
  formFilter === 'honoured' || itemForm === 'named';

/**
 * Not drawn, because no proof is promised for such lists: if entries count twice, one that begins to do so hides a deletion of
 * its status, although one response shows all of them.
 */
const UNPROVEN = 'doubles=counted-twice';

/** A behavior that deviates in this many points. */
export function drawBehaviour(random: Random, count: number): Behaviour {
  const drawn: Record<string, unknown> = { ...PLAIN };
  for (let n = 0; n < count; n++) {
    const point = random.pick(DRAWN);
    const values: readonly unknown[] = POINTS[point].slice(1);
    const value = random.pick(values);
    if (`${point}=${String(value)}` !== UNPROVEN) drawn[point] = value;
  }
  return drawn as Behaviour;
}

/** The behavior with one point changed to `point=value`; throws for an unknown value. */
export function behaveAs(behaviour: Behaviour, what: string): Behaviour {
  const [name, text] = what.split('=');
  const point = BEHAVIOUR_POINTS.find((each) => each === name);
  const values: readonly unknown[] = point === undefined ? [] : POINTS[point];
  const value = values.find((each) => String(each) === text);
  if (point === undefined || value === undefined)
    throw new Error(`"${what}" is not a behaviour, a change or a deed of the simulation`);
  return { ...behaviour, [point]: value };
}
