import { describeSqlTarget } from '../contract/sql-target.ts';
import { describeTarget } from '../contract/target.ts';
import { sqlitePlace } from '../support/sqlite-place.ts';

describeTarget('SQLite', () => sqlitePlace());
describeSqlTarget('SQLite', () => sqlitePlace());
