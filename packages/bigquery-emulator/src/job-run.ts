import { randomUUID } from 'node:crypto';
import type { Analyzer } from './analyzer.ts';
import { ApiError, invalidQuery, notDone } from './api-error.ts';
import { type Catalog, noteRowsChanged, type Table } from './catalog.ts';
import { aliased } from './dataset-alias.ts';
import { isDdl, runDdl } from './ddl.ts';
import { runDml } from './dml.ts';
import { Execution, runExpression, runQuery, targetOf, type DmlCounts } from './execution.ts';
import { newJob, type Job } from './job.ts';
import type { Defaults } from './name-resolution.ts';
import type { DmlQuota } from './quotas.ts';
import type { Reckoning } from './reckoning.ts';
import { scriptSteps, type Piece, type Step } from './script-tree.ts';
import { runSteps } from './script-run.ts';
import type { Parameters, Session } from './session.ts';
import { prepareStatement, type Prepared, type Surroundings } from './statement.ts';
import type { StatementLog } from './statement-log.ts';
import type { TableLocks } from './transactions.ts';
import { momentText } from './values.ts';

/** What all jobs of an emulator share. */
export interface JobWorld {
  readonly analyzer: Analyzer;
  readonly catalog: Catalog;
  readonly locks: TableLocks;
  readonly quota: DmlQuota;
  readonly reckoning: Reckoning;
  readonly statements: StatementLog;
  readonly now: () => number;
  /** Faults that a test set for statements. */
  readonly beforeStatement: (statementType: string, table: Table | undefined) => void;
}

/** One job with what it was asked for. */
export interface JobOrder {
  readonly job: Job;
  readonly session: Session;
  /** An interactive session's transaction may stay open after the job. */
  readonly isSession: boolean;
  readonly parameters: Parameters;
  readonly defaults: Defaults;
  readonly maximumBytesBilled: number | undefined;
  readonly register: (child: Job) => void;
}

/** Runs a job to its end; an error is thrown, not yet noted in the job. */
export async function runJob(world: JobWorld, order: JobOrder): Promise<void> {
  const { job } = order;
  const known = order.session.blocks.flatMap((block) => [...block.keys()]);
  const steps = await stepsOf(world, job.query, known);
  const [only] = steps;
  if (only === undefined) throw invalidQuery('Syntax error: Unexpected end of statement at [1:1]');
  if (steps.length === 1 && only.kind === 'statement') {
    if (only.control !== undefined && !order.isSession) {
      throw invalidQuery(
        'Transaction control statements are supported only in scripts or sessions at [1:1]',
      );
    }
    await runStatement(world, order, only, job);
    return;
  }
  job.statementType = 'SCRIPT';
  if (job.isDryRun) return;
  const { session, parameters } = order;
  try {
    await runSteps(
      {
        session,
        parameters,
        around: () => surroundings(world, order),
        nowText: () => nowText(world),
        statement: async (step) => runChild(world, order, step),
      },
      steps,
    );
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'invalidQuery') {
      throw new ApiError(error.reason, `Query error: ${error.message}`, error.location);
    }
    throw error;
  } finally {
    if (!order.isSession) await session.rollback();
    job.bytesProcessed = sum(job.children, 'bytesProcessed');
    job.bytesBilled = sum(job.children, 'bytesBilled');
  }
}

async function stepsOf(
  { analyzer }: JobWorld,
  query: string,
  known: readonly string[],
): Promise<Step[]> {
  const short = aliased(query);
  const script = await analyzer.parseScript(short.text).catch(async (error: unknown) => {
    // A mistake is told with its place in the text as it was written.
    if (short.text !== query) await analyzer.parseScript(query);
    throw error;
  });
  return scriptSteps(script, short, known);
}

const sum = (jobs: readonly Job[], key: 'bytesProcessed' | 'bytesBilled'): number =>
  jobs.reduce((total, job) => total + job[key], 0);

const nowText = (world: JobWorld): string => momentText(BigInt(world.now()) * 1_000n);

const surroundings = (world: JobWorld, order: JobOrder): Surroundings => ({
  analyzer: world.analyzer,
  catalog: world.catalog,
  defaults: order.defaults,
  scope: order.session.scope(order.parameters),
});

