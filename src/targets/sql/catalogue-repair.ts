import { MirrorError } from '../../base/errors.ts';
import type { CheckResult } from '../../mirror/target.ts';
import { listForms, loadForm, recordLabels } from './catalogue.ts';
import { copiedForms, restoreForm, saveCopies } from './catalogue-copy.ts';
import { catalogueColumns, makeTables, presentTables } from './catalogue-tables.ts';
import { hasCatalogue } from './catalogue-version.ts';
import type { SqlDialect } from './dialect.ts';
import { leftViewNotices } from './left-view.ts';
import { LOOKS } from './looks.ts';
import { rememberLosses } from './losses.ts';
import { PAUSES } from './pauses.ts';
import { numberOf, type SqlConnection, type SqlSession } from './sql-session.ts';
import { viewFailureResults } from './view-failures.ts';
import { modelViewNames } from './view-notes.ts';
import { noteStatusesSince } from './status-history.ts';

/** Lines of `check`: whether there is a mirror, and whole. Throws as {@link hasCatalogue} does. */
export async function catalogueResults(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<CheckResult[]> {
  if (!(await hasCatalogue(session, dialect)))
    return [{ ok: true, message: 'It holds no mirror yet.' }];
  const missing = await missingTables(session, dialect);
  if (missing.length > 0) {
    const message = `${missingSentence(dialect, missing)}.`;
    return [{ ok: false, message, remedy: remedyFor(missing) }];
  }
  const forms = await listForms(session, dialect);
  const views = forms.map(({ view }) => view);
  const left = [...(await leftViewNotices(session, dialect, views)).values()].flat();
  const elsewhere = [...(await modelViewNames(session, dialect))].filter(
    ([view, name]) => view !== name,
  );
  return [
    { ok: true, message: 'It holds a mirror already.' },
    ...elsewhere.map(([view, name]) => ({
      ok: true,
      message: `Something else is called ${dialect.shownRelation(view)}, so the view over all forms is ${dialect.shownRelation(name)}.`,
    })),
    ...left.map(({ blocks, message, remedy }) => ({ ok: !blocks, message, remedy })),
    ...(await viewFailureResults(session, dialect, forms)),
  ];
}

/** Throws TARGET_FAILED where the catalogue lacks a table, for those who only read. */
export async function assertWhole(
  session: SqlSession,
  dialect: SqlDialect,
  place: string,
): Promise<void> {
  const missing = await missingTables(session, dialect);
  if (missing.length === 0) return;
  const message = `${place}: ${missingSentence(dialect, missing)}. ${remedyFor(missing)}`;
  throw new MirrorError('TARGET_FAILED', message);
}

const remedyFor = (missing: readonly string[]): string =>
  `The next pass creates it again${tellsOfRows(missing).length === 0 ? '' : ' and reads everything'}; nothing else is to be done.`;

/** Of the tables of the catalogue those that say something of rows: without the newest look, the next one asks for more. */
const tellsOfRows = (tables: Iterable<string>): string[] =>
  [...tables].filter((table) => table !== LOOKS && table !== PAUSES);

function missingSentence(dialect: SqlDialect, missing: readonly string[]): string {
  const names = missing.map((table) => dialect.shownRelation(table)).join(', ');
  return missing.length === 1
    ? `The table ${names} of the catalogue is gone`
    : `The tables ${names} of the catalogue are gone`;
}

/**
 * Creates tables of the catalogue again that people dropped. What they held is restored from its copy or found again by a full
 * pass of every form, which each learns from what is remembered as lost; the history of passes and labels begins again.
 * Refuses with TARGET_FAILED, changing nothing, where it would have to guess which table or column is whose.
 */
export async function repairCatalogue(
  connection: SqlConnection,
  dialect: SqlDialect,
  place: string,
  at: string,
): Promise<void> {
  if ((await missingTables(connection, dialect)).length === 0) return;
  await connection.transaction(async (tx) => {
    await dialect.lockCatalogue(tx);
    // Another process may have repaired it.
    const missing = new Set(await missingTables(tx, dialect));
    if (missing.size === 0) return;
    await refuseToGuess(tx, dialect, missing, place);
    await makeTables(tx, dialect, missing);
    await restoreForms(tx, dialect, missing, at);
    await saveCopies(tx, dialect);
    const lacksStatuses = missing.has('mirror_status_history');
    const losses = tellsOfRows(missing).map(
      (name) => ({ what: 'records', name: `table ${name}` }) as const,
    );
    for (const { id } of await listForms(tx, dialect)) {
      await rememberLosses(tx, dialect, id, losses);
      if (lacksStatuses) await noteStatusesSince(tx, dialect, id, null);
    }
  });
}

/** Throws where neither the tables that are left nor the copies say which table or column is whose. */
async function refuseToGuess(
  tx: SqlSession,
  dialect: SqlDialect,
  missing: ReadonlySet<string>,
  place: string,
): Promise<void> {
  const copied = new Set(missing.has('mirror_meta') ? [] : await copiedForms(tx, dialect));
  if (missing.has('mirror_forms') && copied.size === 0) {
    const telling = ['mirror_passes', 'mirror_fields'].filter((table) => !missing.has(table));
    if (await hasRows(tx, dialect, ...telling))
      throw wouldGuess(dialect, place, 'mirror_forms', 'table belongs to which form');
  }
  const listed = missing.has('mirror_forms') ? [] : await listForms(tx, dialect);
  if (missing.has('mirror_fields') && listed.some(({ id }) => !copied.has(id))) {
    throw wouldGuess(dialect, place, 'mirror_fields', 'column belongs to which field');
  }
}

async function restoreForms(
  tx: SqlSession,
  dialect: SqlDialect,
  missing: ReadonlySet<string>,
  at: string,
): Promise<void> {
  for (const formId of await copiedForms(tx, dialect)) await restoreForm(tx, dialect, formId, at);
  if (!missing.has('mirror_label_history')) return;
  for (const { id } of await listForms(tx, dialect)) {
    const fields = (await loadForm(tx, dialect, id))?.fields ?? [];
    await recordLabels(tx, dialect, id, fields, at);
  }
}

async function hasRows(
  session: SqlSession,
  dialect: SqlDialect,
  ...tables: readonly string[]
): Promise<boolean> {
  for (const table of tables) {
    const [row] = await session.query(`SELECT count(*) AS n FROM ${dialect.relation(table)}`);
    if (row !== undefined && numberOf(row, 'n') > 0) return true;
  }
  return false;
}

function wouldGuess(dialect: SqlDialect, place: string, table: string, which: string): MirrorError {
  return new MirrorError(
    'TARGET_FAILED',
    `${place}: the table ${dialect.shownRelation(table)} of the catalogue is gone, and nothing else says which ${which}, ` +
      `so nothing was changed: restore it from a backup, or ${dialect.chooseAnotherPlace}, which the next pass fills.`,
    { retryable: false },
  );
}

/** The tables of the catalogue that are not there. Throws TARGET_FAILED for one that lacks a column. */
async function missingTables(session: SqlSession, dialect: SqlDialect): Promise<string[]> {
  const present = await presentTables(session, dialect);
  const missing: string[] = [];
  for (const [table, columns] of catalogueColumns(dialect)) {
    const there = present.get(table);
    const lost = columns.filter((column) => !there?.includes(column));
    if (there === undefined) missing.push(table);
    else if (lost.length > 0) throw lacksColumns(dialect, table, lost);
  }
  return missing;
}

function lacksColumns(dialect: SqlDialect, table: string, columns: readonly string[]): MirrorError {
  return new MirrorError(
    'TARGET_FAILED',
    `The table ${dialect.shownRelation(table)} of the catalogue lacks ${columns.join(', ')}: restore it from a backup, or ` +
      'drop the table, and the next pass creates it again.',
    { retryable: false },
  );
}
