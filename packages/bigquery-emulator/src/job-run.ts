import { randomUUID } from 'node:crypto';
import type { Analyzer } from './analyzer.ts';
import { ApiError, invalidQuery, notDone } from './api-error.ts';
import type { Catalog, Table } from './catalog.ts';
import { isDdl, runDdl } from './ddl.ts';
import { runDml } from './dml.ts';
import { Execution, runAssert, runQuery, targetOf } from './execution.ts';
import type { Job, Result } from './job.ts';
import type { Defaults } from './name-resolution.ts';
import type { Parameters } from './parameters.ts';
import { scriptSteps, type Step } from './script-tree.ts';
import type { Session } from './session.ts';
import { prepareStatement, type Prepared, type Surroundings } from './statement.ts';
import type { StatementLog } from './statement-log.ts';
import type { TableLocks } from './transactions.ts';

/** The parts that all jobs of an emulator share. */
export interface JobWorld {
  readonly analyzer: Analyzer;
  readonly catalog: Catalog;
  readonly locks: TableLocks;
  readonly statements: StatementLog;
}

/** Google's minimum for each table that a statement names. What a statement reads beyond it is not computed. */
const LEAST_BYTES = 10 * 1_048_576;

/** One job with its request. */
export interface JobOrder {
  readonly job: Job;
  readonly session: Session;
  /** An interactive session's transaction may stay open after the job. */
  readonly isSession: boolean;
  readonly parameters: Parameters;
  readonly defaults: Defaults;
  readonly maximumBytesBilled: number | undefined;
}

/** Runs a job to its end. Throws an error, which is not yet recorded in the job. */
export async function runJob(world: JobWorld, order: JobOrder): Promise<void> {
  const { job, session, isSession } = order;
  const steps = scriptSteps(await world.analyzer.parseScript(job.query), job.query);
  const [only] = steps;
  if (only === undefined) throw invalidQuery('Syntax error: Unexpected end of statement at [1:1]');
  if (steps.length === 1) {
    if (only.control !== undefined && !isSession) {
      throw invalidQuery(
        'Transaction control statements are supported only in scripts or sessions at [1:1]',
      );
    }
    await runStatement(world, order, only);
    return;
  }
  try {
    for (const step of steps) await runStatement(world, order, step);
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'invalidQuery') {
      throw new ApiError(error.reason, `Query error: ${error.message}`, error.location);
    }
    throw error;
  } finally {
    if (!isSession) await session.rollback();
  }
}

/** Runs one statement and records the result in its job. */
async function runStatement(world: JobWorld, order: JobOrder, step: Step): Promise<void> {
  const { job, session } = order;
  if (step.control !== undefined) {
    await control(session, step.control);
    return;
  }
  const around: Surroundings = {
    analyzer: world.analyzer,
    catalog: world.catalog,
    defaults: order.defaults,
    parameters: new Map([...order.parameters].map(([name, { type }]) => [name, type])),
  };
  const prepared = await prepareStatement(step.text, around);
  const statementType = typeOf(prepared);
  const target = DML.has(statementType) ? targetOf(prepared) : undefined;
  const billed = isDdl(prepared.node) ? 0 : LEAST_BYTES * prepared.names.stored.size;
  if (order.maximumBytesBilled !== undefined && billed > order.maximumBytesBilled) {
    throw new ApiError(
      'bytesBilledLimitExceeded',
      `Query exceeded limit for bytes billed: ${order.maximumBytesBilled}. ${billed} or higher required.`,
    );
  }
  const execution = new Execution(session.connection, prepared, (placeholder) =>
    session.binding(placeholder, order.parameters),
  );
  // A failed statement is not billed.
  let bytesBilled = 0;
  try {
    const result = await carryOut(world, order, { step, prepared, around, execution, target });
    if (result !== undefined) job.result = result;
    bytesBilled = billed;
  } finally {
    job.bytesBilled += bytesBilled;
    world.statements.add({ jobId: job.id, statementType, sql: step.text, bytesBilled });
  }
}

/** A statement that was checked and may run. */
interface Ready {
  readonly step: Step;
  readonly prepared: Prepared;
  readonly around: Surroundings;
  readonly execution: Execution;
  /** The table whose rows it changes. */
  readonly target: Table | undefined;
}

/** Its result; undefined for a statement that leaves the result of a script to others. */
async function carryOut(
  world: JobWorld,
  { session }: JobOrder,
  { step, prepared, around, execution, target }: Ready,
): Promise<Result | undefined> {
  if (prepared.node.kind === 'resolvedQueryStmtNode')
    return { rows: await runQuery(execution, prepared) };
  if (target !== undefined) {
    session.rowCount = await changeRows(world, session, execution, prepared, target);
    return { changed: session.rowCount };
  }
  if (prepared.node.kind === 'resolvedAssertStmtNode') {
    await runAssert(execution, prepared);
    return undefined;
  }
  if (!isDdl(prepared.node)) throw notDone(`the statement ${typeOf(prepared)}`);
  if (session.transaction !== undefined) {
    throw invalidQuery(
      `DDL statements that affect permanent entities are not supported within a transaction: ${typeOf(prepared)}`,
    );
  }
  await runDdl(session.connection, prepared, around, step.text, world.locks);
  return {};
}

async function control(session: Session, kind: NonNullable<Step['control']>): Promise<void> {
  if (kind === 'begin') await session.begin(randomUUID());
  if (kind === 'commit') await session.commit();
  if (kind === 'rollback') {
    if (session.transaction === undefined) {
      throw invalidQuery('Transaction control error: there is no transaction to roll back.');
    }
    await session.rollback();
  }
}

/** Changes rows: in the open transaction, or in one for this statement. Returns the number of changed rows. */
async function changeRows(
  world: JobWorld,
  session: Session,
  execution: Execution,
  prepared: Prepared,
  table: Table,
): Promise<number> {
  const isMutating = prepared.node.kind !== 'resolvedInsertStmtNode';
  const { transaction } = session;
  if (transaction !== undefined) {
    if (isMutating) await world.locks.take(table, transaction);
    await world.locks.note(table, transaction);
    table.version++;
    return runDml(execution, prepared);
  }
  const run = async (): Promise<number> => {
    await session.connection.run('BEGIN TRANSACTION');
    try {
      const changed = await runDml(execution, prepared);
      await session.connection.run('COMMIT');
      return changed;
    } catch (error) {
      await session.connection.run('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      table.version++;
    }
  };
  return isMutating ? world.locks.alone(table, run) : world.locks.inserting(table, run);
}

const DML: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** Such as `SELECT`, `MERGE` or `CREATETABLE`. */
function typeOf({ node }: Prepared): string {
  const kind = node.kind.replace(/^resolved|StmtNode$/g, '');
  return kind === 'Query' ? 'SELECT' : kind.toUpperCase();
}
