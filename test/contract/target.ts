import { describe } from 'vitest';
import { describeDryRun } from './target-dry-run.ts';
import { describeErasure } from './target-erasure.ts';
import { describeFields } from './target-fields.ts';
import { type MakePlace, stageTargets } from './target-harness.ts';
import { describeLosses } from './target-losses.ts';
import { describePauses } from './target-pauses.ts';
import { describeRows } from './target-rows.ts';
import { describeSlugs } from './target-slugs.ts';
import { describeSnapshot } from './target-snapshot.ts';
import { describeValues } from './target-values.ts';

/** The contract of the Target port: every adapter keeps it. */
export function describeTarget(name: string, makePlace: MakePlace): void {
  describe(`the target contract over ${name}`, () => {
    const stage = stageTargets(makePlace);
    describeRows(stage);
    describeValues(stage);
    describeFields(stage);
    describePauses(stage);
    describeSlugs(stage);
    describeLosses(stage);
    describeErasure(stage);
    describeSnapshot(stage);
    describeDryRun(stage);
  });
}
