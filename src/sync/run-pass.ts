import { randomUUID } from 'node:crypto';
import { toMirrorError } from '../base/errors.ts';
import { withLogFields } from '../base/logger.ts';
import { outdatedRows } from '../mirror/proven-for.ts';
import { ProofLedger } from '../mirror/proof.ts';
import type { FormWriter, Target } from '../mirror/target.ts';
import type { Form, FormIdentity, PassRecord } from '../mirror/types.ts';
import { comparePass } from './compare-pass.ts';
import type { SyncContext } from './context.ts';
import { dryRunWriter } from './dry-run-writer.ts';
import type { PassReport } from './events.ts';
import { fullPass } from './full-pass.ts';
import { incrementalPass } from './incremental-pass.ts';
import { oldestPlausible } from './incremental-scan.ts';
import type { PassRequest } from './pass-request.ts';
import {
  codeOf,
  failed,
  KEEPS_RECORDS,
  messageOf,
  NOTHING,
  type PassResult,
} from './pass-result.ts';
import { type NewLedger, type OpenForm, PassRun } from './pass-run.ts';

/**
 * One pass of one form into one target: scan, join, apply, checkpoint. Never throws: every failure is an outcome of the
 * report, recorded in the target where that is still possible, with `failure` for callers that decide whether to retry.
 */
export async function runPass(
  context: SyncContext,
  target: Target,
  request: PassRequest,
  signal: AbortSignal,
  newLedger: NewLedger = (oldest) => new ProofLedger(oldest),
): Promise<PassReport> {
  const passId = randomUUID();
  return withLogFields({ passId }, async () => {
    const run = new PassRun({ context, target, request, signal, passId, newLedger });
    const report = await runToEnd(run);
    context.events.emit('pass.ended', report);
    return report;
  });
}

async function runToEnd(run: PassRun): Promise<PassReport> {
  const { context, request, signal } = run.setup;
  try {
    const before = run.requests;
    const form = await run.readForm();
    const isAsked = run.requests > before;
    if (form === null) return await formIsGone(run);
    run.form = form;
    context.events.emit('pass.started', run.subject);
    await request.requireNames?.(form, signal);
    await using writer = await openWriter(run, form);
    const tried = await attempt(run, form, writer);
    // An empty list is what some servers show of a form that is gone, whose fields were remembered.
    const isEmpty = tried.failure === null && run.total === 0;
    const isVanished = isEmpty && !isAsked && (await isGone(run));
    const result: PassResult = isVanished ? { ...NOTHING, outcome: 'gone' } : tried;
    const record = recordOf(run, result);
    // What is left alone gets no record either: as after a crash, the next pass goes on from what is stored.
    if (result.outcome === 'paused') return reportOf(run, record, result);
    try {
      const since = await writer.finish(record, {
        // That it is there is known only where it was asked for.
        ...(result.outcome === 'gone' && { goneAt: run.now() }),
        ...(result.outcome !== 'gone' && isAsked && { goneAt: null }),
        ...(result.checkpoint === undefined ? {} : { checkpoint: result.checkpoint }),
        ...(result.comparedSince === undefined ? {} : { comparedSince: result.comparedSince }),
      });
      run.notices = since ?? run.notices;
    } catch (error) {
      // That a target which refuses rows refuses the record, too, is no second failure.
      if (result.failure?.code.startsWith('TARGET_') !== true) throw error;
    }
    return reportOf(run, record, result);
  } catch (error) {
    const result = failed(toMirrorError(error));
    return reportOf(run, recordOf(run, result), result);
  }
}

async function openWriter({ setup }: PassRun, form: FormIdentity): Promise<FormWriter> {
  const { request, signal, target } = setup;
  if (request.dryRun) return dryRunWriter(await target.reader(form.id), request.onForeseen);
  return target.openWriter(form, { waitMs: request.waitMs, signal });
}

