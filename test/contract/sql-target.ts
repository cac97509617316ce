import { describe } from 'vitest';
import { describeSqlLimits } from './sql-target-limits.ts';
import { describeSqlModel } from './sql-target-model.ts';
import { describeSqlPeople } from './sql-target-people.ts';
import { describeSqlTables } from './sql-target-tables.ts';
import { stageTargets, type TargetPlace, type TargetStage } from './target-harness.ts';

/** A place that takes SQL besides. */
export interface SqlPlace extends TargetPlace {
  readonly product: 'SQLite' | 'PostgreSQL';
  readonly url: string;
  /** Runs one statement on a connection of its own, as a person would. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** A table or view as SQL names it. */
  relation(name: string): string;
}

/** {@link TargetStage} on a {@link SqlPlace}. */
export type SqlStage = TargetStage & { readonly place: SqlPlace };

/** What SQL targets promise besides the contract of all targets: tables, views, and what people do to them. */
export function describeSqlTarget(name: string, makePlace: () => Promise<SqlPlace>): void {
  describe(`the SQL contract over ${name}`, () => {
    const stage = stageTargets(makePlace);
    describeSqlTables(stage);
    describeSqlPeople(stage);
    describeSqlLimits(stage);
    describeSqlModel(stage);
  });
}
