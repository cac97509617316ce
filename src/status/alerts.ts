import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { AlertMemory } from './alert-book.ts';
import { AlertMemoryFile } from './alert-memory-file.ts';
import { consider } from './alert-rules.ts';
import { AlertSender } from './alert-sender.ts';
import { alertBody } from './alert-text.ts';
import type { MirrorView } from './mirror-view.ts';

/** Where alerts go, and what was told. */
export interface AlertSettings {
  /** ALERT_WEBHOOK_URL. */
  readonly url: string;
  /** Keeps what was told over a restart, so that nothing is told twice; undefined: only in memory. */
  readonly memoryFile?: string | undefined;
}

/** What {@link Alerts.open} needs. */
export interface AlertOptions extends AlertSettings {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: () => number;
}

/**
 * Tells people when a form in a target turns bad, and when it is well again. Looks at the mirror as a whole, so that one
 * cause is told once; remembers what it told. Never in the way of a pass.
 */
export class Alerts {
  readonly #sender: AlertSender;
  readonly #file: AlertMemoryFile;
  #memory: AlertMemory;

  private constructor(options: AlertOptions, file: AlertMemoryFile, memory: AlertMemory) {
    this.#file = file;
    this.#memory = memory;
    this.#sender = new AlertSender({ ...options, onIdle: () => this.#save() });
  }

  /** Reads what was told before. Never rejects: a memory that cannot be read is an empty one. */
  static async open(options: AlertOptions): Promise<Alerts> {
    const file = new AlertMemoryFile(options.memoryFile, options.logger);
    return new Alerts(options, file, await file.read());
  }

  /** Why alerts do not arrive, as a sentence; null when they do. */
  get trouble(): string | null {
    return this.#sender.trouble;
  }

  /** Compares how the mirror stands with what was told, and tells the difference. Returns at once. */
  consider(view: MirrorView): void {
    const { memory, alerts } = consider(this.#memory, view);
    this.#memory = memory;
    for (const alert of alerts) this.#sender.send(alertBody(alert));
    // With alerts on their way it is kept when they have arrived: a crash before tells them again, not never.
    if (alerts.length === 0) this.#save();
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    await this.#sender.stop();
    await this.#file.written();
  }

  #save(): void {
    if (!this.#sender.isBusy) this.#file.write(this.#memory);
  }
}
