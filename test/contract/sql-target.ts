import type { TargetPlace } from './target-harness.ts';

/** A place that takes SQL besides. */
export interface SqlPlace extends TargetPlace {
  readonly url: string;
  /** Runs one statement on a connection of its own, as a person would. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** A table as SQL names it. */
  relation(table: string): string;
}
