import type { PassProgress, PassReport, PassSubject } from '../sync/events.ts';
import { count, plural, timeSpan } from './words.ts';

/** `contact → default`: which pass this is, for a line or a bar. */
export function passName({ form, target }: PassSubject): string {
  return `${form.slug === '' ? form.id : form.slug} → ${target}`;
}

/** What a pass sets out to do. */
export function startedLine(subject: PassSubject): string {
  const what = subject.kind === 'full' ? 'reading everything' : 'looking for what is new';
  return `${passName(subject)}: ${what}`;
}

/** How far a pass has come. */
export function progressLine(progress: PassProgress): string {
  return `${passName(progress)}: ${count(progress.seen)} of ${count(progress.total)}`;
}

/** Words for the ways in which a pass can end. */
const OUTCOMES = {
  ok: 'complete',
  incomplete: 'not proven complete',
  withheld: 'deletions withheld',
  gone: 'form is gone',
  busy: 'busy: another pass is at it',
  failed: 'failed',
  cancelled: 'stopped',
} as const satisfies Record<PassReport['outcome'], string>;

/** An outcome in words. */
export const outcomeWords = (outcome: PassReport['outcome']): string => OUTCOMES[outcome];

/** How a pass ended. */
export function endedLine(report: PassReport): string {
  const changes = (
    [
      ['new', report.inserted],
      ['changed', report.updated],
      ['deleted', report.deleted],
      ['rejected', report.rejected],
    ] as const
  )
    .filter(([, number]) => number > 0)
    .map(([word, number]) => `${count(number)} ${word}`);
  const what = changes.length > 0 ? changes.join(', ') : 'nothing new';
  const cost = `${plural(report.requests, 'request')}, ${timeSpan(report.ms)}`;
  return `${passName(report)}: ${outcomeWords(report.outcome)}; ${what} (${cost})`;
}
