import * as fc from 'fast-check';
import { Events } from '../../src/base/events.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { parsePicks } from '../../src/mirror/picks.ts';
import { ProofLedger } from '../../src/mirror/proof.ts';
import type { Target } from '../../src/mirror/target.ts';
import type { PassKind } from '../../src/mirror/types.ts';
import type { SyncContext } from '../../src/sync/context.ts';
import type { PassReport } from '../../src/sync/events.ts';
import { LabelCache } from '../../src/sync/label-cache.ts';
import { verifyForm, type VerifyReport } from '../../src/sync/verify.ts';
import { runPass } from '../../src/sync/run-pass.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { TestClock } from '../support/test-clock.ts';
import { beyondSight, type Circumstances, escapesCounts, falseClaims } from './claims.ts';
import { DATES, FORM, ORDERS, StandIn, type StandInReading } from './stand-in.ts';

const DAY_MS = 24 * 60 * 60_000;

/** What may happen between two requests. `swap`: one is deleted while another one is restored. */
const CHANGES = [
  'insert',
  'burst',
  'twin',
  'import',
  'midnight',
  'delete',
  'replace',
  'restore',
  'swap',
  'restatus',
  'edit',
  'double',
  'single',
] as const;
type Change = (typeof CHANGES)[number];

/** A life of one mirrored form, all of it drawn at random. */
export const soakCases = fc.record({
  seed: fc.integer(),
  reading: fc.record({
    order: fc.constantFrom(...ORDERS),
    limit: fc.integer({ min: 2, max: 10 }),
    totalCounts: fc.constantFrom('submissions' as const, 'entries' as const),
    doubles: fc.constantFrom('beside' as const, 'apart' as const),
    ends: fc.constantFrom<StandInReading['ends']>('entries', 'entries', 'total', 'pages'),
    reversal: fc.constantFrom<StandInReading['reversal']>(
      'honoured',
      'honoured',
      'ignored',
      'refused',
    ),
    pastEnd: fc.constantFrom('empty' as const, 'refused' as const, 'last' as const),
    dates: fc.constantFrom(...DATES),
  }),
  initial: fc.integer({ min: 0, max: 45 }),
  /** How far apart submissions are dated: all on one day, or on many. */
  spacingMs: fc.constantFrom(1_000, 6 * 3_600_000, DAY_MS),
  windowSizes: fc.constantFrom(undefined, { aim: 3, most: 6 }, { aim: 10, most: 15 }),
  ties: fc.boolean(),
  /** How many submissions of ten the list shows twice at first. */
  doubled: fc.constantFrom(0, 0, 1, 10),
  changes: fc.subarray([...CHANGES], { minLength: 1 }),
  busy: fc.constantFrom(0.1, 0.4, 0.8) as fc.Arbitrary<number>,
  /** The most that happens between two requests. */
  atOnce: fc.constantFrom(1, 1, 2, 3),
  between: fc.integer({ min: 0, max: 6 }),
  readAhead: fc.integer({ min: 1, max: 4 }),
  broken: fc.boolean(),
  passes: fc.array(fc.constantFrom<PassKind>('full', 'full', 'incremental'), {
    minLength: 2,
    maxLength: 5,
  }),
});

export type SoakCase = typeof soakCases extends fc.Arbitrary<infer T> ? T : never;

/** What was tried, added up over cases. */
export interface SoakTally {
  cases: number;
  passes: number;
  /** Passes that ended `ok`, and those of them that were not judged (SPEC.md, "What no client can see"). */
  ok: number;
  beyondSight: number;
  /** Those that read the form window by window. */
  windowed: number;
}

export const newTally = (): SoakTally => ({
  cases: 0,
  passes: 0,
  ok: 0,
  beyondSight: 0,
  windowed: 0,
});

/** The weaker proof: as many distinct submissions as `total` says. */
export class DistinctIsEnough extends ProofLedger {
  override get proven(): boolean {
    return this.distinct >= this.baseTotal;
  }
  override get provenSurely(): boolean {
    return this.proven;
  }
}

/** Runs a case into a target that has not met its form, and judges each `ok` when it is claimed. */
export class SoakLife {
  readonly source: StandIn;
  readonly #given: SoakCase;
  readonly #random: () => number;
  readonly #context: SyncContext;
  readonly #newLedger: (oldest: string | null) => ProofLedger;
  /** Each false claim, as a sentence. */
  readonly breaches: string[] = [];
  #proven = false;
  #lastFull = 0;
  #left = 0;

