import type { Pair } from './pass-book.ts';
import { type NotedPass, type PairMemory, newestPass } from './pass-memory.ts';
import type { PairProblem, ProblemCode } from './problem.ts';
import { remedyFor } from './remedies.ts';
import { plural, shellWord, span } from './words.ts';

/** What a form's problems in a target are told from. */
export interface PairFacts {
  readonly pair: Pair;
  readonly memory: PairMemory;
  /** When the form was found gone (ISO), as the target remembers it. */
  readonly goneAt: string | null;
  /** How long nothing has been heard of it, when that is more than its schedule explains; whether this form alone is silent. */
  readonly silent: { readonly forMs: number; readonly calls: boolean } | null;
  /** Whether a shared problem tells of this code already. */
  readonly isShared: (code: ProblemCode | null) => boolean;
}

/** An unproven pass now and then is the nature of a lively source; two in a row call a person. */
const UNPROVEN_CALLS = 2;

/** What is wrong with a form in a target, worst first. Pure. */
export function assessPair(facts: PairFacts): PairProblem[] {
  const problems = [passesProblem(facts), silenceProblem(facts), deletionsProblem(facts)];
  return problems
    .filter((problem) => problem !== null)
    .toSorted((a, b) => Number(b.level === 'error') - Number(a.level === 'error'));
}

function passesProblem(facts: PairFacts): PairProblem | null {
  const { memory, goneAt, pair } = facts;
  const newest = newestPass(memory);
  if (isGone(newest, goneAt)) return goneProblem(pair, newest, goneAt);
  if (newest === null) return null;
  if (newest.outcome === 'failed') return failedProblem(facts, newest);
  if (newest.outcome === 'incomplete') return unprovenProblem(memory, newest);
  const { full } = memory;
  if (full === null || newest === full) return null;
  if (full.outcome === 'failed') return fullFailedProblem(facts, full);
  return full.outcome === 'incomplete' ? unprovenProblem(memory, full) : null;
}

/** The form answers 404, and no pass has met it since. */
function isGone(newest: NotedPass | null, goneAt: string | null): boolean {
  if (newest?.outcome === 'gone') return true;
  if (goneAt === null) return false;
  return newest === null || Date.parse(newest.endedAt) <= Date.parse(goneAt);
}

function goneProblem({ form }: Pair, newest: NotedPass | null, goneAt: string | null): PairProblem {
  return {
    track: 'passes',
    level: 'warning',
    code: 'FORM_GONE',
    title: 'Gone at the source',
    message:
      newest?.outcome === 'gone' && newest.error !== null
        ? newest.error
        : `The form "${form.name}" (${form.id}) answers 404. Its rows stay as they are.`,
    remedy: remedyFor('FORM_GONE'),
    command: null,
    calls: true,
    covered: false,
    evidence: newest?.startedAt ?? goneAt ?? '',
  };
}

function failedProblem({ isShared, pair }: PairFacts, pass: NotedPass): PairProblem {
  return {
    track: 'passes',
    level: 'error',
    code: pass.code ?? 'FAILED',
    title: 'The last pass failed',
    message: pass.error ?? `The last pass of "${pair.form.name}" failed.`,
    remedy: remedyFor(pass.code),
    command: null,
    calls: true,
    covered: isShared(pass.code),
    evidence: pass.startedAt,
  };
}

function fullFailedProblem(facts: PairFacts, pass: NotedPass): PairProblem {
  const problem = failedProblem(facts, pass);
  return {
    ...problem,
    level: 'warning',
    title: 'The last full pass failed',
    message: `New submissions arrive, but status changes and deletions do not: ${problem.message}`,
  };
}

function unprovenProblem(memory: PairMemory, pass: NotedPass): PairProblem {
  const times = memory.unproven[pass.kind];
  return {
    track: 'passes',
    level: 'warning',
    code: 'PASS_INCOMPLETE',
    title: times > 1 ? `Unproven ${times} times in a row` : 'Not proven complete',
    message: pass.error ?? 'The last pass ended without proof that nothing was missed.',
    remedy: times > 1 ? remedyFor('PASS_INCOMPLETE') : null,
    command: null,
    calls: times >= UNPROVEN_CALLS,
    covered: false,
    evidence: pass.startedAt,
  };
}

function deletionsProblem({ memory, pair }: PairFacts): PairProblem | null {
  const { withheld, full } = memory;
  if (withheld === 0) return null;
  const { form, target } = pair;
  const rows = plural(withheld, 'row is', 'rows are');
  return {
    track: 'deletions',
    level: 'warning',
    code: 'DELETES_WITHHELD',
    title: 'Deletions withheld',
    message: `${rows} absent from the source, more than MAX_DELETE_FRACTION allows at once. Nothing was marked deleted.`,
    remedy: 'Look at the form in the dashboard. If they were deleted on purpose, release them:',
    command: `forms-mirror sync --full --accept-deletes --form ${shellWord(form.id)} --target ${shellWord(target)}`,
    calls: true,
    covered: false,
    evidence: full?.startedAt ?? '',
  };
}

function silenceProblem({ silent, pair, memory }: PairFacts): PairProblem | null {
  if (silent === null) return null;
  const newest = newestPass(memory);
  return {
    track: 'silence',
    level: 'error',
    code: 'SILENT',
    title: 'Silent',
    message: `No pass of "${pair.form.name}" has ended for ${span(silent.forMs)}, longer than its schedule explains.`,
    remedy: remedyFor('SILENT'),
    command: null,
    calls: silent.calls,
    covered: false,
    evidence: newest?.startedAt ?? '',
  };
}
