import { createConnection } from 'mysql2/promise';
import { systemClock } from '../../src/base/clock.ts';
import { backticked } from '../../src/targets/sql/mysql/mysql-literal.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { sqlDamage, type SqlPlace } from '../contract/sql-target.ts';
import { createMysqlDatabase } from './servers.ts';

/** A fresh, empty database on a real server. */
export async function mysqlPlace(server: { readonly url: string }): Promise<SqlPlace> {
  const url = await createMysqlDatabase(server);
  const client = await createConnection({ uri: url, timezone: 'Z', multipleStatements: true });
  // The suites write SQL as the other products have it.
  await client.query("SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT'");
  const query: SqlPlace['query'] = async (sql) => {
    const [rows] = await client.query(sql.replaceAll(/ AS text\)/gi, ' AS char)'));
    return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
  };
  const usurp = async (lock: string): Promise<void> => {
    await query(
      `UPDATE ${backticked('mirror_locks')} SET epoch = epoch + 1 WHERE form_id = '${lock}'`,
    );
  };
  return {
    product: 'MySQL or MariaDB',
    query,
    url,
    relation: backticked,
    damage: sqlDamage({ query, relation: backticked }),
    usurp,
    usurpMarking: (formId) => usurp(`marking of ${formId}`),
    open: async (name = 'default', clock = systemClock, history) =>
      parseTargetUrl(url).open(name, { clock, history }),
    dispose: () => client.end(),
  };
}