  /** `form`: so that many lives may share a target. */
  constructor(given: SoakCase, { weak = false, form = FORM } = {}) {
    this.#given = given;
    this.#random = seededRandom(given.seed);
    this.source = new StandIn(given.reading, this.#random, form);
    this.source.spacingMs = given.spacingMs;
    this.#newLedger = (oldest) => (weak ? new DistinctIsEnough(oldest) : new ProofLedger(oldest));
    const clock = new TestClock();
    this.#context = {
      client: this.source.client,
      labels: new LabelCache(this.source.client, clock),
      clock,
      logger: silentLogger,
      events: new Events(),
      maxDeleteFraction: 1,
      readAhead: given.readAhead,
      ...(given.windowSizes !== undefined && { windowSizes: given.windowSizes }),
    };
    for (let n = 0; n < given.initial; n++) {
      const item = this.source.insert(0, given.ties && n % 4 > 0);
      if (this.#pick(10) < given.doubled) this.source.repeat(item.id, 2);
    }
  }

  /** All passes of the case. */
  async run(target: Target, tally: SoakTally): Promise<void> {
    this.source.onRequest = () => {
      if (this.#random() >= this.#given.busy) return;
      for (let n = this.#pick(this.#given.atOnce) + 1; n > 0 && this.#left-- > 0; n--)
        this.#change();
    };
    for (const kind of ['full' as const, ...this.#given.passes]) {
      await this.pass(target, kind, tally);
      for (let n = this.#pick(this.#given.between + 1); n > 0; n--) this.#change();
    }
    tally.cases++;
  }

  /** One pass, judged at the moment it ends. */
  async pass(target: Target, kind: PassKind, tally = newTally()): Promise<PassReport> {
    const { source } = this;
    const from = source.tick;
    const sorted = isSorted(source);
    const live = await liveIds(target, source.form.id);
    this.#left = 20 + this.#pick(30);
    const picks = parsePicks(['*']);
    const request = {
      formId: source.form.id,
      kind,
      picks,
      hashKey: undefined,
      acceptDeletes: true,
      waitMs: 0,
    };
    const { signal } = new AbortController();
    const report = await runPass(this.#context, target, request, signal, this.#newLedger);
    tally.passes++;
    // A list that shows the same twice on two pages, and nothing else, can't be told from one whose pages are ignored.
    if (report.outcome === 'failed' && report.code !== 'FORMS_PAGE_IGNORED')
      this.breaches.push(`failed: ${report.error}`);
    if (report.outcome !== 'ok') return report;
    tally.ok++;
    const read = [...source.lists.values()].filter(({ lastTick }) => lastTick >= from);
    if (read.some(({ dateTo }) => dateTo !== undefined)) tally.windowed++;
    const { readAhead } = this.#given;
    const span = { from, to: source.tick };
    const known = { source, span, readAhead, sorted, live, history: this.#proven };
    if (beyondSight(known)) tally.beyondSight++;
    else this.breaches.push(...(await this.#judge(target, report, known)));
    if (report.kind === 'full') [this.#proven, this.#lastFull] = [true, from];
    return report;
  }

  /** A comparison of the target with the source as it is. */
  async verify(target: Target): Promise<VerifyReport> {
    const request = { formId: this.source.form.id, picks: parsePicks(['*']), hashKey: undefined };
    return verifyForm(this.#context, target, request, new AbortController().signal);
  }

  async #judge(
    target: Target,
    report: PassReport,
    { source, span }: Circumstances,
  ): Promise<string[]> {
    const reader = await target.reader(source.form.id);
    const incremental = report.kind === 'incremental';
    const excused = incremental ? escapesCounts(source.events, this.#lastFull) : new Set<string>();
    const found = await falseClaims(source, reader, report, span, excused);
    return found.map((breach) => `${report.kind} pass ended ok: ${breach}`);
  }

  #pick(below: number): number {
    return Math.floor(this.#random() * below);
  }

  #anyId(of: readonly { id: string }[] = this.source.items): string {
    return of[this.#pick(of.length)]?.id ?? '';
  }

  #change(): void {
    const { source } = this;
    const kind: Change = this.#given.changes[this.#pick(this.#given.changes.length)] ?? 'insert';
    switch (kind) {
      case 'insert':
        source.insert();
        return;
      case 'burst':
        for (let n = this.#pick(source.reading.limit * 2); n > 0; n--) source.insert();
        return;
      case 'twin':
        source.insert(0, true);
        return;
      case 'import':
        source.insert(DAY_MS * (2 + this.#pick(300)));
        return;
      case 'midnight':
        source.insertAtMidnight(this.#pick(40), this.#pick(2));
        return;
      case 'delete':
        this.#delete();
        return;
      case 'replace':
        this.#delete();
        source.insert();
        return;
      case 'restore':
        source.restore(this.#anyId(source.deleted));
        return;
      case 'swap':
        this.#delete();
        source.restore(this.#anyId(source.deleted));
        return;
      case 'restatus':
        source.change(this.#anyId(), { status: ['NEW', 'DONE', 'PAID'][this.#pick(3)] ?? 'NEW' });
        return;
      case 'edit':
        source.change(this.#anyId(), { answer: `edited ${this.#pick(1_000)}` });
        return;
      case 'double':
        source.repeat(this.#anyId(), 2 + this.#pick(2));
        return;
      case 'single':
        source.repeat(this.#anyId(), 1);
    }
  }

  #delete(): void {
    const id = this.#anyId();
    if (this.#given.broken && this.#pick(8) === 0) this.source.broken.add(id);
    this.source.delete(id);
  }
}

function isSorted(source: StandIn): boolean {
  const times = source.entries().map((item) => item.createdAt);
  const up = times.toSorted((a, b) => a.localeCompare(b));
  return [up, up.toReversed()].some((sorted) => sorted.join() === times.join());
}

async function liveIds(target: Target, formId: string): Promise<Set<string>> {
  const live = new Set<string>();
  const reader = await target.reader(formId);
  for await (const ids of reader?.liveIds() ?? []) for (const id of ids) live.add(id);
  return live;
}
