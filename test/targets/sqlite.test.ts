import { describeTarget } from '../contract/target.ts';
import { sqlitePlace } from '../support/sqlite-place.ts';

describeTarget('SQLite', sqlitePlace);