/** The pass itself: a failure from here on can still be recorded in the target. */
async function attempt(run: PassRun, form: Form, writer: FormWriter): Promise<PassResult> {
  const sink = run.openSink(form, writer);
  try {
    return await scan(run, { form, writer, sink });
  } catch (error) {
    await sink.settled();
    const failure = toMirrorError(error);
    if (failure.code.startsWith('TARGET_') && !KEEPS_RECORDS.has(failure.code)) throw failure;
    // A list that answers 404: has the form gone since its labels were cached?
    if (failure.code === 'FORMS_NOT_FOUND' && (await isGone(run))) {
      return { ...NOTHING, outcome: 'gone' };
    }
    return failed(failure);
  }
}

async function isGone(run: PassRun): Promise<boolean> {
  return (await run.readForm(true).catch(() => undefined)) === null;
}

async function scan(run: PassRun, open: OpenForm): Promise<PassResult> {
  const { form, writer, sink } = open;
  const { request } = run.setup;
  // Columns that are to be filled take the checkpoint away; what it said tells why.
  const stored = await writer.checkpoint();
  run.wasEmpty = stored === undefined && (await writer.passes(1)).length === 0;
  const columns = await sink.open(request.restoreColumns ?? false);
  run.emitColumns(columns);
  run.isHeld = sink.wasKnown;
  // A checkpoint speaks of rows: it is read once the table is as it should be, and believed if nothing is lost.
  const lost = await writer.losses();
  run.lost = lost;
  const checkpoint = await writer.checkpoint();
  const newColumns = sink.wasKnown ? columns.added.length : 0;
  const { fields } = sink;
  // A full pass writes everything anyway.
  const isFull = run.kind === 'full' || stored === undefined;
  const outdated = isFull
    ? []
    : outdatedRows(stored.provenFor, form, request, { fields, newColumns });
  run.beginLedger(oldestPlausible(checkpoint));
  run.chooseKind(checkpoint, newColumns, [...lost, ...outdated]);
  const parts = run.scanParts(open, checkpoint !== undefined);
  if (checkpoint === undefined || run.kind === 'full')
    return fullPass(run, open, parts, { checkpoint });
  const { ownLists } = run.setup.context;
  // A full pass asks that itself. Nothing of a form without submissions was ever read.
  if (checkpoint.total === 0 || ownLists?.areShared === true)
    await ownLists?.require(form, run.call);
  if (run.kind === 'compare') return comparePass(run, open, checkpoint);
  return incrementalPass(run, open, parts, checkpoint);
}

/** Records in the target that the form answers 404, if it was ever mirrored there; its table stays (L8). */
async function formIsGone(run: PassRun): Promise<PassReport> {
  const { request, target } = run.setup;
  const known = (await target.heldForms()).find(({ id }) => id === run.form.id);
  const result: PassResult = { ...NOTHING, outcome: 'gone' };
  run.isHeld = known !== undefined;
  const record = recordOf(run, result);
  if (known !== undefined && !request.dryRun) {
    run.form = { id: known.id, slug: known.slug, name: known.name };
    await using writer = await openWriter(run, run.form);
    await writer.finish(record, known.goneAt === null ? { goneAt: run.now() } : {});
  }
  return reportOf(run, record, result);
}

function recordOf(run: PassRun, result: PassResult): PassRecord {
  const { kind, form, isHeld, total } = run;
  const { inserted, updated, unchanged, rejected } = run.written;
  const { distinct } = run;
  const { unclearDoubles, unclearEnd } = run.ledger;
  const facts = { kind, form, isHeld, total, distinct, unclearDoubles, unclearEnd };
  return {
    kind,
    startedAt: new Date(run.startedMs).toISOString(),
    endedAt: run.now(),
    outcome: result.outcome,
    requests: run.requests,
    total,
    distinct,
    inserted,
    updated,
    unchanged,
    rejected,
    deleted: result.deleted,
    withheld: result.withheld,
    code: codeOf(result),
    error: messageOf(result, facts),
  };
}

function reportOf(
  run: PassRun,
  record: PassRecord,
  { failure, undecided, checkpoint }: PassResult,
): PassReport {
  const ms = run.setup.context.clock.now() - run.startedMs;
  const { doubles, notices, reason } = run;
  const absent = checkpoint?.absent ?? 0;
  const counts = { absent, undecided, doubles, marked: 0 };
  return {
    ...run.subject,
    ...record,
    reason,
    notices,
    ...counts,
    ms,
    failure,
    ...(run.wasEmpty && { wasEmpty: true }),
  };
}
