import { ago, count, exact, plural, soon } from '../base/format.ts';

/**
 * What is proven of a copy, each with since when (ISO; null: never): which submissions there are (membership), by the last
 * proven pass of any kind or the last look that found nothing changed; their statuses, by the last of these that saw the
 * source's counts by status agree; their answers, by the last comparison row by row, as nothing else tells of them.
 */
export interface Coverage {
  readonly membership: string | null;
  readonly statuses: string | null;
  readonly answers: string | null;
  /** Rows that the membership is not claimed for: the source's count lacks them, and the next passes look for them. */
  readonly absent: number;
  /** The same of absent rows that the brake holds back, until a person decides. */
  readonly withheld: number;
}

/** The coverage of a copy of which nothing is known to be there. */
export const NOTHING: Coverage = {
  membership: null,
  statuses: null,
  answers: null,
  absent: 0,
  withheld: 0,
};

/** What several copies have in common: of each part the oldest time, null when one of them has none; all that is absent. Pure. */
export function oldestCoverage(all: readonly Coverage[]): Coverage {
  const oldest = (times: readonly (string | null)[]): string | null =>
    times.reduce((first, time) => {
      if (first === null || time === null) return null;
      return Date.parse(time) < Date.parse(first) ? time : first;
    }, times[0] ?? null);
  return {
    membership: oldest(all.map(({ membership }) => membership)),
    statuses: oldest(all.map(({ statuses }) => statuses)),
    answers: oldest(all.map(({ answers }) => answers)),
    absent: all.reduce((sum, { absent }) => sum + absent, 0),
    withheld: all.reduce((sum, { withheld }) => sum + withheld, 0),
  };
}

/** Whether statuses and answers are as fresh as the membership: everything was compared row by row since. */
const isWhole = (coverage: Coverage): boolean => {
  const { membership, statuses, answers } = coverage;
  const isAll = membership !== null && exceptText(coverage) === '';
  return isAll && statuses === membership && answers === membership;
};

/** ` but for 3 no longer counted`: the rows that the membership is not claimed for; empty for none. */
export function exceptText({ absent, withheld }: Coverage): string {
  const parts = [
    ...(absent > 0 ? [`${count(absent)} no longer counted`] : []),
    ...(withheld > 0 ? [`${count(withheld)} withheld`] : []),
  ];
  return parts.length === 0 ? '' : ` except for ${parts.join(' and ')}`;
}

/** A few words for a copy that is well: they name what is up to date. */
export function upToDateTitle(coverage: Coverage): string {
  if (isWhole(coverage)) return 'Up to date (all)';
  const { membership, statuses } = coverage;
  const areStatuses = membership !== null && statuses === membership;
  return areStatuses ? 'Up to date (submissions, statuses)' : 'Up to date (submissions)';
}

/** The same for one of which the source counts fewer than are stored. */
export const absentTitle = ({ absent }: Coverage): string =>
  `${plural(absent, 'deletion')} to look for`;

/** What is known of them, as sentences. `dueAt`: by when the next full pass runs (ISO); null when it is not known. */
export function absentText(absent: number, dueAt: string | null, nowMs: number): string {
  const what = plural(absent, 'submission');
  const when = dueAt === null ? '' : `, ${soon(dueAt, nowMs)}`;
  return (
    `By its count the source has ${what} fewer than are stored here. ` +
    `The next pass that compares counts finds out which, the next full one at the latest${when}; ` +
    'forms-mirror sync --full does so at once.'
  );
}

/** `submissions and statuses as of 12 s ago but for 3 no longer counted, answers as of 3 h ago` */
export const coverageText = (coverage: Coverage, nowMs: number): string =>
  claimText(coverage, (time) => ago(time, nowMs));

/** The same with the times themselves, for what is read later. */
export const exactCoverageText = (coverage: Coverage): string => claimText(coverage, exact);

function claimText(coverage: Coverage, when: (time: string) => string): string {
  const { membership, statuses, answers } = coverage;
  if (membership === null) return 'nothing is proven';
  if (isWhole(coverage)) return `submissions, statuses and answers as of ${when(membership)}`;
  const except = exceptText(coverage);
  const asOf = (what: string, time: string | null, but = ''): string =>
    time === null ? `${what} never compared` : `${what} as of ${when(time)}${but}`;
  const parts =
    statuses === answers
      ? [asOf('submissions', membership, except), asOf('statuses and answers', answers)]
      : statuses === membership
        ? [asOf('submissions and statuses', membership, except), asOf('answers', answers)]
        : [
            asOf('submissions', membership, except),
            asOf('statuses', statuses),
            asOf('answers', answers),
          ];
  return parts.join(', ');
}

/** When answers were last compared, for a place that shows the rest. */
export function comparedText({ answers }: Coverage): string {
  if (answers === null) return 'Answers were never compared.';
  return `Answers as of ${exact(answers)}.`;
}
