import {
  type RateAsk,
  type RateShare,
  parseRate,
  rateText,
  shareRate,
} from '../forms/rate-share.ts';
import type { RateStore } from '../forms/request-rate.ts';
import { connectText } from './backends.ts';
import type { SharedText } from './backends/backend.ts';

/** So often another process may be quicker in a row before the store counts as too slow. */
const MOST_TRIES = 25;

/** A command's part in the rate of the workers beside it. Dispose to leave. */
export interface RateMembership extends AsyncDisposable {
  readonly store: RateStore;
}

/** Joins the rate that the workers of a queue keep; undefined where they keep it to themselves. Connects when it is first asked. */
export async function joinRate(queueUrl: URL): Promise<RateMembership | undefined> {
  const connection = await connectText(queueUrl);
  if (connection === undefined) return undefined;
  return {
    store: new SharedRate(connection.text),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

/** The rate of requests that all processes of a mirror keep together, in the queue's store and by its clock. */
export class SharedRate implements RateStore {
  readonly #text: SharedText;

  constructor(text: SharedText) {
    this.#text = text;
  }

  /** Takes a share. Rejects where the store does, or where too many others are quicker. */
  async share(ask: RateAsk): Promise<RateShare> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { text, nowMs } = await this.#text.read();
      const { state, share } = shareRate(parseRate(text), nowMs, ask);
      if (await this.#text.replace(text, rateText(state))) return share;
    }
    throw new Error('too many processes ask for a share of the rate at once');
  }
}
