import { MirrorError } from '../../../base/errors.ts';
import type { MarkingLock } from '../../../mirror/target.ts';
import {
  createMetadata,
  deleteMetadata,
  METADATA_KEYS,
  type MetadataEntry,
  updateMetadata,
} from '../api/metadata.ts';
import { SheetsError } from '../api/sheets-error.ts';
import { formTag } from './commit-log.ts';
import type { Spreadsheet } from './spreadsheet.ts';

/** For how long a marker holds a form without a sign of life; renewed when half of it is over. */
const LEASE_MS = 90_000;
/** How much longer others wait: clocks of two machines differ. */
const GRACE_MS = 30_000;
/** How long to wait for another process that is writing to the spreadsheet. */
const WAIT_MS = 60_000;
const POLL_MS = 5_000;
/** Tries of a write that another process's write came before. */
const TRIES = 4;

/** Who marks a form: a piece of metadata on the spreadsheet. */
interface Marker {
  readonly metadataId: number;
  readonly form: string;
  readonly holder: string;
  readonly atMs: number;
}

/**
 * Becomes the form's only marker; undefined when another one is. A spreadsheet has no locks, so this is a lease: written
 * under the commit log, which lets only one of two processes through, and renewed as long as marking goes on. After a
 * kill -9 others wait for its end, two minutes at most.
 */
export async function takeMarkingLease(
  spreadsheet: Spreadsheet,
  formId: string,
  signal?: AbortSignal,
): Promise<MarkingLock | undefined> {
  const name = writerName(formId);
  if (!spreadsheet.claim(name)) return undefined;
  try {
    await waitForWriters(spreadsheet, signal);
    const lease = new MarkingLease(spreadsheet, formId);
    if (await lease.take()) return lease;
  } catch (error) {
    spreadsheet.unclaim(name);
    throw error;
  }
  spreadsheet.unclaim(name);
  return undefined;
}

/** A name of its own in the commit log, so that marking does not take a form away from a pass. */
const writerName = (formId: string): string => `marking of ${formId}`;

async function waitForWriters(spreadsheet: Spreadsheet, signal?: AbortSignal): Promise<void> {
  const { clock } = spreadsheet;
  const deadline = clock.now() + WAIT_MS;
  for (;;) {
    await spreadsheet.refresh(signal);
    if (spreadsheet.leaseLeftMs === 0) return;
    if (clock.now() >= deadline) throw spreadsheet.busy();
    await clock.sleep(Math.min(POLL_MS, spreadsheet.leaseLeftMs + 50), signal);
  }
}

class MarkingLease implements MarkingLock {
  readonly #spreadsheet: Spreadsheet;
  readonly #formId: string;
  /** A name of this lease alone: the process may hold several, one after the other. */
  readonly #holder: string;
  #metadataId: number | undefined;
  #takenAtMs = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(spreadsheet: Spreadsheet, formId: string) {
    this.#spreadsheet = spreadsheet;
    this.#formId = formId;
    this.#holder = `${spreadsheet.holder}${spreadsheet.newId()}`;
  }

  /** Takes or renews the lease; false when another process has it. */
  async take(): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#spreadsheet.exclusively(() => this.#takeNow());
      } catch (error) {
        const moved = error instanceof SheetsError && error.fault === 'moved';
        if (!moved || attempt >= TRIES) throw error;
      }
    }
  }

  async assertHeld(): Promise<void> {
    const held = this.#turn.then(() => this.#isHeld());
    this.#turn = held.catch(() => {});
    if (await held) return;
    throw new MirrorError(
      'TARGET_LOST_LOCK',
      `${this.#spreadsheet.address}: another process took over marking form ${this.#formId} while this one was stalled; this one changed no status any more. The next run goes on.`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const id = this.#metadataId;
    try {
      // Once it is over it may be another's.
      if (id !== undefined && this.#ageMs() < LEASE_MS) {
        await this.#spreadsheet.exclusively(() => this.#commit(deleteMetadata(id)));
      }
    } catch {
      // It ends by itself.
    } finally {
      this.#spreadsheet.unclaim(writerName(this.#formId));
    }
  }

  async #isHeld(): Promise<boolean> {
    return this.#ageMs() < LEASE_MS / 2 || this.take();
  }

  #ageMs(): number {
    return this.#spreadsheet.clock.now() - this.#takenAtMs;
  }

  async #takeNow(): Promise<boolean> {
    const spreadsheet = this.#spreadsheet;
    const { markers } = await spreadsheet.refresh();
    const now = spreadsheet.clock.now();
    const found = markers.map(readMarker).find((one) => one?.form === formTag(this.#formId));
    const isOurs = found?.holder === this.#holder;
    // One that was renewed is ours only while nobody took it over or removed it.
    if (this.#metadataId !== undefined && !isOurs) return false;
    if (found !== undefined && !isOurs && isCurrent(found, now)) return false;
    const id = found?.metadataId ?? spreadsheet.newMetadataId();
    const value = [formTag(this.#formId), this.#holder, now.toString(36)].join('.');
    await this.#commit(
      found === undefined
        ? createMetadata({ spreadsheet: true }, METADATA_KEYS.marker, value, id)
        : updateMetadata(id, value),
    );
    this.#metadataId = id;
    this.#takenAtMs = now;
    return true;
  }

  /** Keeps the lease that a pass of this process has, and asks for none itself. */
  async #commit(request: ReturnType<typeof deleteMetadata>): Promise<void> {
    const leaseMs = this.#spreadsheet.ownLeaseLeftMs;
    const formId = writerName(this.#formId);
    await this.#spreadsheet.commit({ formId, requests: [request], responseRanges: [], leaseMs });
  }
}

/** A clock that is ahead of ours must not keep us out for longer than the lease. */
const isCurrent = ({ atMs }: Marker, nowMs: number): boolean =>
  Math.abs(nowMs - atMs) < LEASE_MS + GRACE_MS;

function readMarker({ id, value }: MetadataEntry): Marker | undefined {
  const [form, holder, at] = value.split('.');
  if (form === undefined || holder === undefined || at === undefined) return undefined;
  return { metadataId: id, form, holder, atMs: Number.parseInt(at, 36) || 0 };
}
