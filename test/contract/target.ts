import { describe } from 'vitest';
import { describeCounts } from './target-counts.ts';
import { describeDryRun } from './target-dry-run.ts';
import { describeErasure } from './target-erasure.ts';
import { describeFields } from './target-fields.ts';
import { type MakePlace, stageTargets } from './target-harness.ts';
import { describeLosses } from './target-losses.ts';
import { describePasses } from './target-passes.ts';
import { describePauses } from './target-pauses.ts';
import { describeRows } from './target-rows.ts';
import { describeSideBySide } from './target-side-by-side.ts';
import { describeSlugs } from './target-slugs.ts';
import { describeSnapshot } from './target-snapshot.ts';
import { describeStates } from './target-states.ts';
import { describeValues } from './target-values.ts';
import { describeWindows } from './target-windows.ts';

/** The contract of the Target port: every adapter keeps it. */
export function describeTarget(name: string, makePlace: MakePlace): void {
  describe(`the target contract over ${name}`, () => {
    const stage = stageTargets(makePlace);
    describeRows(stage);
    describeValues(stage);
    describeFields(stage);
    describeStates(stage);
    describeCounts(stage);
    describePasses(stage);
    describePauses(stage);
    describeSlugs(stage);
    describeSideBySide(stage);
    describeLosses(stage);
    describeErasure(stage);
    describeWindows(stage);
    describeSnapshot(stage);
    describeDryRun(stage);
  });
}
