import type { Breach } from './breach.ts';
import type { CopiedForm } from './copy.ts';
import type { Claim } from './program.ts';

/** Values by metric and labels: `rows form="form_1x",state="live"`. */
export type Samples = ReadonlyMap<string, number>;

/** The metrics of the mirror, in the text format of Prometheus. */
export function samplesIn(text: string): Samples {
  const samples = new Map<string, number>();
  for (const [, name = '', labels = '', value] of text.matchAll(
    /^forms_mirror_(\w+)(?:\{(.*)\})? (\S+)$/gm,
  ))
    samples.set(`${name} ${labels}`, Number(value));
  return samples;
}

/**
 * L17: metrics claim neither more nor less than `status`, whose claim is judged by the source, and count the rows of the copy. `held`:
 * undefined if the copy has no such form, or people changed it since.
 */
export function metricsBreach(
  samples: Samples,
  claim: Claim,
  held: CopiedForm | undefined,
): Breach | null {
  const { formId, target, submissionsAsOf, statusesAsOf, answersAsOf, state } = claim;
  const labels = `form="${formId}",target="${target}"`;
  const shown = (name: string, more = ''): number | null =>
    samples.get(`${name} ${labels}${more}`) ?? null;
  const time = (name: string): number | null => {
    const seconds = shown(`${name}_timestamp_seconds`);
    return seconds === null ? null : Math.round(seconds * 1_000);
  };
  const rows = [...(held?.rows.values() ?? [])];
  const live = rows.filter(({ isDeleted }) => !isDeleted).length;
  const isCounted = held !== undefined && shown('rows', ',state="live"') !== null;
  const problems = [...samples].flatMap(([key, value]) => {
    const code = /^problem code="(\w+)",(.*)$/.exec(key);
    return code?.[2] === labels && value === 1 ? (code[1] ?? []) : [];
  });
  const pairs: (readonly [string, unknown, unknown])[] = [
    ['submissions as of', time('submissions'), submissionsAsOf],
    ['statuses as of', time('statuses'), statusesAsOf],
    ['answers as of', time('answers'), answersAsOf],
    [
      'excepted rows',
      (shown('held_deletions') ?? 0) + (shown('undecided_rows') ?? 0),
      claim.except,
    ],
    ['rejected', shown('rejected_submissions') ?? 0, claim.rejected],
    ['state', shown('form_state', `,state="${state}"`), 1],
    ['problems', problems.toSorted().join(), [...new Set(claim.problems)].toSorted().join()],
    ...(isCounted
      ? [
          ['live rows', shown('rows', ',state="live"'), live] as const,
          ['deleted rows', shown('rows', ',state="deleted"'), rows.length - live] as const,
        ]
      : []),
  ];
  const wrong = pairs.find(([, metric, known]) => metric !== known);
  if (wrong === undefined) return null;
  const [what, metric, known] = wrong;
  return {
    law: 'L17',
    text: `metrics show of ${formId} in ${target} ${what} ${String(metric)}, and it is ${String(known)}`,
  };
}
