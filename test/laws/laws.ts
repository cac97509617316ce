import { canonicalTime } from '../../src/mirror/canonical-time.ts';
import { cellText, toCell } from '../../src/mirror/cell.ts';
import type { StoredSubmission } from '../../src/sandbox/forms-api/store.ts';
import { type TableRow, type TableView, textOf } from './table-view.ts';
import type { World } from './world.ts';

/** Checks every law over a mirror at rest; returns a sentence for each breach. */
export function settledBreaches(world: World, formId: string): string[] {
  return world.views.flatMap((view, index) =>
    [
      ...sameRows(world, view, formId),
      ...columnsAreFields(view, formId),
      ...nothingVanished(world, view, formId),
    ].map((breach) => `${breach} (${formId}, target ${index})`),
  );
}

/** L1, L8, L10: live rows are the source's submissions, each as it is there; others are marked deleted. */
function sameRows(world: World, view: TableView, formId: string): string[] {
  const rows = view.rows(formId);
  const columns = view.columns(formId);
  const source = new Map(
    [...world.store.all(formId)]
      .filter(({ id }) => hasId(world, id) && !world.forgotten.has(id))
      .map((each) => [each.id, each]),
  );
  const breaches = [...world.forgotten]
    .filter((id) => rows.has(id))
    .map((id) => `L18: ${id} was forgotten, and is here`);
  for (const [id, submission] of source) {
    const row = rows.get(id);
    if (row === undefined) breaches.push(`L1: ${id} is missing`);
    else if (row._deleted_at !== null) breaches.push(`L8: ${id} exists and is marked deleted`);
    else breaches.push(...sameAnswers(world, row, submission, columns));
  }
  for (const [id, row] of rows) {
    if (source.has(id) || world.forgotten.has(id)) continue;
    if (row._deleted_at === null) breaches.push(`L8: ${id} is gone, not marked`);
  }
  return breaches;
}

function sameAnswers(
  world: World,
  row: TableRow,
  submission: StoredSubmission,
  columns: ReadonlyMap<string, string>,
): string[] {
  const shown = world.store.distortionOf(row.id) ?? {};
  const breaches: string[] = [];
  const status = 'status' in shown ? '' : submission.status;
  if (row.status !== status) breaches.push(`L1: ${row.id} has status ${row.status}, not ${status}`);
  const createdAt = 'createdAt' in shown ? null : canonicalTime(submission.createdAt);
  if (row.created_at !== createdAt) breaches.push(`L1: ${row.id} has another time`);
  for (const [fieldId, column] of columns) {
    const answer = 'data' in shown ? undefined : submission.data.get(fieldId);
    const wanted = cellText(toCell(answer));
    // BigQuery's column comes with the first answer.
    const stored = textOf(row[column] ?? null);
    // A blank is no answer in a column of numbers.
    const isBlank = wanted === '' && stored === null;
    if (stored !== wanted && !isBlank)
      breaches.push(`L10: ${row.id} has another answer in ${column}`);
  }
  for (const fieldId of 'data' in shown ? [] : submission.data.keys()) {
    if (!columns.has(fieldId)) breaches.push(`L9: ${fieldId} has no column`);
  }
  return breaches;
}

/** L9: one column a field, none twice. */
function columnsAreFields(view: TableView, formId: string): string[] {
  const names = [...view.columns(formId).values()];
  const row = view.rows(formId).values().next().value;
  const system = new Set([
    'id',
    'status',
    'created_at',
    '_first_seen_at',
    '_changed_at',
    '_deleted_at',
    '_more',
    '_hash',
  ]);
  const extra = Object.keys(row ?? {}).filter((name) => !names.includes(name) && !system.has(name));
  const twice = names.length !== new Set(names).size ? ['L9: two fields share a column'] : [];
  return [...twice, ...extra.map((name) => `L9: column ${name} belongs to no field`)];
}

/** L6: what could not be stored unchanged is listed, by its ID or as an item without one. */
function nothingVanished(world: World, view: TableView, formId: string): string[] {
  const listed = view.rejected(formId);
  const odd = [...world.store.all(formId)].filter(
    ({ id }) => world.meddler.odd.has(id) && !world.forgotten.has(id),
  );
  const withoutId = odd.filter(({ id }) => !hasId(world, id));
  const named = odd.filter(({ id }) => hasId(world, id));
  const nameless = [...listed].filter((key) => key.startsWith('no-id:'));
  return [
    ...named.filter(({ id }) => !listed.has(id)).map(({ id }) => `L6: ${id} is not listed`),
    ...(nameless.length < withoutId.length ? ['L6: items without an ID are not listed'] : []),
  ];
}

function hasId(world: World, id: string): boolean {
  return !('id' in (world.store.distortionOf(id) ?? {}));
}
