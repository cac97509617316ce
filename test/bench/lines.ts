import { cpus } from 'node:os';
import type { Samples, StageName } from './rounds.ts';

/** A line of the table: a ratio of things measured in one run. */
export interface Line {
  readonly key: string;
  readonly what: string;
  /** The goal. */
  readonly goal: string;
  /** Undefined where it was not measured. */
  readonly ratio: number | undefined;
  /** Its parts, in words. */
  readonly made: string;
}

/** Which stages a part of the table needs. */
export const PARTS: Readonly<Record<string, readonly StageName[]>> = {
  fetch: ['bytes', 'parsed', 'fetch'],
  'write-sqlite': ['bytes', 'write@sqlite', 'bare@sqlite'],
  'write-postgres': ['write@postgres', 'raw-json-upsert@postgres', 'copy@postgres'],
  'write-mariadb': ['write@mariadb', 'upsert@mariadb'],
  'full-sqlite': ['fetch', 'write@sqlite', 'both@sqlite', 'full@sqlite', 'bare@sqlite'],
  'full-postgres': ['fetch', 'write@postgres', 'both@postgres', 'full@postgres', 'copy@postgres'],
  'full-mariadb': ['fetch', 'write@mariadb', 'both@mariadb', 'full@mariadb'],
  latency: ['distant@sqlite', 'distant-parsed'],
};

/** How the latency line was measured. */
interface Distance {
  readonly rows: number;
  readonly inFlight: number;
  readonly latencyMs: number;
}

const PAGE_ROWS = 100;
/** Instead of a goal, where what is compared with shows how far one may get. */
const LIMIT = 'limit';

/** The lines of the table that rounds measure; those without samples are left out. */
export function linesOf(samples: Samples, distance: Distance): Line[] {
  const rates = (key: string): number[] | undefined =>
    samples[key]?.map(({ rows, ms }) => (rows / ms) * 1_000);
  /** The round whose ratio is the median: what is compared was measured a moment apart. */
  const line = (
    [key, what, goal]: readonly [string, string, string],
    measured: string,
    ...against: readonly string[]
  ): Line => {
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
  };
  const lines = [
    line(['fetch', 'typed client against undici reading bytes', '≥ 0.5'], 'fetch', 'bytes'),
    line(
      ['fetch.parsed', 'the same against undici with JSON.parse, which checks nothing', '≥ 0.8'],
      'fetch',
      'parsed',
    ),
    ...['first', 'unchanged'].map((time) =>
      line(
        [`sqlite.${time}`, `write only, SQLite, ${time}, against undici reading bytes`, '≥ 0.58'],
        `write@sqlite.${time}`,
        'bytes',
      ),
    ),
    line(
      ['sqlite.insert', 'write only, SQLite, first, against bare INSERTs', LIMIT],
      'write@sqlite.first',
      'bare@sqlite.insert',
    ),
    ...[
      ['first', 'first'],
      ['unchanged', 'unchanged'],
      ['changed', '1 in 100 changed'],
    ].map(([time = '', words = '']) =>
      line(
        [
          `postgres.${time}`,
          `write only, PostgreSQL, ${words}, against an upsert of raw JSON, 100 rows each`,
          '≥ 3',
        ],
        `write@postgres.${time}`,
        `raw-json-upsert@postgres.${time}`,
      ),
    ),
    ...[
      ['first', 'first', '≥ 0.9'],
      ['unchanged', 'unchanged', '≥ 2'],
      ['changed', '1 in 100 changed', '≥ 2'],
    ].map(([time = '', words = '', goal = '']) =>
      line(
        [
          `mariadb.${time}`,
          `write only, MariaDB, ${words}, against an upsert of every row, 1,000 each`,
          goal,
        ],
        `write@mariadb.${time}`,
        `upsert@mariadb.${time}`,
      ),
    ),
    line(
      ['postgres.copy', 'write only, PostgreSQL, first, against bare COPY', '≥ 0.55'],
      'write@postgres.first',
      'copy@postgres.copy',
    ),
    ...(
      [
        ['sqlite', 'SQLite', '≥ 0.6'],
        ['postgres', 'PostgreSQL', '≥ 0.65'],
        ['mariadb', 'MariaDB', '≥ 0.75'],
      ] as const
    ).flatMap(([kind, product, goal]) =>
      ['first', 'unchanged'].flatMap((time) => [
        line(
          [
            `full.${kind}.${time}`,
            `full run, ${product}, ${time}, against the slower of fetch and write`,
            goal,
          ],
          `full@${kind}.${time}`,
          'fetch',
          `write@${kind}.${time}`,
        ),
        line(
          [
            `both.${kind}.${time}`,
            `fetch and write at once, ${product}, ${time}, nothing joined or proven, against the slower of the two`,
            LIMIT,
          ],
          `both@${kind}.${time}`,
          'fetch',
          `write@${kind}.${time}`,
        ),
      ]),
    ),
    ...(
      [
        ['sqlite', 'SQLite', 'bare INSERTs', 'bare@sqlite.run'],
        ['postgres', 'PostgreSQL', 'bare COPY', 'copy@postgres.run'],
      ] as const
    ).map(([kind, product, how, bare]) =>
      line(
        [
          `full.${kind}.bare`,
          `full run, ${product}, first, against JSON.parse and ${how}, which prove nothing`,
          LIMIT,
        ],
        `full@${kind}.first`,
        bare,
      ),
    ),
    ...latencyLines(samples, distance),
  ];
  const busy = ['sqlite', 'postgres'].flatMap((kind) =>
    ['first', 'unchanged'].map((time) => {
      const run = lines.find(({ key }) => key === `full.${kind}.${time}`);
      return busyLine(samples, kind, time, run?.ratio ?? Number.NaN);
    }),
  );
  lines.splice(-2, 0, ...busy);
  return lines.filter(({ ratio }) => ratio !== undefined && !Number.isNaN(ratio));
}

