import { join } from 'node:path';
import { Child } from '../../support/child.ts';

const SCRIPT = join(import.meta.dirname, 'canned-source-process.ts');

interface Address {
  readonly origin: string;
  readonly url: string;
  readonly apiKey: string;
}

/** The form that is measured, and a small one to warm up with. */
export const FORM_ID = 'frm-1';
export const WARM_UP_ID = 'frm-2';
/** How many rows are read or written before anything is measured: each form must have at least this many. */
export const WARM_UP_ROWS = 6_000;

/** A Forms API with one large form, in its own process, that is never the bottleneck. */
export class CannedSource implements AsyncDisposable {
  readonly #child: Child;
  readonly #origin: string;
  /** The settings for this source. */
  readonly env: Readonly<Record<'FORMS_API_URL' | 'FORMS_API_KEY', string>>;

  private constructor(child: Child, { origin, url, apiKey }: Address) {
    this.#child = child;
    this.#origin = origin;
    this.env = { FORMS_API_URL: url, FORMS_API_KEY: apiKey };
  }

  static async start(submissions: number): Promise<CannedSource> {
    const sizes = { [FORM_ID]: submissions, [WARM_UP_ID]: WARM_UP_ROWS };
    const child = new Child(SCRIPT, [JSON.stringify(sizes)]);
    const [line] = await child.shows(/^\{.*\}$/m);
    return new CannedSource(child, JSON.parse(line) as Address);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.end('SIGKILL');
  }

  /**
   * From now on each request is delayed by this time. Returns when the first request since the last call came (milliseconds since
   * the epoch).
   */
  async setLatency(latencyMs: number): Promise<number | null> {
    const body = JSON.stringify({ latencyMs });
    const response = await fetch(`${this.#origin}/control`, { method: 'POST', body });
    return ((await response.json()) as { firstAtMs: number | null }).firstAtMs;
  }
}
