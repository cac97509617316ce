import { type SoakCase, SoakLife } from './soak-case.ts';
import type { StandIn, StandInReading } from './stand-in.ts';

/** Nothing happens by itself. */
export const QUIET: SoakCase = {
  seed: 1,
  reading: {
    order: 'newest',
    limit: 100,
    totalCounts: 'submissions',
    doubles: 'beside',
    ends: 'entries',
    reversal: 'honoured',
    pastEnd: 'empty',
    dates: 'instants',
  },
  initial: 0,
  spacingMs: 1_000,
  windowSizes: undefined,
  ties: false,
  doubled: 0,
  changes: ['insert'],
  busy: 0,
  atOnce: 1,
  between: 0,
  readAhead: 1,
  broken: false,
  passes: [],
};

/** A life over a source that changes only when a test says so. */
export function lifeOf(initial: number, reading: Partial<StandInReading> = {}): SoakLife {
  return new SoakLife({ ...QUIET, initial, reading: { ...QUIET.reading, ...reading } });
}

/** The ID of the newest submission but so many. */
export const newest = (source: StandIn, nth: number): string => source.items.at(-1 - nth)!.id;
