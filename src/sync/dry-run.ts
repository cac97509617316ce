import { MirrorError } from '../base/errors.ts';
import { deletionsLeft } from './absent.ts';
import { blankRun, type RunReport } from './run-form.ts';
import type { Target } from './target.ts';
import { compareForm, type Difference } from './compare.ts';
import type { RunOptions } from './work.ts';

/** Predicts what a run would change and how it would end: compares everything, and writes nothing. Rejects as source and target do. */
export async function dryRun(
  target: Target,
  formId: string,
  options: RunOptions,
  signal: AbortSignal,
): Promise<RunReport> {
  const compared = await compareForm(target, formId, signal);
  const { form, comparison, isProven, stored } = compared;
  const { found, undecided } = comparison;
  const many = comparison.compared.size;
  const of = (...kinds: readonly Difference['kind'][]): Difference[] =>
    [...found.values()].filter(({ kind }) => kinds.includes(kind));
  const [changes, gone] = [of('missing', 'changed', 'marked'), of('extra')];
  const left = stored && deletionsLeft(stored.state, target, options);
  const isHeld = gone.length > (left ?? 0);
  const ending = isHeld
    ? new MirrorError('DELETIONS_HELD', `${gone.length} deletions would wait for a person.`)
    : (isProven && undecided.size === 0) || found.size > 0
      ? null
      : new MirrorError('RUN_INCOMPLETE', UNPROVEN);
  const identity = { id: form.id, slug: form.slug, name: form.name };
  return {
    ...blankRun(identity, target.name, ending, compared.startedAtMs, target.clock.now()),
    isWhole: true,
    accounted: many,
    requests: compared.source.requests,
    inserted: of('missing').length,
    updated: of('changed', 'marked').length,
    unchanged: many - changes.length,
    deleted: isHeld ? 0 : gone.length,
    held: isHeld ? gone.length : 0,
    reasons: stored?.losses ?? [],
    foreseen: isHeld ? changes : [...changes, ...gone],
  };
}

const UNPROVEN = 'The source gave no proof that it showed every submission.';
