import { deviations, plainValue } from './behaviours.ts';
import { lawOf } from './breach.ts';
import { drawPlan, type Plan, type Step, withMore } from './plan.ts';
import { runHistory, type Verdict } from './run-history.ts';
import type { StoreKind } from './stores.ts';

/** How long a story is shortened (milliseconds), and how many request lines its end shows. */
const SHRINK_MS = 60_000;
const LAST_REQUESTS = 30;

/** The smallest history that breaks the same law, found within a minute. */
export async function shrink(plan: Plan, law: string): Promise<{ plan: Plan; verdict: Verdict }> {
  const end = performance.now() + SHRINK_MS;
  let best = plan;
  let verdict = await runHistory(plan, { story: true });
  const attempt = async (candidate: Plan): Promise<boolean> => {
    if (performance.now() > end) return false;
    const tried = await runHistory(candidate, { story: true });
    if (lawOf(tried.breaches[0]) !== law) return false;
    [best, verdict] = [candidate, tried];
    return true;
  };
  for (let isSmaller = true; isSmaller && performance.now() < end;) {
    isSmaller = false;
    for (const smaller of simplerPlans()) {
      const candidate = smaller(best);
      if (candidate !== null && (await attempt(candidate))) isSmaller = true;
    }
    for (let at = best.steps.length - 1; at >= 0; at--) {
      if (await attempt({ ...best, steps: best.steps.toSpliced(at, 1) })) isSmaller = true;
    }
    for (const [at, step] of best.steps.entries()) {
      for (const simpler of simplerSteps(step)) {
        if (await attempt({ ...best, steps: best.steps.with(at, simpler) })) isSmaller = true;
      }
    }
    if (await withoutChanges()) isSmaller = true;
  }
  return { plan: best, verdict };

  /** Leaves out changes between requests, halves first. */
  async function withoutChanges(): Promise<boolean> {
    let isSmaller = false;
    const changesOf = (): string[] =>
      verdict.lines.flatMap((line) => /\[(\d+:\d+)\]/.exec(line)?.[1] ?? []);
    for (
      let size = Math.ceil(changesOf().length / 2);
      size >= 1;
      size = size === 1 ? 0 : Math.ceil(size / 2)
    ) {
      const all = changesOf();
      for (let at = all.length; at > 0; at -= size) {
        const part = all.slice(Math.max(0, at - size), at);
        if (await attempt({ ...best, without: [...best.without, ...part] })) isSmaller = true;
      }
    }
    return isSmaller;
  }
}

type Smaller = (plan: Plan) => Plan | null;

function simplerPlans(): Smaller[] {
  const set =
    <K extends keyof Plan>(key: K, value: Plan[K]): Smaller =>
    (plan) =>
      plan[key] === value ? null : { ...plan, [key]: value };
  return [
    set('faultRate', 0),
    set('busy', 0),
    set('targets', 1),
    set('concurrency', 1),
    set('writeBack', false),
    set('history', false),
    set('hasSecret', false),
    set('chooses', false),
    set('maxDeleteFraction', 1),
    (plan) => (plan.initial.length < 2 ? null : { ...plan, initial: plan.initial.slice(0, -1) }),
    (plan) =>
      plan.initial.every((size) => size <= 1)
        ? null
        : { ...plan, initial: plan.initial.map((size) => Math.floor(size / 2)) },
    ...Array.from({ length: 3 }, (_, at): Smaller => (plan) => {
      const point = deviations(plan.behaviour)[at];
      return point === undefined
        ? null
        : { ...plan, behaviour: { ...plan.behaviour, [point]: plainValue(point) } };
    }),
  ];
}

function simplerSteps(step: Step): Step[] {
  return [
    ...((step.crashAt ?? 0) !== 0 ? [{ ...step, crashAt: 0 }] : []),
    ...((step.processes ?? 1) > 1 ? [{ ...step, processes: 1 }] : []),
    ...(step.what === 'sync' && step.accept === true ? [{ ...step, accept: false }] : []),
    ...(step.what === 'changes' && (step.changes ?? 0) > 1 ? [{ ...step, changes: 1 }] : []),
  ];
}

/** The events, short enough to read: of early requests only their number. */
export function tell({ behaviour, ...plan }: Plan, { lines, breaches }: Verdict): string {
  const odd = deviations(behaviour).map((point) => `${point} ${String(behaviour[point])}`);
  const isRequest = (line: string): boolean => / GET /.test(line);
  const last = lines.flatMap((line, at) => (isRequest(line) ? [at] : [])).at(-LAST_REQUESTS) ?? 0;
  const shown: string[] = [];
  let hidden = 0;
  for (const [at, line] of lines.entries()) {
    if (isRequest(line) && at < last) {
      hidden++;
      continue;
    }
    if (hidden > 0) shown.push(`               … ${hidden} requests`);
    hidden = 0;
    shown.push(line.slice(0, 260));
  }
  return [
    `A ${plan.kind} source with ${plan.initial.join(', ')} submissions in its forms, ${plan.pageSize} to a page${odd.length === 0 ? '' : `; odd: ${odd.join(', ')}`}.`,
    ...shown,
    '',
    ...breaches,
  ].join('\n');
}

/** The output of `npm run simulate`; empty if no law is broken. */
export async function broken(
  store: StoreKind,
  seed: number,
  more: readonly string[] = [],
): Promise<string> {
  const plan = { ...more.reduce(withMore, drawPlan(seed)), store };
  const verdict = await runHistory(plan);
  if (verdict.breaches.length === 0) return '';
  const told = await runHistory(plan, { story: true });
  return `npm run simulate -- --seed ${seed} --store ${store}${more.map((what) => ` --with ${what}`).join('')}\n${tell(plan, told)}`;
}
