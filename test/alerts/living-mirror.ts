import type { ProblemCode } from '../../src/base/catalogue.ts';
import { Alerts } from '../../src/alerts/alerts.ts';
import { MirrorError } from '../../src/base/errors.ts';
import { Events } from '../../src/base/events.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { retryDelayMs } from '../../src/base/retry.ts';
import { HealthMonitor } from '../../src/health/monitor.ts';
import { DEFAULT_TIMINGS } from '../../src/queue/timings.ts';
import type { PassRecord } from '../../src/mirror/types.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import { FakeSource, NOW, formOverview, passRecord, passReport } from '../health/fake-source.ts';
import { ManualClock, settle } from '../health/manual-clock.ts';
import type { Webhook } from './webhook-stand-in.ts';

const SECOND = 1_000;
const EVERY_MS = 300 * SECOND;

/** How a try of a pass fails at a time (seconds since the beginning), ends otherwise, or hangs; null: it goes well. */
export type Fault = (
  atS: number,
  form: number,
) => { code: ProblemCode; retry: boolean } | { pass: Partial<PassRecord> } | 'hangs' | null;

interface Next {
  atMs: number;
  tries: number;
}

/** A mirror that lives second by second: passes on a schedule, tried again as the queue does; its monitor, and its alerts. */
export class LivingMirror {
  readonly source = new FakeSource();
  readonly clock: ManualClock;
  readonly #events = new Events<SyncEvents>();
  readonly #forms;
  readonly #next: Next[];
  readonly #fault: Fault;
  readonly #monitor: HealthMonitor;
  readonly #alerts: Alerts;
  readonly #webhook: Webhook;
  /** Called each second, for what else changes. */
  onSecond: (atS: number) => void = () => {};

  private constructor(
    forms: number,
    fault: Fault,
    webhook: Webhook,
    alerts: Alerts,
    clock: ManualClock,
  ) {
    this.clock = clock;
    this.#fault = fault;
    this.#webhook = webhook;
    this.#alerts = alerts;
    this.#forms = Array.from({ length: forms }, (_, at) => ({
      id: `frm_${at}`,
      slug: `form-${at}`,
      name: `Form ${at}`,
    }));
    this.source.hold(
      'db',
      this.#forms.map((form) => formOverview(form)),
    );
    this.source.everyMs = EVERY_MS;
    // One after the other, as the workers take them.
    this.#next = this.#forms.map((_, at) => ({
      atMs: NOW + 20 * SECOND + ((at * 997) % 17) * SECOND,
      tries: 0,
    }));
    this.#monitor = new HealthMonitor({
      source: this.source,
      events: this.#events,
      clock,
      logger: silentLogger,
      onPass: () => {},
      onChange: (health, isFresh) => alerts.evaluate(health, isFresh),
    });
  }

  static async open(
    forms: number,
    fault: Fault,
    webhook: Webhook,
    heartbeatUrl?: string,
  ): Promise<LivingMirror> {
    const clock = new ManualClock();
    const { url } = webhook;
    const alerts = await Alerts.open({ url, heartbeatUrl, clock, logger: silentLogger });
    return new LivingMirror(forms, fault, webhook, alerts, clock);
  }

  /** Lives for so many seconds, and returns what was sent: status, code and target, forms, and when (s). */
  async live(seconds: number): Promise<string[]> {
    this.#monitor.start();
    await settle();
    for (let atS = 1; atS <= seconds; atS++) {
      this.onSecond(atS);
      this.#passesAt(atS);
      await this.clock.advance(SECOND);
      while (this.#alerts.isSending) await settle();
    }
    await this.#monitor.stop();
    await this.#alerts.stop();
    return this.#webhook.bodies.map(({ level, code, form, target, at, text }) => {
      const forms = /concerns (\d+) form/.exec(text)?.[1] ?? '-';
      const atS = (Date.parse(at) - NOW) / SECOND;
      return `${level} ${code} ${form?.id ?? '*'} ${target ?? '*'} forms=${forms} at=${atS}`;
    });
  }

  #passesAt(atS: number): void {
    const nowMs = NOW + atS * SECOND;
    for (const [at, next] of this.#next.entries()) {
      if (next.atMs > nowMs) continue;
      const end = this.#fault(atS, at);
      if (end === 'hangs') continue;
      const failed = end !== null && 'code' in end ? end : null;
      this.#emit(at, nowMs, failed?.code ?? null, end !== null && 'pass' in end ? end.pass : {});
      const policy = DEFAULT_TIMINGS.retry.incremental;
      next.tries++;
      if (failed?.retry === true && next.tries < policy.attempts) {
        // As unlucky as can be: the longest waits.
        next.atMs = nowMs + retryDelayMs(policy, next.tries, () => 1);
      } else {
        next.atMs = nowMs + EVERY_MS;
        next.tries = 0;
      }
    }
  }

  #emit(at: number, nowMs: number, code: ProblemCode | null, changes: Partial<PassRecord>): void {
    const form = this.#forms[at]!;
    if (code === null) {
      const pass = passRecord(NOW - nowMs, changes);
      this.#events.emit('pass.ended', passReport(form, 'db', pass));
      return;
    }
    const pass = passRecord(NOW - nowMs, { outcome: 'failed', error: `It fails: ${code}.` });
    const failure = new MirrorError(code, `It fails: ${code}.`);
    this.#events.emit('pass.ended', passReport(form, 'db', pass, failure));
  }
}
