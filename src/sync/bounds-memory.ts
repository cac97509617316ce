/** How long bounds that were of no use are not tried again: the service may mend them, and a form its dates. */
const REST_MS = 60 * 60_000;

/** Of which forms a source's `dateFrom` and `dateTo` were of no use lately. Forgotten with the process: it only saves requests. */
export class UnusableBounds {
  readonly #since = new Map<string, number>();

  has(formId: string, nowMs: number): boolean {
    return nowMs - (this.#since.get(formId) ?? -Infinity) < REST_MS;
  }

  note(formId: string, nowMs: number): void {
    if (!this.has(formId, nowMs)) this.#since.set(formId, nowMs);
  }
}

const bySource = new WeakMap<object, UnusableBounds>();

/** Those of the source that this client speaks to. */
export function unusableBounds(client: object): UnusableBounds {
  const known = bySource.get(client) ?? new UnusableBounds();
  bySource.set(client, known);
  return known;
}
