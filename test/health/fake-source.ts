import { MirrorError } from '../../src/base/errors.ts';
import type { FormOverview } from '../../src/mirror/target.ts';
import type { FormIdentity, PassRecord } from '../../src/mirror/types.ts';
import type {
  FormDetails,
  PlanState,
  QueueState,
  RejectionList,
  HealthSource,
  TargetOverview,
} from '../../src/health/facts.ts';
import type { Problem } from '../../src/health/problem.ts';
import type { SourceWait } from '../../src/health/source-waits.ts';
import { type KeptFailures, NO_FAILURES } from '../../src/health/kept-failures.ts';
import type { PassReport } from '../../src/sync/events.ts';

export const NOW = Date.UTC(2026, 4, 12, 9, 30);
const MINUTE = 60_000;

/** `ms` before NOW, as ISO. */
export const before = (ms: number): string => new Date(NOW - ms).toISOString();

/** A pass that ended well `agoMs` before NOW. */
export function passRecord(agoMs: number, changes: Partial<PassRecord> = {}): PassRecord {
  return {
    kind: 'incremental',
    startedAt: before(agoMs + 800),
    endedAt: before(agoMs),
    outcome: 'ok',
    requests: 3,
    total: 100,
    distinct: 100,
    inserted: 0,
    updated: 0,
    unchanged: 100,
    deleted: 0,
    rejected: 0,
    withheld: 0,
    code: null,
    error: null,
    ...changes,
  };
}

/** A form that is well, with the notable passes of `passes` (newest first). */
export function formOverview(
  form: FormIdentity,
  changes: Partial<FormOverview> = {},
  passes: readonly PassRecord[] = [passRecord(20_000), passRecord(2 * 3_600_000, { kind: 'full' })],
): FormOverview {
  const lastOk = passes.find(({ outcome }) => outcome === 'ok') ?? null;
  const lastFull = passes.find(({ kind }) => kind === 'full') ?? null;
  return {
    formId: form.id,
    slug: form.slug,
    name: form.name,
    location: `table ${form.slug.replaceAll('-', '_')}, view ${form.slug.replaceAll('-', '_')}_labelled`,
    rows: 100,
    deletedRows: 0,
    rejected: 0,
    goneAt: null,
    checkpoint:
      lastOk === null
        ? null
        : {
            watermark: before(5 * MINUTE),
            total: 100,
            absent: 0,
            withheld: lastFull?.withheld ?? 0,
            provenAt: lastOk.endedAt,
            fullProvenAt: lastFull?.endedAt ?? null,
            hidden: 0,
            provenFor: '',
            statuses: null,
            unstored: new Map(),
            countsAt: null,
          },
    look: null,
    marking: null,
    losses: [],
    lastPass: passes[0] ?? null,
    lastOk,
    lastFull,
    filledFields: [],
    forgotten: 0,
    notices: [],
    ...changes,
  };
}

/** A report as a pass emits it. */
export function passReport(
  form: FormIdentity,
  target: string,
  record: PassRecord,
  failure: MirrorError | null = null,
): PassReport {
  const code = failure?.code ?? record.code;
  return {
    form,
    target,
    ...record,
    code,
    passId: 'p',
    absent: 0,
    reason: null,
    undecided: 0,
    doubles: 0,
    marked: 0,
    notices: [],
    ms: 800,
    failure,
  };
}

export const QUEUE: QueueState = {
  backend: 'redis',
  address: 'redis://queue.internal:6379',
  reachable: true,
  running: [],
  schedules: [
    { kind: 'incremental', nextRunAt: before(-38_000), overdue: false },
    { kind: 'full', nextRunAt: before(-4 * 3_600_000), overdue: false },
  ],
  queues: [
    {
      step: 'plan',
      target: null,
      kind: null,
      waiting: 0,
      active: 0,
      delayed: 2,
      waitingForPasses: 0,
    },
    {
      step: 'mark',
      target: null,
      kind: null,
      waiting: 1,
      active: 0,
      delayed: 0,
      waitingForPasses: 2,
    },
  ],
};

/** A source that a test scripts. Its answers may be changed at any time. */
export class FakeSource implements HealthSource {
  readonly overviews = new Map<string, TargetOverview | MirrorError | Promise<TargetOverview>>();
  readonly histories = new Map<string, readonly PassRecord[]>();
  readonly rejected = new Map<string, RejectionList>();
  queueState: QueueState | MirrorError = QUEUE;
  planState: PlanState = { at: null, forms: [], problem: null, unmatched: [], notices: [] };
  keptFailures: KeptFailures = NO_FAILURES;
  everyMs = MINUTE;
  /** How often each target was read. */
  readonly reads = new Map<string, number>();

  get targets(): string[] {
    return [...this.overviews.keys()];
  }

  /** Lets a target hold these forms. */
  hold(
    target: string,
    forms: readonly FormOverview[],
    kind: TargetOverview['kind'] = 'postgres',
  ): void {
    const addresses: Record<string, string> = {
      sqlite: './data/mirror.sqlite',
      postgres: 'postgres://db.internal:5432/forms',
      'google-sheets': 'docs.google.com/spreadsheets/d/1AbC…',
    };
    const address = addresses[kind] ?? kind;
    this.overviews.set(target, { kind, address, forms });
  }

  async overview(target: string): Promise<TargetOverview> {
    this.reads.set(target, (this.reads.get(target) ?? 0) + 1);
    const answer = this.overviews.get(target);
    if (answer === undefined) throw new MirrorError('USAGE', `There is no target ${target}.`);
    if (answer instanceof MirrorError) throw answer;
    return answer;
  }

  async passes(target: string, formId: string, limit: number): Promise<readonly PassRecord[]> {
    return (this.histories.get(`${target}/${formId}`) ?? []).slice(0, limit);
  }

  async rejections(target: string, formId: string, limit: number): Promise<RejectionList> {
    const { total, items } = this.rejected.get(`${target}/${formId}`) ?? { total: 0, items: [] };
    return { total, items: items.slice(0, limit) };
  }

  elsewhere: SourceWait | null = null;

  async waitElsewhere(): Promise<SourceWait | null> {
    return this.elsewhere;
  }

  dataDirProblem: Problem | null = null;

  async dataDir(): Promise<Problem | null> {
    return this.dataDirProblem;
  }

  readonly detailed = new Map<string, FormDetails>();

  async details(target: string, formId: string): Promise<FormDetails> {
    return this.detailed.get(`${target}/${formId}`) ?? { fields: [], windows: [] };
  }

  async queue(): Promise<QueueState> {
    if (this.queueState instanceof MirrorError) throw this.queueState;
    return this.queueState;
  }

  plan(): PlanState {
    return this.planState;
  }

  async kept(): Promise<KeptFailures> {
    return this.keptFailures;
  }

  isChosen(): boolean {
    return true;
  }

  readonly compareWithinMs = 6 * 3_600_000;

  nextRunMs(afterMs: number): number {
    return afterMs + this.everyMs;
  }
}