async function runChild(
  world: JobWorld,
  order: JobOrder,
  step: Extract<Step, { kind: 'statement' }>,
): Promise<void> {
  const { job } = order;
  if (job.cancelled)
    throw new ApiError('stopped', 'Job execution was cancelled: User requested cancellation');
  const child = newJob({
    id: `script_job_${randomUUID().replaceAll('-', '')}_${job.children.length}`,
    project: job.project,
    location: job.location,
    parent: job,
    query: step.piece.text,
    configuration: job.configuration,
    createdMs: world.now(),
    isDryRun: false,
  });
  job.children.push(child);
  order.register(child);
  child.state = 'RUNNING';
  try {
    await runStatement(world, order, step, child);
  } catch (error) {
    child.error = error instanceof ApiError ? error : new ApiError('internalError', String(error));
    throw error;
  } finally {
    child.state = 'DONE';
    child.endedMs = world.now();
  }
}

/** Runs one statement and notes in `job` what came of it. */
async function runStatement(
  world: JobWorld,
  order: JobOrder,
  step: Extract<Step, { kind: 'statement' }>,
  job: Job,
): Promise<void> {
  const { session } = order;
  if (step.control !== undefined) {
    await control(order, step.control, job);
    return;
  }
  if (session.transaction !== undefined) {
    await world.locks.check(session.transaction);
    job.transactionId = session.transaction.id;
  }
  const around = surroundings(world, order);
  const prepared = await prepareStatement(step.piece.text, around).catch((error: unknown) =>
    restated(error, step.piece, around),
  );
  job.statementType = statementType(prepared);
  job.referenced = [...prepared.names.stored.keys()];
  const isDml = /^(INSERT|UPDATE|DELETE|MERGE|TRUNCATE_TABLE)$/.test(job.statementType);
  const target = isDml ? targetOf(prepared) : undefined;
  world.beforeStatement(job.statementType, target);
  const { processed, billed } = isFree(job.statementType)
    ? { processed: 0, billed: 0 }
    : await world.reckoning.of(session.connection, prepared);
  job.bytesProcessed = processed;
  if (order.maximumBytesBilled !== undefined && billed > order.maximumBytesBilled) {
    throw new ApiError(
      'bytesBilledLimitExceeded',
      `Query exceeded limit for bytes billed: ${order.maximumBytesBilled}. ${billed} or higher required.`,
    );
  }
  if (job.isDryRun) {
    noteSchema(job, prepared);
    return;
  }
  const execution = new Execution(session.connection, prepared, (placeholder) =>
    session.binding(placeholder, order.parameters, nowText(world)),
  );
  try {
    await carryOut(world, order, { step, job, prepared, around, execution, target });
    // What fails is not billed.
    job.bytesBilled = billed;
  } finally {
    world.statements.add({
      atMs: world.now(),
      jobId: job.id,
      statementType: job.statementType,
      sql: step.piece.text,
      tables: job.referenced,
      bytesProcessed: processed,
      bytesBilled: job.bytesBilled,
      inTransaction: session.transaction !== undefined,
    });
  }
}

/** A statement that was checked and may run. */
interface Ready {
  readonly step: Extract<Step, { kind: 'statement' }>;
  readonly job: Job;
  readonly prepared: Prepared;
  readonly around: Surroundings;
  readonly execution: Execution;
  /** The table whose rows it changes. */
  readonly target: Table | undefined;
}

async function carryOut(world: JobWorld, { session }: JobOrder, ready: Ready): Promise<void> {
  const { step, job, prepared, around, execution, target } = ready;
  if (prepared.node.kind === 'resolvedQueryStmtNode') {
    job.rows = await runQuery(execution, prepared);
  } else if (target !== undefined) {
    job.dml = await changeRows(world, session, execution, prepared, target);
    const { inserted, updated, deleted } = job.dml;
    session.system.set('row_count', String(inserted + updated + deleted));
  } else if (prepared.node.kind === 'resolvedAssertStmtNode') {
    await assertTrue(execution, prepared);
  } else if (isDdl(prepared.node)) {
    if (session.transaction !== undefined) {
      throw invalidQuery(
        `DDL statements that affect permanent entities are not supported within a transaction: ${job.statementType}`,
      );
    }
    job.ddl = await runDdl(execution, prepared, around, step.piece.text, world.locks);
  } else {
    throw notDone(`the statement ${job.statementType}`);
  }
}

