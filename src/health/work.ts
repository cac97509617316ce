import type { FormIdentity, PassKind } from '../mirror/types.ts';
import type { RunningJob } from './facts.ts';
import type { MirrorHealth } from './mirror-health.ts';
import type { RunningPass } from './pass-tracker.ts';

/** What some worker does now. Holds IDs, names of forms and numbers only (L11). Times are ISO 8601 in UTC. */
export interface RunningWork {
  readonly step: 'pass' | 'mark';
  /** Null where it is no pass. */
  readonly kind: PassKind | null;
  readonly form: FormIdentity;
  /** Null for marking, which asks all targets. */
  readonly target: string | null;
  readonly startedAt: string;
  /** Of a pass: submissions seen, and how many there are, 0 while that is not known. */
  readonly seen: number;
  readonly total: number;
  /** The process, as `machine-number`; null where it is not known. */
  readonly worker: string | null;
}

/**
 * What all workers do now, the longest first: what the queue tells of each, with the newer progress where this process runs it
 * itself, and passes of this process that the queue does not tell of. Pure.
 */
export function runningWork({ queue, forms, plan }: MirrorHealth): RunningWork[] {
  const identities = new Map(
    [...plan.forms.map(({ form }) => form), ...forms.map(({ form }) => form)].map((form) => [
      form.id,
      form,
    ]),
  );
  const identityOf = (id: string): FormIdentity => identities.get(id) ?? { id, slug: id, name: id };
  const state = queue?.reachable === true ? queue : null;
  const told = new Set<unknown>();
  const isTold = (target: string, formId: string): boolean =>
    state?.running.some((job) => job.target === target && job.formId === formId) === true;
  const work: RunningWork[] = (state?.running ?? []).map((job) => {
    const { formId, target } = job;
    const own = forms.find((one) => one.target === target && one.form.id === formId)?.running;
    const { kind, seen, total } = progressOf(job, own, told);
    const [form, startedAt, worker] = [
      identityOf(formId),
      iso(job.startedAtMs),
      job.worker ?? null,
    ];
    return { step: 'pass', kind, form, target, startedAt, worker, seen, total };
  });
  for (const { form, target, running } of forms) {
    if (running === null || told.has(running) || isTold(target, form.id)) continue;
    const { kind, seen, total } = running;
    const startedAt = iso(running.startedAtMs);
    work.push({ step: 'pass', kind, form, target, startedAt, seen, total, worker: null });
  }
  for (const { step, formId, target, startedAtMs, worker } of state?.sideJobs ?? []) {
    const what = { step, kind: null, form: identityOf(formId), target, worker } as const;
    work.push({ ...what, startedAt: iso(startedAtMs), seen: 0, total: 0 });
  }
  return work.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
}

/** A form has one pass at a time; what its job asked for may have become a pass of everything. */
function progressOf(
  job: RunningJob,
  own: RunningPass | null | undefined,
  told: Set<unknown>,
): Pick<RunningPass, 'kind' | 'seen' | 'total'> {
  const { kind, progress } = job;
  const isTold = own === null || own === undefined || told.has(own);
  if (isTold || own.heardAtMs < (progress?.atMs ?? 0)) {
    return { kind, seen: progress?.seen ?? 0, total: progress?.total ?? 0 };
  }
  told.add(own);
  return own;
}

const iso = (ms: number): string => new Date(ms).toISOString();
