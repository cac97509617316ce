/** The number of requests since the start or the last {@link clear}, as Google's quota counts them. */
export class RequestLog {
  #reads = 0;
  #writes = 0;

  add(kind: 'read' | 'write'): void {
    if (kind === 'read') this.#reads++;
    else this.#writes++;
  }

  clear(): void {
    [this.#reads, this.#writes] = [0, 0];
  }

  counts(): { readonly reads: number; readonly writes: number } {
    return { reads: this.#reads, writes: this.#writes };
  }
}