/** DDL that reads no rows. */
const isFree = (type: string): boolean =>
  /^(CREATE|ALTER|DROP)_/.test(type) && type !== 'CREATE_TABLE_AS_SELECT';

/** The analyzer's sentence with the place in the whole script. */
async function restated(error: unknown, piece: Piece, around: Surroundings): Promise<never> {
  if (!(error instanceof ApiError) || error.reason !== 'invalidQuery') throw error;
  const padding = '\n'.repeat(piece.line - 1) + ' '.repeat(piece.column - 1);
  if (padding !== '') await prepareStatement(padding + piece.text, around);
  throw error;
}

async function control(
  order: JobOrder,
  kind: 'begin' | 'commit' | 'rollback',
  job: Job,
): Promise<void> {
  const { session } = order;
  job.statementType = `${kind.toUpperCase()}_TRANSACTION`;
  if (kind === 'begin') await session.begin(randomUUID());
  job.transactionId = session.transaction?.id;
  if (kind === 'commit') await session.commit();
  if (kind === 'rollback') {
    if (session.transaction === undefined) {
      throw invalidQuery('Transaction control error: there is no transaction to roll back.');
    }
    await session.rollback();
  }
}

/** Changes rows: in the open transaction, or in one of the statement's own. */
async function changeRows(
  world: JobWorld,
  session: Session,
  execution: Execution,
  prepared: Prepared,
  table: Table,
): Promise<DmlCounts> {
  const isMutating = prepared.node.kind !== 'resolvedInsertStmtNode';
  if (isMutating) world.quota.take(table, world.now());
  const { transaction } = session;
  if (transaction !== undefined) {
    if (isMutating) await world.locks.take(table, transaction);
    await world.locks.note(table, transaction);
    table.version++;
    return runDml(execution, prepared);
  }
  const run = async (): Promise<DmlCounts> => {
    await session.connection.run('BEGIN TRANSACTION');
    try {
      const counts = await runDml(execution, prepared);
      await session.connection.run('COMMIT');
      noteRowsChanged(table, world.now());
      return counts;
    } catch (error) {
      await session.connection.run('ROLLBACK').catch(() => undefined);
      table.version++;
      throw error;
    }
  };
  return isMutating ? world.locks.alone(table, run) : world.locks.inserting(table, run);
}

async function assertTrue(execution: Execution, prepared: Prepared): Promise<void> {
  const { node } = prepared;
  node.only('expression', 'description');
  const value = await runExpression(execution, { ...prepared, node: node.child('expression') });
  if (value === 'true') return;
  const description = node.text('description');
  throw invalidQuery(description === '' ? 'Assertion failed' : `Assertion failed: ${description}`);
}

function noteSchema(job: Job, { node }: Prepared): void {
  if (node.kind !== 'resolvedQueryStmtNode') return;
  const fields = node
    .list('outputColumnList')
    .map((output) => ({ name: output.text('name'), type: output.column().type }));
  job.rows = { fields, rows: [] };
}

const TYPES: Readonly<Record<string, string>> = {
  QueryStmt: 'SELECT',
  InsertStmt: 'INSERT',
  UpdateStmt: 'UPDATE',
  DeleteStmt: 'DELETE',
  MergeStmt: 'MERGE',
  TruncateStmt: 'TRUNCATE_TABLE',
  CreateTableStmt: 'CREATE_TABLE',
  CreateTableAsSelectStmt: 'CREATE_TABLE_AS_SELECT',
  CreateViewStmt: 'CREATE_VIEW',
  CreateSchemaStmt: 'CREATE_SCHEMA',
  AlterTableStmt: 'ALTER_TABLE',
  AlterViewStmt: 'ALTER_VIEW',
  AssertStmt: 'ASSERT',
};

function statementType({ node }: Prepared): string {
  const kind = node.kind.replace(/^resolved|Node$/g, '');
  if (kind === 'DropStmt') return `DROP_${node.text('objectType')}`;
  return TYPES[kind] ?? kind.replace(/Stmt$/, '').toUpperCase();
}
