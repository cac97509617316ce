import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from './api.ts';
import type { Breach } from './breach.ts';
import { contradictsItself, deviations, namesForms } from './behaviours.ts';
import type { CopiedRow, Copy } from './copy.ts';
import type { Place } from './stores.ts';
import {
  type Asked,
  clockTime,
  type Assertion,
  difference,
  judgeClaim,
  newTally,
} from './judge.ts';
import { databaseOf, plannedSettings } from './environment.ts';
import { breakDatabase, isolationBreach } from './outage.ts';
import { PatchJudge } from './patch-judge.ts';
import { People } from './people.ts';
import { type Plan, type Step, stepText } from './plan.ts';
import type { SimProcess } from './process.ts';
import {
  type Claim,
  claimsOf,
  command,
  comparisonsOf,
  errorOf,
  hasFailed,
  hasFailedMark,
  leavesNamesOpen,
  type Job,
  type Printed,
  runLines,
  runsOf,
  syncArgs,
} from './program.ts';
import { Random } from './random.ts';
import { Refills } from './refills.ts';
import { type ChangeKind, Source } from './source.ts';
import { bannedTraces, printedSecret, storedSecret } from './traces.ts';
import { CopyWatch, countBreach, labelBreach, namedBreach, purgeBreach } from './watch.ts';
import { putToSleep, Workers } from './workers.ts';
import { type Actor, type Ending, World } from './world.ts';

const START_MS = Date.UTC(2026, 0, 10, 12);
const PURGED_AFTER_MS = 120_000;
/** In one step: a form that grows faster than it can be read is never read. */
const MOST_CHANGES = 25;

/** Ends a history at its first breach. */
export class Broken extends Error {}

/** One history, from a plan. */
export class History {
  readonly breaches: Breach[] = [];
  readonly world: World;
  readonly tally = newTally();
  readonly #plan: Plan;
  readonly #dir: string;
  readonly #source: Source;
  readonly #api: Api;
  readonly #people: People;
  readonly #patchJudge = new PatchJudge();
  readonly #watches = new Map<string, CopyWatch>();
  readonly #refills = new Refills();
  readonly #targets: readonly string[];
  readonly #places: ReadonlyMap<string, Place>;
  /** The time since which everything of a form in a target was compared, by target and form, as last claimed. */
  readonly #comparedAt = new Map<string, number>();
  readonly #workers: Workers;
  #isBusy = false;
  #changeNumber = 0;
  /** When people last moved things in the tab of a form that the program was working on, by target and form. */
  readonly #rearranged = new Map<string, number>();
  #step: Step | undefined;
  #stepAt = 0;

