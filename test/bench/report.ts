import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';
import type { Line } from './lines.ts';
import { allocatedPerRow, MOST_ALLOCATED_KB, type RunCosts } from './stages/memory.ts';
import type { QueueCosts } from './stages/queue.ts';

/** The machine and the versions of the measurement. */
export function machine(checkout: string): { machine: string; versions: string } {
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  const model = cpus()[0]?.model ?? 'unknown';
  const commit = execFileSync('git', ['log', '-1', '--format=%h'], { cwd: checkout });
  return {
    machine: `${availableParallelism()} × ${model}, ${gigabytes} GB, ${process.platform}`,
    versions: `Node ${process.versions.node}, SQLite ${process.versions['sqlite']}, commit ${commit.toString().trim()}`,
  };
}

/** The lines about the memory of runs over `rows` submissions each. */
export function memoryLines(
  costs: readonly [RunCosts, RunCosts],
  rows: readonly [number, number],
): Line[] {
  const times = ['first', 'unchanged'] as const;
  return [
    ...times.map((time): Line => {
      const [one, other] = [costs[0][time].peakMB, costs[1][time].peakMB];
      return {
        key: `memory.sqlite.${time}`,
        what: `peak memory, SQLite, ${time}, ${rows[1]} submissions against ${rows[0]}`,
        goal: '≤ 1.1',
        ratio: other / one,
        made: `${other} MB against ${one} MB`,
      };
    }),
    ...times.map((time): Line => ({
      key: `allocated.sqlite.${time}`,
      what: `allocated per row, SQLite, ${time}, garbage included`,
      goal: `≤ ${MOST_ALLOCATED_KB[time]}`,
      ratio: allocatedPerRow(costs, rows, time) / 1_000,
      made: 'kB',
    })),
  ];
}

/** The lines about the embedded queue, which are compared with nothing. */
export function queueLines({ fresh, again }: Record<'fresh' | 'again', QueueCosts>): Line[] {
  const line = (key: string, what: string, goal: string, value: number, unit: string): Line => ({
    key: `queue.${key}`,
    what,
    goal,
    ratio: value,
    made: unit,
  });
  return [
    line(
      'first.start',
      'embedded queue, first start: until the first request',
      '≤ 1.5',
      fresh.firstRequestMs / 1_000,
      's',
    ),
    line('start', 'the same, further starts', '≤ 1.5', again.firstRequestMs / 1_000, 's'),
    line('first.peak', 'peak memory of a first start', 'low', fresh.peakMB, 'MB'),
    line('first.rest', 'at rest then', '≤ 300', fresh.restMB, 'MB'),
    line('peak', 'peak memory of a further start', 'low', again.peakMB, 'MB'),
    line('rest', 'at rest then', 'low', again.restMB, 'MB'),
  ];
}

/** A table in Markdown, with a column for each program. */
export function table(programs: Readonly<Record<string, readonly Line[]>>): string {
  const names = Object.keys(programs);
  const lines = Object.values(programs).at(-1) ?? [];
  const rows = lines.map(({ key, what, goal }) => {
    const cells = names.map((name) => cellOf(programs[name], key));
    return `| ${what} | ${cells.join(' | ')} | ${goal} |`;
  });
  const head = [
    `| what | ${names.join(' | ')} | to reach |`,
    `|---${'|---'.repeat(names.length)}|---|`,
  ];
  return [...head, ...rows].join('\n');
}

/** A page with the table in place of its present table. */
export function withTable(
  page: string,
  { machine, versions, rounds, rows }: Ran,
  programs: Readonly<Record<string, readonly Line[]>>,
): string {
  const how = `${machine}; ${versions}; ${rows} rows, medians of ${rounds} rounds.`;
  const text = `<!-- speed -->\n\n${how}\n\n${table(programs)}\n\n<!-- /speed -->`;
  return page.replace(/<!-- speed -->.*<!-- \/speed -->/s, () => text);
}

interface Ran {
  readonly machine: string;
  readonly versions: string;
  readonly rounds: number;
  readonly rows: number;
}

function cellOf(lines: readonly Line[] | undefined, key: string): string {
  const line = lines?.find((one) => one.key === key);
  return line?.ratio === undefined ? '–' : `**${shown(line.ratio)}** ${line.made}`;
}

const shown = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(2));
