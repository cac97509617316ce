import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/error-code.ts';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../base/private-files.ts';
import type { Logger } from '../base/logger.ts';
import type { ProxySettings } from '../base/proxy.ts';
import type { MirrorHealth } from '../health/mirror-health.ts';
import { type AlertState, NO_ALERTS, parseAlertState } from './alert-state.ts';
import { evaluateAll } from './grouping.ts';
import { alertMessage } from './message.ts';
import { WebhookChannel } from './webhook.ts';

/** Where alerts go, and where their state is kept. */
export interface AlertSettings {
  /** ALERT_WEBHOOK_URL. */
  readonly url: string;
  /** The proxy of this machine's network. */
  readonly proxy?: ProxySettings | undefined;
  /** Keeps the state over a restart, so that nothing is sent twice; undefined: only in memory. */
  readonly stateFile?: string | undefined;
}

/** See {@link Alerts.open}. */
export interface AlertOptions extends AlertSettings {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: () => number;
}

/**
 * Notifies people of what health finds wrong, and when it is resolved. Compares the mirror as a whole, so that one cause
 * makes one alert; remembers what it sent. Never holds up a pass.
 */
export class Alerts {
  readonly #channel: WebhookChannel;
  readonly #file: AlertStateFile;
  #state: AlertState;

  private constructor(options: AlertOptions, file: AlertStateFile, state: AlertState) {
    this.#file = file;
    this.#state = state;
    this.#channel = new WebhookChannel({ ...options, onIdle: () => this.#save() });
  }

  /** Reads the state of before. Never rejects: one that cannot be read is an empty one. */
  static async open(options: AlertOptions): Promise<Alerts> {
    const file = new AlertStateFile(options.stateFile, options.logger);
    return new Alerts(options, file, await file.read());
  }

  /** Why alerts are not delivered, as a sentence; null when they are. */
  get deliveryProblem(): string | null {
    return this.#channel.deliveryProblem;
  }

  /** True while an alert is on its way. */
  get isSending(): boolean {
    return this.#channel.isBusy;
  }

  /**
   * Compares health with what was sent, and sends what is new. `isFresh`: targets and queue were read just now, not only a
   * pass has ended. Returns at once.
   */
  evaluate(health: MirrorHealth, isFresh: boolean): void {
    const { state, alerts } = evaluateAll(this.#state, health, isFresh);
    this.#state = state;
    for (const alert of alerts) {
      const { key, status, opens } = alert;
      this.#channel.send({ body: alertMessage(alert), key, status, opens });
    }
    // With alerts under way it is kept once they are delivered: after a crash they are sent again, rather than never.
    if (alerts.length === 0) this.#save();
  }

  /** Waits a moment for alerts under way. Never rejects. */
  async stop(): Promise<void> {
    await this.#channel.stop();
    await this.#file.written();
  }

  #save(): void {
    if (!this.#channel.isBusy) this.#file.write(this.#state);
  }
}

/** The state of alerts in a file. Nothing about it ever throws: it is worth a line in the log, not more. */
class AlertStateFile {
  readonly #path: string | undefined;
  readonly #logger: Logger;
  #writing: Promise<void> = Promise.resolve();
  #lastText = '';
  #isFailing = false;

  /** Without a path nothing is kept. */
  constructor(path: string | undefined, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
  }

  /** The state of before; an empty one when there is no file, or none that can be read. */
  async read(): Promise<AlertState> {
    if (this.#path === undefined) return NO_ALERTS;
    try {
      const state = parseAlertState(await readFile(this.#path, 'utf8'));
      if (state !== undefined) return state;
      this.#logger.warn(
        { file: this.#path },
        'The alert state file is broken; a new one is begun.',
      );
    } catch (error) {
      const isFirst = errorCode(error) === 'ENOENT';
      const fields = { err: error, file: this.#path };
      if (!isFirst) this.#logger.warn(fields, 'The alert state file cannot be read.');
    }
    return NO_ALERTS;
  }

  /** Writes it soon, when it has changed. */
  write(state: AlertState): void {
    const path = this.#path;
    const text = JSON.stringify(state);
    if (path === undefined || text === this.#lastText) return;
    this.#lastText = text;
    const before = this.#writing;
    this.#writing = this.#writeAfter(before, path, text);
  }

  /** Resolves when everything handed over has been written. */
  written(): Promise<void> {
    return this.#writing;
  }

  async #writeAfter(before: Promise<void>, path: string, text: string): Promise<void> {
    await before;
    try {
      await replaceFile(path, text);
      this.#isFailing = false;
    } catch (error) {
      const fields = { err: error, file: path };
      if (!this.#isFailing) this.#logger.warn(fields, 'The alert state file cannot be written.');
      this.#isFailing = true;
    }
  }
}

/** In one step: a crash leaves the old one or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
  await writeFile(draft, text, { mode: PRIVATE_FILE });
  await rename(draft, path);
}
