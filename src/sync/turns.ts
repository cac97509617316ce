/** Whose turn it is, over the looks of a process, where each takes a few only. */
export class Turns {
  readonly #turns = new Map<string, number>();
  #turn = 0;

  /** The `most` of these for something that have waited longest for it. */
  next(what: string, ids: readonly string[], most: number): Set<string> {
    const key = (id: string): string => JSON.stringify([what, id]);
    const turnOf = (id: string): number => this.#turns.get(key(id)) ?? 0;
    const due = ids.toSorted((a, b) => turnOf(a) - turnOf(b)).slice(0, most);
    this.#turn++;
    for (const id of due) this.#turns.set(key(id), this.#turn);
    return new Set(due);
  }
}
