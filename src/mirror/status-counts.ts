/** How many submissions have each status; a status that none has is absent. Never a plain object: `__proto__` is a legal status. */
export type StatusCounts = ReadonlyMap<string, number>;

/** How many submissions a form has by status, as a job carries it: numbers only. Times are milliseconds. */
export interface CountsRecord {
  readonly askedAtMs: number;
  readonly beganMs: number | null;
  readonly endedMs: number | null;
  readonly statuses: Readonly<Record<string, number>> | null;
}