const PRODUCTS: Readonly<Record<string, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

/**
 * How much of all cores a full run takes, with its source and its server, and what it would come to if none of them ever waited:
 * more than that needs less work, or more cores. What else the machine does meanwhile is in it.
 */
function busyLine(samples: Samples, kind: string, time: string, ratio: number): Line {
  const runs = samples[`full@${kind}.${time}`];
  // Those that `busyMs` adds up, whichever of them this process may use.
  const cores = cpus().length;
  const ms = median(runs?.map((one) => one.ms)) ?? Number.NaN;
  const share = median(runs?.map((one) => one.busyMs / (one.ms * cores)));
  return {
    key: `full.${kind}.${time}.busy`,
    what: `full run, ${PRODUCTS[kind]}, ${time}, with its source and server: processor time against all cores for as long`,
    goal: LIMIT,
    ratio: share,
    made: `${seconds(median(runs?.map(({ busyMs }) => busyMs)))} against ${seconds(ms * cores)}; with none idle ${(ratio / (share ?? Number.NaN)).toFixed(2)} of the slower`,
  };
}

function latencyLines(samples: Samples, { rows, inFlight, latencyMs }: Distance): Line[] {
  const pages = Math.ceil(rows / PAGE_ROWS);
  const idealMs = Math.ceil(pages / inFlight) * latencyMs;
  return (
    [
      ['latency', 'first run', '≤ 1.12', 'distant@sqlite.distant'],
      ['latency.parsed', 'undici with JSON.parse', LIMIT, 'distant-parsed.parsed'],
    ] as const
  ).map(([key, what, goal, measured]) => {
    const ms = median(samples[measured]?.map((one) => one.ms));
    return {
      key,
      what: `${what}, ${latencyMs} ms latency, ${inFlight} in flight, ${pages} pages, against the ideal`,
      goal,
      ratio: ms === undefined ? undefined : ms / idealMs,
      made: `${seconds(ms)} against ${seconds(idealMs)}`,
    };
  });
}

/** The middle one; of an even number the upper one. Undefined where there is none. */
export function median(numbers: readonly number[] | undefined): number | undefined {
  return numbers?.toSorted((one, other) => one - other)[numbers.length >> 1];
}

const perSecond = (rate: number | undefined): string =>
  rate === undefined ? '–' : `${(rate / 1_000).toFixed(1)}k rows/s`;

const seconds = (ms: number | undefined): string =>
  ms === undefined ? '–' : `${(ms / 1_000).toFixed(1)} s`;
