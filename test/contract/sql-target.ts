import { describe } from 'vitest';
import { describeAnalystPage } from './sql-analyst.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { HistoryKind } from '../../src/mirror/histories.ts';
import type { Target } from '../../src/mirror/target.ts';
import { describeRelations } from './sql-relations.ts';
import { describeSqlErasure } from './sql-erasure.ts';
import { describeHistoryDue } from './sql-history-due.ts';
import { describeChangedHistory } from './sql-changed-history.ts';
import { describeRowHistory } from './sql-row-history.ts';
import { describeStatusHistory } from './sql-status-history.ts';
import { describeSqlLimits } from './sql-target-limits.ts';
import { describeSqlLiveViews } from './sql-live-views.ts';
import { describeSqlModel } from './sql-target-model.ts';
import { describeSqlRefused } from './sql-refused.ts';
import { describeSqlSwallowed } from './sql-swallowed.ts';
import { describeSqlConstraints, describeSqlPeople } from './sql-target-people.ts';
import { describeLabelledView, describeSqlTables } from './sql-target-tables.ts';
import { describeSqlTypes } from './sql-target-types.ts';
import { describeSqlViewDates } from './sql-view-dates.ts';
import { describeSqlViewsBehind } from './sql-views-behind.ts';
import { describeSqlViewPlaces } from './sql-view-places.ts';
import { describeSqlViews } from './sql-views.ts';
import { dropViews } from './sql-by-hand.ts';
import type { SqlDialect } from '../../src/targets/sql/dialect.ts';
import { type Damage, stageTargets, type TargetPlace, type TargetStage } from './target-harness.ts';
import { describeErasure } from './target-erasure.ts';
import { describeFields } from './target-fields.ts';
import { describeRows } from './target-rows.ts';
import { describeSnapshot } from './target-snapshot.ts';
import { describeValues } from './target-values.ts';

/** A place that takes SQL of any kind besides. */
export interface QueriedPlace extends TargetPlace {
  /** As {@link TargetPlace.open}, by another clock than the machine's, or to keep more of what was. */
  open(name?: string, clock?: Clock, history?: HistoryKind): Promise<Target>;
  readonly product: SqlDialect['product'];
  readonly url: string;
  /** The names of a table's columns, where the product has a way of its own. */
  readonly columnsOf?: (relation: string) => Promise<string[]>;
  /** Runs one statement on a connection of its own, as a person would. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** A table or view as SQL names it. */
  relation(name: string): string;
}

/** A place that takes SQL as the products with transactions and keys have it. */
export interface SqlPlace extends QueriedPlace {
  readonly product: SqlDialect['product'];
}

/** {@link TargetStage} on a {@link QueriedPlace}. */
export type QueriedStage = TargetStage & { readonly place: QueriedPlace };

/** {@link TargetStage} on a {@link SqlPlace}. */
export type SqlStage = TargetStage & { readonly place: SqlPlace };

/** What SQL targets promise besides the contract of all targets: tables, views, and what people do to them. */
export function describeSqlTarget(name: string, makePlace: () => Promise<SqlPlace>): void {
  describe(`the SQL contract over ${name}`, () => {
    const stage = stageTargets(makePlace);
    describeSqlTables(stage);
    describeLabelledView(stage);
    describeSqlTypes(stage);
    describeSqlPeople(stage);
    describeSqlConstraints(stage);
    describeSqlLimits(stage);
    describeSqlModel(stage);
    describeSqlErasure(stage);
    describeStatusHistory(stage);
    describeRowHistory(stage);
    describeChangedHistory(stage);
    describeHistoryDue(stage);
    describeSqlRefused(stage);
    describeSqlSwallowed(stage);
    describeRelations(stage);
    describeSqlViews(stage);
    describeSqlViewDates(stage);
    describeSqlViewPlaces(stage);
    describeSqlViewsBehind(stage);
    describeSqlLiveViews(stage);
    describeAnalystPage(stage);
  });
}

/**
 * What one database does otherwise than another: values and types, columns, refusals, locks and transactions, and the SQL of
 * histories and views. What all of them share is tried on SQLite, by {@link describeTarget} and {@link describeSqlTarget}.
 */
export function describeDialect(name: string, makePlace: () => Promise<SqlPlace>): void {
  describe(`the dialect of ${name}`, () => {
    const stage = stageTargets(makePlace);
    describeRows(stage);
    describeValues(stage);
    describeFields(stage);
    describeErasure(stage);
    describeSnapshot(stage);
    describeSqlTables(stage);
    describeSqlTypes(stage);
    describeSqlConstraints(stage);
    describeSqlLimits(stage);
    describeSqlModel(stage);
    describeSqlRefused(stage);
    describeSqlSwallowed(stage);
    describeRowHistory(stage);
    describeSqlViews(stage);
    describeSqlViewDates(stage);
    describeSqlViewsBehind(stage);
    describeSqlLiveViews(stage);
    describeAnalystPage(stage);
  });
}

/** {@link Damage} in SQL. */
export function sqlDamage({ query, relation }: Pick<SqlPlace, 'query' | 'relation'>): Damage {
  const table = relation('contact_form');
  return {
    rowsAreCountedAtOnce: true,
    async dropPlace() {
      await dropViews({ query, relation });
      await query(`DROP TABLE ${table}`);
    },
    async empty() {
      await query(`DELETE FROM ${table}`);
    },
    async deleteRows(ids) {
      await query(`DELETE FROM ${table} WHERE id IN (${ids.map((id) => `'${id}'`).join(', ')})`);
    },
    async dropAge() {
      await dropViews({ query, relation });
      await query(`ALTER TABLE ${table} DROP COLUMN age`);
    },
  };
}
