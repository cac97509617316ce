import { z } from 'zod';
import type { Logger } from '../base/logger.ts';
import { type HealthSource, formKey } from '../health/facts.ts';
import type { FormHealth } from '../health/form-health.ts';
import type { MirrorHealth } from '../health/mirror-health.ts';
import {
  type Changes,
  type DigestForm,
  MOST_PASSES,
  changesSince,
  digestNotice,
} from './digest-text.ts';
import { KeptFile } from './kept-file.ts';
import type { Notice } from './notice.ts';

/** When digests are sent, and what they are made of besides health. */
export interface DigestSettings {
  /** When the next one is due after `afterMs`; since the epoch, both. */
  readonly nextMs: (afterMs: number) => number;
  /** See {@link HealthSource.passes}. */
  readonly passes: HealthSource['passes'];
  /** Keeps what was told over a restart; undefined: only in memory. */
  readonly file?: string | undefined;
}

/** See {@link Digest}. */
export interface DigestOptions extends DigestSettings {
  readonly logger: Logger;
  readonly link: string | null;
  /** Sends it through every channel; calls `onDelivered` for each that it arrived by. */
  readonly send: (notice: Notice, onDelivered: () => void) => void;
}

const stateSchema = z.object({
  version: z.literal(1),
  /** Until when all was told. */
  sinceMs: z.number(),
  /** The rows of each form in each target then. */
  rows: z.record(z.string(), z.number()),
});

type DigestState = z.infer<typeof stateSchema>;

/** A digest that no channel took is made anew after so long. */
const RETRY_MS = 3_600_000;

/**
 * Tells from time to time how the mirror has been. It counts as told once one channel has taken it: one that was due while
 * nothing ran, or that nobody took, comes later, and covers all the time since the last.
 */
export class Digest {
  readonly #options: DigestOptions;
  readonly #file: KeptFile<DigestState>;
  #state: DigestState | undefined;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #making: Promise<void> | undefined;

  private constructor(
    options: DigestOptions,
    file: KeptFile<DigestState>,
    state: DigestState | undefined,
  ) {
    this.#options = options;
    this.#file = file;
    this.#state = state;
  }

  /** Reads what was told before. Never rejects. */
  static async open(options: DigestOptions): Promise<Digest> {
    const { file: path, logger } = options;
    const parse = (text: string): DigestState | undefined => {
      try {
        return stateSchema.safeParse(JSON.parse(text)).data;
      } catch {
        return undefined;
      }
    };
    const file = new KeptFile({ what: 'digest', path, logger, parse });
    return new Digest(options, file, await file.read());
  }

  /** Sends one when it is due. Returns at once. To be told of each fresh look at the mirror. */
  consider(health: MirrorHealth): void {
    const { nowMs } = health;
    const state = this.#state;
    // The first covers the time from its first look on; a clock that was wrong begins anew, too.
    if (state === undefined || state.sinceMs > nowMs) this.#told(health);
    else if (this.#isDue(state, health)) {
      this.#triedAtMs = nowMs;
      this.#making = this.#make(health, state).finally(() => (this.#making = undefined));
    }
  }

  #isDue({ sinceMs }: DigestState, { nowMs, targets }: MirrorHealth): boolean {
    const lateMs = nowMs - this.#options.nextMs(sinceMs);
    // A target that was not read yet would be told as unknown; one that cannot be read is, after a while.
    const isUnread = targets.some(({ readAtMs }) => readAtMs === 0);
    return lateMs >= (isUnread ? RETRY_MS : 0) && this.#isFree(nowMs);
  }

  /** Resolves when what is being made and written is done. Never rejects. */
  async stop(): Promise<void> {
    await this.#making;
    await this.#file.written();
  }

  #isFree(nowMs: number): boolean {
    const waitedMs = nowMs - this.#triedAtMs;
    return this.#making === undefined && (waitedMs >= RETRY_MS || waitedMs < 0);
  }

  async #make(health: MirrorHealth, { sinceMs, rows }: DigestState): Promise<void> {
    const { link, send, logger } = this.#options;
    try {
      const forms: DigestForm[] = [];
      for (const form of mirroredOf(health)) {
        const rowsBefore = rows[keyOf(form)];
        const changes = await this.#changes(form, sinceMs, health);
        forms.push({
          health: form,
          changes: changes && withUnrecorded(changes, form, rowsBefore),
          rowsBefore,
        });
      }
      const notice = digestNotice({ health, sinceMs, forms, link });
      send(notice, () => {
        if ((this.#state?.sinceMs ?? 0) < health.nowMs) this.#told(health);
      });
    } catch (error) {
      logger.error({ err: error }, 'The digest cannot be made.');
    }
  }

  async #changes(
    one: FormHealth,
    sinceMs: number,
    health: MirrorHealth,
  ): Promise<DigestForm['changes']> {
    const { target, form } = one;
    try {
      const passes = await this.#options.passes(target, form.id, MOST_PASSES);
      // What ends while the digest is made is told by the next one.
      return changesSince(passes, sinceMs, kindOf(health, one), health.nowMs);
    } catch (error) {
      this.#options.logger.debug({ target, err: error }, 'Passes cannot be read for a digest.');
      return null;
    }
  }

  #told(health: MirrorHealth): void {
    const known = health.forms.flatMap((form): [string, number][] =>
      form.overview === null ? [] : [[keyOf(form), form.overview.rows]],
    );
    this.#state = { version: 1, sinceMs: health.nowMs, rows: Object.fromEntries(known) };
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
    this.#file.write(this.#state);
  }
}

/** A pass that was killed, or cut off by a pause, left rows and no record: then what is recorded is not all. */
function withUnrecorded(
  changes: Changes,
  { overview }: FormHealth,
  rowsBefore: number | undefined,
): Changes {
  const grown = (overview?.rows ?? 0) - (rowsBefore ?? Number.POSITIVE_INFINITY);
  return grown > changes.inserted ? { ...changes, isAll: false } : changes;
}

const mirroredOf = ({ forms }: MirrorHealth): FormHealth[] =>
  forms.filter(({ state }) => state !== 'ended');

const kindOf = ({ targets }: MirrorHealth, { target }: FormHealth): string | null =>
  targets.find(({ name }) => name === target)?.kind ?? null;

const keyOf = ({ target, form }: FormHealth): string => formKey(target, form.id);
