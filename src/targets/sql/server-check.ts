import { throwIfAborted } from '../../base/clock.ts';
import type { CheckResult } from '../../mirror/target.ts';
import { catalogueResults } from './catalogue-repair.ts';
import type { SqlDialect } from './dialect.ts';
import { failedResult } from './sql-errors.ts';
import type { SqlConnection } from './sql-session.ts';

/** What is tried of a database server, in a connection of its own. */
export interface ServerCheck<Connection extends SqlConnection> {
  readonly open: () => Promise<Connection>;
  readonly dialect: SqlDialect;
  /** What the server is, and whether it is one that will do. */
  readonly server: (connection: Connection) => Promise<CheckResult[]>;
  /** Makes and writes what a pass would, and leaves nothing behind. */
  readonly tryMaking: (connection: Connection) => Promise<void>;
}

/** Tries connection, server, catalogue and rights, in this order. Never rejects: a failed try is the last result. */
export async function checkServer<Connection extends SqlConnection>(
  { open, dialect, server, tryMaking }: ServerCheck<Connection>,
  signal: AbortSignal | undefined,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  let connection: Connection | undefined;
  try {
    throwIfAborted(signal);
    connection = await open();
    results.push(...(await server(connection)));
    results.push(...(await catalogueResults(connection, dialect)));
    throwIfAborted(signal);
    await tryMaking(connection);
    results.push({ ok: true, message: 'Tables can be made and written.' });
  } catch (error) {
    results.push(failedResult(error, dialect.describeError));
  } finally {
    await connection?.close();
  }
  return results;
}
