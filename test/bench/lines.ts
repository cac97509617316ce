import type { Samples } from './rounds.ts';

/** A line of the table: a ratio of two measurements of one run. */
export interface Line {
  readonly key: string;
  readonly what: string;
  /** The goal. */
  readonly goal: string;
  /** Undefined if it was not measured. */
  readonly ratio: number | undefined;
  /** Its parts, in words. */
  readonly made: string;
}

/** The stages that a part of the table needs. */
export const PARTS = {
  fetch: ['parsed', 'fetch'],
  'write-postgres': ['write@postgres', 'copy@postgres'],
  'write-mariadb': ['write@mariadb', 'upsert@mariadb'],
  'full-sqlite': ['fetch', 'write@sqlite', 'both@sqlite', 'full@sqlite'],
  'full-postgres': ['fetch', 'write@postgres', 'both@postgres', 'full@postgres'],
  'full-mariadb': ['fetch', 'write@mariadb', 'both@mariadb', 'full@mariadb'],
  latency: ['distant@sqlite', 'distant-parsed'],
} as const;

/** `<stage>@<kind of target>`, or a stage that needs no target. */
export type StageName = (typeof PARTS)[keyof typeof PARTS][number];

/** The number of concurrent requests, and how long the source delays each of them in the line about latency. */
export const DISTANCE = { inFlight: 8, latencyMs: 100 };

const PAGE_ROWS = 100;
/** Replaces the goal if the peer's own value shows how fast a program can be. */
const LIMIT = 'limit';

/** The rate of a stage compared with the slowest of others. */
interface Comparison {
  readonly key: string;
  readonly what: string;
  readonly goal: string;
  readonly measured: string;
  readonly against: readonly string[];
}

const FULL_GOALS = [
  ['sqlite', 'SQLite', '≥ 0.6'],
  ['postgres', 'PostgreSQL', '≥ 0.65'],
  ['mariadb', 'MariaDB', '≥ 0.75'],
] as const;

const COMPARISONS: readonly Comparison[] = [
  {
    key: 'fetch.parsed',
    what: 'typed client against undici with JSON.parse, which checks nothing',
    goal: '≥ 0.8',
    measured: 'fetch',
    against: ['parsed'],
  },
  {
    key: 'postgres.copy',
    what: 'write only, PostgreSQL, first, against bare COPY',
    goal: '≥ 0.55',
    measured: 'write@postgres.first',
    against: ['copy@postgres.copy'],
  },
  {
    key: 'postgres.committed',
    what: 'a COPY and a commit for every 2,000 rows, with the index, against bare COPY',
    goal: LIMIT,
    measured: 'copy@postgres.committed',
    against: ['copy@postgres.copy'],
  },
  ...['first', 'unchanged'].map((time) => ({
    key: `mariadb.${time}`,
    what: `write only, MariaDB, ${time}, against an upsert of every row, 1,000 each`,
    goal: time === 'first' ? '≥ 0.9' : '≥ 2',
    measured: `write@mariadb.${time}`,
    against: [`upsert@mariadb.${time}`],
  })),
  ...FULL_GOALS.flatMap(([kind, product, goal]) =>
    ['first', 'unchanged'].flatMap((time) => {
      const against = ['fetch', `write@${kind}.${time}`];
      return [
        {
          key: `full.${kind}.${time}`,
          what: `full run, ${product}, ${time}, against the slower of fetch and write`,
          goal,
          measured: `full@${kind}.${time}`,
          against,
        },
        {
          key: `both.${kind}.${time}`,
          what: `fetch and write at once, ${product}, ${time}, nothing joined or proven, against the slower of the two`,
          goal: LIMIT,
          measured: `both@${kind}.${time}`,
          against,
        },
      ];
    }),
  ),
];

/** The lines of the table that rounds measure, without lines that have no samples. */
export function linesOf(samples: Samples, rows: number): Line[] {
  const lines = [
    ...COMPARISONS.map((one) => compared(samples, one)),
    distant(samples, rows, 'latency', 'first run', '≤ 1.12', 'distant@sqlite.distant'),
    distant(
      samples,
      rows,
      'latency.parsed',
      'undici with JSON.parse',
      LIMIT,
      'distant-parsed.parsed',
    ),
  ];
  return lines.filter(({ ratio }) => ratio !== undefined && !Number.isNaN(ratio));
}

/** From the round with the median ratio, so that both values were measured at about the same time. */
function compared(samples: Samples, { key, what, goal, measured, against }: Comparison): Line {
  const rates = (name: string): number[] | undefined =>
    samples[name]?.map(({ rows, ms }) => (rows / ms) * 1_000);
  const ours = rates(measured);
  const theirs = against.map(rates);
  const slowest = ours?.map((_, round) =>
    Math.min(...theirs.map((list) => list?.[round] ?? Number.NaN)),
  );
  const ratios = ours?.map((rate, round) => rate / (slowest?.[round] ?? Number.NaN));
  const ratio = median(ratios);
  const round = ratios?.indexOf(ratio ?? Number.NaN) ?? -1;
  const made = `${perSecond(ours?.[round])} against ${perSecond(slowest?.[round])}`;
  return { key, what, goal, ratio, made };
}

function distant(
  samples: Samples,
  rows: number,
  key: string,
  what: string,
  goal: string,
  measured: string,
): Line {
  const { inFlight, latencyMs } = DISTANCE;
  const pages = Math.ceil(rows / PAGE_ROWS);
  const idealMs = Math.ceil(pages / inFlight) * latencyMs;
  const ms = median(samples[measured]?.map((one) => one.ms));
  return {
    key,
    what: `${what}, ${latencyMs} ms latency, ${inFlight} in flight, ${pages} pages, against the ideal`,
    goal,
    ratio: ms === undefined ? undefined : ms / idealMs,
    made: `${seconds(ms)} against ${seconds(idealMs)}`,
  };
}

/** The median; the upper one of an even number of values. Undefined if there are no values. */
function median(numbers: readonly number[] | undefined): number | undefined {
  return numbers?.toSorted((one, other) => one - other)[numbers.length >> 1];
}

const perSecond = (rate: number | undefined): string =>
  rate === undefined ? '–' : `${(rate / 1_000).toFixed(1)}k rows/s`;

const seconds = (ms: number | undefined): string =>
  ms === undefined ? '–' : `${(ms / 1_000).toFixed(1)} s`;