  constructor(plan: Plan, dir: string, places: ReadonlyMap<string, Place>, lines: string[] | null) {
    this.#places = places;
    this.#plan = plan;
    this.#dir = dir;
    const clock = { now: START_MS };
    const random = new Random(plan.seed ^ 0x5eed);
    this.world = new World(clock, random, lines);
    this.#source = new Source(plan, clock, random.fork());
    this.#api = new Api(this.#source, plan.pageSize, random.fork());
    this.world.api = this.#api;
    this.#targets = [...places.keys()];
    this.#workers = new Workers(this.world, (job, outcome, process) =>
      this.#noteJob(job, outcome, process),
    );
    for (const size of plan.initial) {
      const form = this.#source.addForm();
      for (let n = 0; n < size; n++) this.#source.seed(form, (size - n) * plan.spacingMs);
    }
    this.#people = new People(
      this.#source,
      this.#targets,
      plan,
      (target) => this.#path(target),
      places,
    );
    this.world.isBlocked = async () => {
      for (const place of places.values()) if ((await place.isBlocked?.()) === true) return true;
      return false;
    };
    this.world.onCall = () => this.#peopleAct();
    this.world.onRequest = (path) => this.#somethingHappens(path);
    this.world.onPatch = async (process, path) => this.#judgePatch(process, path);
  }

  #path(target: string): string {
    return databaseOf(this.#dir, target);
  }

  #settings(): Record<string, string> {
    const urls = new Map([...this.#places].map(([target, { url }]) => [target, url]));
    const settings = plannedSettings(this.#plan, join(this.#dir, 'data'), urls);
    const others = [...this.#places.values()].map((place) => place.settings);
    return Object.assign(settings, ...others, this.#people.settings()) as typeof settings;
  }

  async live(): Promise<void> {
    for (const [index, step] of this.#plan.steps.entries()) {
      this.#step = step;
      this.#changeNumber = 0;
      this.world.random = new Random(step.seed);
      this.#api.random = new Random(step.seed + 1);
      this.world.say(`— step ${index + 1}: ${stepText(step)}`);
      this.#stepAt = this.#source.now;
      if (index > 0) this.#peopleActBefore(step);
      await this.#do(step);
      this.#judgeTraces(false);
    }
    this.#step = undefined;
    await this.#judgeQuiet();
  }

  async #do(step: Step): Promise<void> {
    const random = new Random(step.seed + 2);
    switch (step.what) {
      case 'changes':
        for (let n = step.changes ?? 0; n > 0; n--) this.#change();
        return;
      case 'wait':
        return this.#wait(step.ms ?? 0, step.changes ?? 0);
      case 'deed':
        await this.#deed(step, random);
        // A person's action is noticed at once.
        return this.#judgeStatus();
      case 'fresh':
        return this.#fresh(step);
      case 'sync':
        return void (await this.#sync(step));
      case 'verify':
        for (let n = step.changes ?? 0; n > 0; n--) this.#change(['edit']);
        return this.#verify();
      case 'tick':
        return this.#tick(step);
      case 'broken':
        return this.#broken(random);
    }
  }

  /** Time passes, and people submit. */
  #wait(ms: number, submissions: number): void {
    for (let n = 0; n < submissions; n++) {
      this.world.clock.now += Math.floor(ms / submissions);
      this.#change(['new']);
    }
    if (submissions === 0) this.world.clock.now += ms;
  }

  /** A change between two requests, if the source is busy. */
  #somethingHappens(path: string): void {
    if (!this.#isBusy || this.#changeNumber >= MOST_CHANGES) return;
    if (this.#plan.writeBack) this.#someoneIsFaster(path);
    if (!this.world.random.chance(this.#plan.busy)) return;
    // Several concurrent changes may cancel each other in every count.
    do this.#change();
    while (this.world.random.chance(0.3));
  }

  /** People work in a spreadsheet while the program reads and writes it. */
  #peopleAct(): void {
    const { busy, people = 1 } = this.#plan;
    if (!this.#isBusy || !this.world.random.chance(busy * 0.2 * people)) return;
    for (const key of this.#actInSheets(this.world.random))
      this.#rearranged.set(key, this.#source.now);
  }

  /** Also between its runs. */
  #peopleActBefore({ seed }: Step): void {
    const random = new Random(seed + 3);
    for (let n = this.#plan.people ?? 1; n > 0 && random.chance(0.5); n--)
      this.#actInSheets(random);
  }

  /** A person does something to each spreadsheet. Returns the targets with their forms. */
  #actInSheets(random: Random): string[] {
    const number = `${this.#step?.seed ?? 0}:${this.#changeNumber++}`;
    if (this.#plan.without.includes(number)) return [];
    // Nothing else happens in that millisecond.
    this.world.clock.now++;
    const acts = this.#people.actInSheets(random);
    for (const { text } of acts) this.world.say(`    [${number}] somebody ${text}`);
    this.tally.acts += acts.length;
    return acts.map(({ place }) => place);
  }

  /** A person sets the status of a submission that the program is about to read by its ID. */
  #someoneIsFaster(path: string): void {
    const submission = this.#source.submissions.get(
      /\/submissions\/([^/?]+)$/.exec(path)?.[1] ?? '',
    );
    if (submission?.exists !== true || !this.world.random.chance(0.1)) return;
    const key = `${this.#step?.seed ?? 0}:${this.#changeNumber++}`;
    if (this.#plan.without.includes(key)) return;
    this.#source.setStatus(submission, submission.status === 'PAID' ? 'NEW' : 'PAID');
    this.world.say(`    [${key}] a person sets ${submission.id} to ${submission.status}`);
  }

  #change(changes: readonly ChangeKind[] = this.#plan.changes): void {
    const { without } = this.#plan;
    const [seed, number] = [this.#step?.seed ?? 0, this.#changeNumber++];
    if (without.includes(`${seed}:${number}`)) return;
    const random = new Random(seed + 7_919 * (number + 1));
    this.#source.random = random;
    const kind = random.pick(changes);
    const before = this.#source.events.length;
    if (!this.#source.change(kind)) return;
    const happened = this.#source.events
      .slice(before)
      .map(({ id, left, entered }) => `${id} ${left ?? '–'} → ${entered ?? '–'}`);
    this.world.say(`    [${seed}:${number}] ${kind} ${happened.join(', ')}`);
  }

  #process(name: string, crashAt = 0): SimProcess {
    const process = this.world.newProcess(name);
    process.crashAt = crashAt;
    return process;
  }

  /** Lets processes work while the source is as busy as drawn. */
  async #run<T>(actors: { process: SimProcess; work: () => Promise<T> }[]): Promise<Ending<T>[]> {
    this.#isBusy = this.#step !== undefined && this.#plan.busy > 0;
    this.#api.faults.rate = this.#step === undefined ? 0 : this.#plan.faultRate;
    const endings = await this.world.run(actors);
    this.#isBusy = false;
    this.#api.faults.rate = 0;
    for (const ending of endings) {
      if ('killedAt' in ending) this.tally.crashes++;
      if ('error' in ending)
        this.#break(
          `L12: the program threw ${String((ending.error as Error).stack ?? ending.error)}`,
        );
    }
    return endings;
  }

  async #command(
    args: readonly string[],
    name: string,
    crashAt = 0,
    other: Readonly<Record<string, string>> = {},
  ): Promise<Printed | undefined> {
    const process = this.#process(name, crashAt);
    const settings = { ...this.#settings(), ...other };
    const [ending] = await this.#run([
      { process, work: () => command(this.world, process, settings, args) },
    ]);
    return ending !== undefined && 'result' in ending ? this.#printed(ending.result) : undefined;
  }

  #printed(printed: Printed): Printed {
    this.#breakIf(printedSecret(printed.text));
    return printed;
  }

  async #sync(step: Step): Promise<Printed[]> {
    const settings = this.#settings();
    const from = this.#source.now;
    this.#polledAt.push(from);
    const actors = Array.from({ length: step.processes ?? 1 }, (_, index) => {
      const process = this.#process('sync', index === 0 ? step.crashAt : 0);
      if (index === 0 && step.crashOn !== undefined)
        process.crashOn = new RegExp(step.crashOn, 's');
      const args = syncArgs({
        full: step.full === true && index === 0,
        accept: step.accept === true && index === 0,
      });
      // The second process starts later, so that it knows more than the first.
      const delayMs = index === 0 ? 0 : new Random(step.seed + 5).below(300);
      const work = async (): Promise<Printed> => {
        if (delayMs > 0) await this.world.sleep(process, delayMs, undefined);
        return command(this.world, process, settings, args);
      };
      return { process, work };
    });
    putToSleep(step, actors);
    const endings = await this.#run(actors);
    const printed = endings.flatMap((ending) =>
      'result' in ending ? [this.#printed(ending.result)] : [],
    );
    const copies = await this.#look();
    const isUndone = this.#undoneBy(printed, actors.length, from);
    for (const each of printed) this.#judgeSync(each, from, copies, isUndone);
    await this.#judgeStatus();
    if (this.breaches.length > 0) throw new Broken();
    return printed;
  }

  async #verify(): Promise<void> {
    const from = this.#source.now;
    const printed = await this.#command(['verify', '--json'], 'verify');
    if (printed === undefined) return;
    const copies = await this.#look();
    const comparisons = comparisonsOf(printed);
    const isWell = comparisons.every((each) => each.isWell);
    if (comparisons.length > 0 && (printed.code === 0) !== isWell)
      this.#break(
        `L17: verify exits with ${printed.code}, and ${isWell ? 'everything is' : 'not everything is'} the same`,
      );
    for (const { formId, target, isEqual, listed } of comparisons) {
      this.world.say(`verify: ${formId} in ${target} is ${isEqual ? 'the same' : 'not the same'}`);
      if (!isEqual) continue;
      // A row with cells that people protect is compared like any other.
      const counts = { except: listed, rejected: 0, comparedAt: from, isWhole: true };
      this.#judge(copies, { by: 'verify', formId, target, ...this.#asOf(from), ...counts });
    }
  }

  /** A scheduled poll, and all jobs that it adds; people may act in the middle of it. */
  async #tick(step: Step): Promise<void> {
    this.#polledAt.push(this.#source.now);
    const workers = this.#workers.begin(step.processes ?? 1, this.#settings(), step.crashAt ?? 0);
    putToSleep(step, workers);
    await this.#run([...workers, ...this.#inBetween(step)]);
    this.#workers.forgetTheDead();
    for (const { worker } of this.#workers.all) this.#breakIf(printedSecret(worker.log.text));
    await this.#look();
    await this.#judgeStatus();
  }

  /** Records how a job of the queue ended. */
  #noteJob(job: Job, outcome: string, process: SimProcess): void {
    if (job.kind !== 'sync') return;
    this.tally.runs++;
    if (outcome === 'incomplete') this.tally.incomplete++;
    if (outcome === 'ok' && !process.isDead) this.#refills.noteMade(job.target, job.formId);
  }

  /** The command of a person while workers work. */
  #inBetween(step: Step): Actor<void>[] {
    if (step.deed === undefined) return [];
    const random = new Random(step.seed + 6);
    const deed = this.#people.plan(step.deed, random);
    if (deed?.args === undefined) return [];
    const { args, text, begun, done } = deed;
    begun?.();
    const [process, settings] = [this.#process('person'), this.#settings()];
    // A first poll ends within some hundred milliseconds.
    const delayMs = random.below(random.pick([100, 300]));
    const work = async (): Promise<void> => {
      await this.world.sleep(process, delayMs, undefined);
      const printed = await command(this.world, process, settings, args);
      this.world.say(`people: ${text}, which exits with ${printed.code}`);
      this.#breakIf(printedSecret(printed.text));
      done?.(printed.code);
    };
    return [{ process, work }];
  }

  async #deed(step: Step, random: Random): Promise<void> {
    // Something must be old enough.
    if (step.deed === 'purge') this.world.clock.now += PURGED_AFTER_MS;
    const deed = this.#people.plan(step.deed ?? 'pause', random);
    if (deed === null) return;
    this.tally.acts++;
    this.world.say(`people: ${deed.text}`);
    if (deed.empties !== undefined) {
      // Columns begin again there.
      this.#watches.delete(deed.empties);
      this.#refills.noteEmptied(deed.empties);
    }
    if (deed.args === undefined) return;
    deed.begun?.();
    const printed = await this.#command(deed.args, 'person', step.crashAt, deed.mistaken);
    if (printed !== undefined) deed.done?.(printed.code);
    this.world.say(`it exits with ${printed?.code ?? 'nothing'}`);
    if (printed !== undefined && deed.mistaken !== undefined && printed.code !== 2) {
      // If a source fails, it is unknown whether it has a name: then only the forms that the name may mean are stopped.
      const mayFail = this.#plan.faultRate > 0 || contradictsItself(this.#plan.behaviour);
      if (!mayFail || printed.code !== 1 || !leavesNamesOpen(printed))
        this.#break(`L11: ${deed.text} exits with ${printed.code}`);
    }
    this.#isPurging = deed.purgesBefore !== undefined;
    const copies = await this.#look();
    this.#isPurging = false;
    if (printed?.code !== 0 || deed.purgesBefore === undefined) return;
    for (const [target, copy] of copies) {
      this.#breakIf(purgeBreach(copy, target, deed.purgesBefore));
    }
  }

  #isPurging = false;

  /** A form that the source cannot show, or a target that cannot be used, delays no other. */
  async #broken(random: Random): Promise<void> {
    const forms = this.#source.forms.filter(
      ({ id, exists }) => exists && this.#people.isChosen(id),
    );
    const [first] = forms;
    const [, two] = this.#targets;
    const isTarget = two !== undefined && random.chance(0.5) && existsSync(this.#path(two));
    if (!isTarget && (first === undefined || forms.length < 2)) return;
    const outage = isTarget ? { target: two } : { form: first?.id ?? '' };
    this.world.say(`${outage.target ?? outage.form} is broken`);
    const from = this.#source.now;
    if (isTarget) this.#workers.kill();
    const mend = isTarget ? breakDatabase(this.#path(two)) : (): void => {};
    this.#api.faults.brokenForm = outage.form ?? null;
    const printed = await this.#command(syncArgs({ full: random.chance(0.5) }), 'sync');
    this.#api.faults.brokenForm = null;
    mend();
    const copies = await this.#look();
    if (printed === undefined || errorOf(printed) !== null) return;
    this.#judgeSync(printed, from, copies, this.#undoneBy([printed], 1, from));
    const places = forms
      .filter(({ lives }) => lives.every(({ at }) => at <= from))
      .filter(({ id, exists }) => exists && !this.#people.isPaused(id))
      .flatMap(({ id: formId }) => this.#targets.map((target) => ({ formId, target })))
      .filter(({ target, formId }) => !this.#people.isRefusing(target, formId));
    const { behaviour, busy, faultRate } = this.#plan;
    const isCalm = busy === 0 && faultRate === 0 && !contradictsItself(behaviour);
    // With two forms it is unknown whether each has its own list.
    const mayFail = !isCalm || (!isTarget && forms.length < 3);
    this.#breakIf(isolationBreach(outage, runsOf(printed), places, mayFail));
  }

  /** L16: changes reach every target within two polls, and a quiet poll costs eight requests. */
  async #fresh(step: Step): Promise<void> {
    const isPlain = deviations(this.#plan.behaviour).length === 0 && this.#people.isUsual;
    if (!isPlain || this.#plan.targets > 1) return;
    const kinds = this.#plan.changes.filter((kind) =>
      ['relabel', 'new', 'status', 'delete', 'import', 'restore', 'burst', 'twin'].includes(kind),
    );
    if (kinds.length === 0) return;
    const quiet = this.#step;
    const { excused } = this.tally;
    this.#step = undefined;
    const poll = async (): Promise<void> => {
      // Polls are minutes apart: a lease of a dead process has expired.
      this.world.clock.now += 60_000;
      await this.#tick(step);
    };
    await poll();
    await poll();
    for (let n = 0; n < (step.changes ?? 1); n++) {
      this.#source.random = new Random(step.seed + 31 * n);
      const kind = this.#source.random.pick(kinds);
      this.#source.change(kind);
      this.world.say(`    ${kind}`);
    }
    const from = this.#source.now;
    await poll();
    await poll();
    const copies = await this.#look();
    const claims = await this.#claims();
    for (const { formId, target, except, rejected, goneAt } of claims) {
      if (goneAt !== null) continue;
      this.#judgeLabels(formId, target, copies, from);
      const copy = copies.get(target)?.get(formId);
      if (copy?.statuses === null && copy.people === undefined)
        this.#break(`L17: sync has copied ${formId} into ${target}, and has made no views of it`);
      const comparedAt = this.#comparedAt.get(`${target} ${formId}`) ?? 0;
      this.#judge(copies, {
        by: 'L16: two polls after a change everybody',
        formId,
        target,
        ...this.#asOf(from),
        answersAsOf: null,
        except,
        rejected,
        knownUntil: from,
        comparedAt,
        isWhole: false,
      });
    }
    const requests = this.world.sent.length;
    const [held] = this.#workers.all;
    // A poll that finds one of several changes that canceled each other brings out the next.
    const isQuiet = this.tally.excused === excused && claims.every(({ except }) => except === 0);
    if (held !== undefined && isQuiet) {
      await this.#run([{ process: held.process, work: () => held.worker.poll() }]);
      const asked = this.world.sent.slice(requests);
      if (asked.length > 8) this.#break(`L16: a quiet poll asks ${asked.join('; ')}`);
    }
    this.#step = quiet;
  }

  /** Reads every copy, and judges what it shows on its own. */
  async #look(): Promise<Map<string, Copy>> {
    const copies = new Map<string, Copy>();
    const logs = [...this.world.logs.values()];
    for (const target of this.#targets) {
      const copy = (await this.#places.get(target)?.read()) ?? new Map();
      copies.set(target, copy);
      const watch = this.#watches.get(target) ?? new CopyWatch();
      this.#watches.set(target, watch);
      const since = {
        goneAt: (id: string) => Math.max(0, ...logs.map(({ gone }) => gone.get(id) ?? 0)),
        mostDeleted: (live: number) => this.#mostDeleted(live),
        isPurged: this.#isPurging,
        rearrangedAt: (formId: string) => this.#rearranged.get(`${target} ${formId}`) ?? 0,
      };
      for (const breach of watch.look(this.#source, copy, target, this.#people.special(), since))
        this.#break(breach);
    }
    return copies;
  }

  /** If people accepted no more, and the source did not change. */
  #mostDeleted(live: number): number {
    const { busy, maxDeleteFraction } = this.#plan;
    const isAccepted = this.#step === undefined || this.#step.accept === true;
    return isAccepted || busy > 0 ? Infinity : Math.max(20, live * maxDeleteFraction);
  }

  /**
   * The claims of `sync` that may no longer hold. A claim of one command may be undone before another one ends, which then fails,
   * because it wrote beside the rows that people moved. The write-back of the same command may undo it, too.
   */
  #undoneBy(
    printed: readonly Printed[],
    commands: number,
    from: number,
  ): (formId: string, target: string) => boolean {
    return (formId, target) =>
      (this.#rearranged.get(`${target} ${formId}`) ?? 0) >= from &&
      (printed.length < commands || printed.some((each) => hasFailed(each, formId, target)));
  }

  /** `isUndone`: whether a claim may no longer hold. */
  #judgeSync(
    printed: Printed,
    from: number,
    copies: Map<string, Copy>,
    isUndone: (formId: string, target: string) => boolean,
  ): void {
    const runs = runsOf(printed);
    for (const line of runLines(runs, printed)) this.world.say(line);
    const isWell = runs.every(({ outcome }) => outcome === 'ok');
    if (printed.code === 0 && !isWell)
      this.#break(
        `L17: sync exits with 0, and a run ended ${runs.find(({ outcome }) => outcome !== 'ok')?.outcome}`,
      );
    if (printed.code === 1 && isWell && runs.length > 0 && !hasFailedMark(printed))
      this.#break('L17: sync exits with 1, and everything in it went well');
    for (const run of runs) {
      this.tally.runs++;
      if (run.outcome === 'incomplete') this.tally.incomplete++;
      if (run.outcome !== 'ok') continue;
      const { formId, target, isWhole, except, rejected } = run;
      this.#refills.noteMade(target, formId);
      if (isUndone(formId, target)) continue;
      this.#judgeLabels(formId, target, copies, from);
      const comparedAt = this.#comparedAt.get(`${target} ${formId}`) ?? 0;
      const claimed = isWhole ? {} : { statusesAsOf: null, answersAsOf: null };
      const counts = { except, rejected, comparedAt, isWhole };
      const asOf = { ...this.#asOf(from), ...claimed };
      this.#judge(copies, { by: 'sync', formId, target, ...asOf, ...counts });
    }
  }

  #judgeLabels(formId: string, target: string, copies: Map<string, Copy>, from: number): void {
    const [form, held] = [this.#source.formOf(formId), copies.get(target)?.get(formId)];
    if (form?.exists !== true || held === undefined) return;
    const isProtected = this.#people.isRefusing(target, formId);
    if (this.#plan.behaviour.sections === 'absent' || isProtected) return;
    this.#breakIf(labelBreach(form, held, from, this.#people.special().isSelected));
  }

  async #claims(): Promise<Claim[]> {
    const wasBusy = this.#step;
    this.#step = undefined;
    const printed = await this.#command(['status', '--json'], 'status');
    this.#step = wasBusy;
    const claims = printed === undefined ? [] : claimsOf(printed);
    const failed = claims.find(({ state, goneAt }) => state === 'failed' && goneAt === null);
    if (printed?.code === 0 && failed !== undefined)
      this.#break(`L17: status exits with 0, and ${failed.formId} has failed`);
    return claims;
  }

  /** When `status` first claimed this for a form in a target. */
  #firstMet({ formId, target, submissionsAsOf, statusesAsOf }: Claim): Asked {
    const key = `${target} ${formId} ${submissionsAsOf} ${statusesAsOf}`;
    const met = this.#met.get(key) ?? this.#askedJustNow();
    this.#met.set(key, met);
    return met;
  }

  /** A claim about everything as of a command that began then, and has just ended. */
  #asOf(from: number) {
    const asOf = { submissionsAsOf: from, statusesAsOf: from, answersAsOf: from };
    return { ...asOf, askedFrom: from, ...this.#askedJustNow() };
  }

  #askedJustNow(): Asked {
    const [askedTo, polledAt] = [this.#source.now, this.#polledAt];
    return { askedTo, knownUntil: this.#lookedAt, polledAt, excused: new Set() };
  }

  readonly #met = new Map<string, Asked>();
  #lookedAt = 0;
  readonly #polledAt: number[] = [];

  /** The current output of `status` for all forms. */
  async #judgeStatus(): Promise<void> {
    const claims = await this.#claims();
    const copies = await this.#look();
    for (const claim of claims) {
      const { formId, target, submissionsAsOf, answersAsOf } = claim;
      const key = `${target} ${formId}`;
      const isTouched = this.#people.special().touched.has(key) || this.#rearranged.has(key);
      const held = isTouched ? undefined : copies.get(target)?.get(formId);
      this.#breakIf(countBreach(claim, held));
      this.#breakIf(namedBreach(claim, copies.get(target)?.get(formId)));
      if (claim.goneAt !== null) continue;
      this.#breakIf(this.#refills.judge(claim));
      this.#judge(copies, {
        ...claim,
        by: 'status',
        askedFrom: submissionsAsOf ?? 0,
        ...this.#firstMet(claim),
        comparedAt: answersAsOf ?? 0,
        isWhole: false,
      });
      this.#comparedAt.set(`${target} ${formId}`, answersAsOf ?? 0);
    }
    this.#lookedAt = this.#source.now;
  }

  #judge(copies: Map<string, Copy>, claim: Assertion): void {
    const { order, bounds, statusFilter, workspaceList } = this.#plan.behaviour;
    // If a list by date shows a submission without a usable ID or date, it cannot be proven, and forms are read without dates.
    const isBounded =
      ['instants', 'exclusive', 'days'].includes(bounds) && !this.#source.hasUndated;
    const groups = {
      byStatus: statusFilter !== 'ignored',
      seesNewcomers: order === 'newest' || isBounded,
      together: workspaceList === 'honoured',
    };
    const copy = copies.get(claim.target) ?? new Map();
    const breaches = judgeClaim(
      this.#source,
      copy,
      claim,
      this.#people.special(),
      groups,
      this.tally,
      ({ rule, submission, event, hiddenBy }) => {
        this.world.say(
          `excused (${rule}): ${submission}, ${event.kind}@${clockTime(event.at)}, by ${hiddenBy.map(({ kind, id, at }) => `${kind} of ${id}@${clockTime(at)}`).join(' and ')}`,
        );
      },
    );
    for (const breach of breaches) this.#break(breach);
  }

  async #judgePatch(process: SimProcess, path: string): Promise<void> {
    const id = decodeURIComponent(path.split('/')[2] ?? '');
    const submission = this.#source.submissions.get(id);
    if (submission === undefined) return;
    this.tally.patches++;
    const rows = new Map<string, CopiedRow | undefined>();
    for (const [target, place] of this.#places) {
      // A row that people removed after it was stored.
      if (this.#people.hasHarmed(target, submission.formId, this.#stepAt)) continue;
      const copy = await place.read();
      const forms = namesForms(this.#plan.behaviour) ? [submission.formId] : [...copy.keys()];
      const found = forms.flatMap((formId) => copy.get(formId)?.rows.get(id) ?? []);
      rows.set(target, found.find(({ isDeleted }) => !isDeleted) ?? found[0]);
    }
    const read = this.world.logOf(process).read.get(id);
    const began = this.#workers.since(process);
    // A job that began in that millisecond may have checked before the pause was stored: this clock stops for servers.
    const isPaused = this.#people.isPaused(submission.formId, began && began - 1);
    // Not thrown into the program, which would treat it as an answer.
    for (const text of this.#patchJudge.faults(process, id, read, rows, isPaused))
      this.breaches.push(`L7: ${text}`);
  }

  /** Answers that were forgotten, are hashed or are no longer selected are nowhere. */
  #judgeTraces(isSettled: boolean): void {
    this.#breakIf(bannedTraces(this.#dir, this.#source, this.#people.banned(), isSettled));
  }

  /** At the end nothing changes, and nothing fails: everything must be copied, and a second run writes nothing. */
  async #judgeQuiet(): Promise<void> {
    this.world.say('— nothing changes any more');
    this.world.random = new Random(this.#plan.seed + 99);
    for (const args of this.#people.toNormal()) await this.#command(args, 'person');
    const step: Step = { seed: this.#plan.seed + 99, what: 'sync', full: true, accept: true };
    const isSound = !contradictsItself(this.#plan.behaviour);
    // Unfinished work, rows moved during the last reading, and deletions to accept may take one more run each.
    let first: Printed | undefined;
    const isDone = (): boolean =>
      first !== undefined && runsOf(first).every(({ outcome }) => outcome === 'ok');
    for (let runs = 0; runs < 3 && !isDone(); runs++) [first] = await this.#sync(step);
    // An unknown name in the settings stops the program (L11).
    if (first !== undefined && errorOf(first) === 'SETTINGS' && this.#people.namesWhatIsGone)
      return;
    const copies = await this.#look();
    for (const run of first === undefined ? [] : runsOf(first)) {
      if (this.#source.formOf(run.formId)?.exists !== true) continue;
      if (run.outcome !== 'ok') {
        // A long list in another order each time is proven only by chance.
        const { order, ties } = this.#plan.behaviour;
        const isLucky = order === 'shuffled' || ties === 'shuffled';
        const isLong = this.#source.existing(run.formId).length > 5 * this.#plan.pageSize;
        if (isSound && !(isLucky && isLong && run.code === 'RUN_INCOMPLETE'))
          this.#break(
            `L3: a quiet source, and the run over ${run.formId} ended ${run.outcome} ${run.code ?? ''}: ${run.error ?? ''}`,
          );
        continue;
      }
      const differs = difference(
        this.#source,
        copies.get(run.target) ?? new Map(),
        run.formId,
        this.#people.special(),
      );
      const [astray] = copies.get(run.target)?.get(run.formId)?.astray ?? [];
      if (astray !== undefined)
        this.#break(`L5: ${astray} is in a cell of ${run.formId} in ${run.target} beside its row`);
      if (differs !== null)
        this.#break(
          `L1: everything of ${run.formId} was compared with ${run.target}, but ${differs}`,
        );
    }
    const [second] = await this.#sync(step);
    for (const run of second === undefined ? [] : runsOf(second)) {
      if (run.outcome === 'ok' && run.written > 0)
        this.#break(
          `L4: a second run over ${run.formId} in ${run.target} wrote ${run.written} rows`,
        );
    }
    const isAny = this.#source.forms.some(({ id, exists }) => exists && this.#people.isChosen(id));
    if (isAny && (first === undefined || runsOf(first).length === 0))
      this.#break(`L3: a quiet source, and no run: ${first?.text.slice(0, 300)}`);
    const isWhole = first !== undefined && runsOf(first).every(({ outcome }) => outcome === 'ok');
    const isEach = this.#source.forms.every(({ exists }) => exists);
    this.#judgeTraces(isWhole && isEach);
    if (this.#plan.seed % 3 === 0) await this.#verify();
    this.#breakIf(storedSecret(this.#dir, this.#plan.hasSecret));
    if (this.breaches.length > 0) throw new Broken();
  }

  #breakIf(breach: Breach | null): void {
    if (breach !== null) this.#break(breach);
  }

  #break(breach: Breach): never {
    this.world.say(`BROKEN ${breach}`);
    this.breaches.push(breach);
    throw new Broken();
  }

  /** Closes the open parts. */
  end(): void {
    this.#workers.kill();
  }
}
