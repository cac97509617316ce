import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { GroupPart } from './row-groups.ts';
import { idOf } from './row-index.ts';
import type { SheetValue } from './sheet-value.ts';
import type { Layout } from './structure.ts';
import type { KeptGroup, PlannedBatch } from './write-plan.ts';

/** How things stood the moment a write was applied, as its answer tells. */
export interface Evidence {
  /** Size and title of the form's tab after the write. */
  readonly rowCount: number | undefined;
  readonly columnCount: number | undefined;
  readonly title: string | undefined;
  /** Metadata of the tab's columns, by index; people's columns are missing. */
  readonly marks: ReadonlyMap<number, ReadonlySet<number>>;
  /** What stood in the rows that were written to, where the write took the ID column to be, by row. */
  readonly ids: ReadonlyMap<number, string>;
  /** What was put by, as texts: by row of the undo tab, then by column. Undefined as long as it was not asked for. */
  readonly kept: readonly (readonly (string | undefined)[])[] | undefined;
  /** True when the answer never came: then nobody knows where the columns were, and `kept` was read afterwards. */
  readonly lost: boolean;
}

/** Reads the answer of a write that took the ID column to be at `idColumn`. */
export function readEvidence(
  answer: sheets_v4.Schema$Spreadsheet | undefined,
  sheetId: number,
  idColumn: number,
  undoSheetId: number,
): Evidence {
  const find = (id: number): sheets_v4.Schema$Sheet | undefined =>
    answer?.sheets?.find((sheet) => (sheet.properties?.sheetId ?? 0) === id);
  const sheet = find(sheetId);
  const kept = textsOf(find(undoSheetId));
  return {
    rowCount: sheet?.properties?.gridProperties?.rowCount ?? undefined,
    columnCount: sheet?.properties?.gridProperties?.columnCount ?? undefined,
    title: sheet?.properties?.title ?? undefined,
    marks: marksOf(sheet),
    ids: new Map([...textsOf(sheet)].map(([row, cells]) => [row, cells[idColumn] ?? ''])),
    kept:
      kept.size === 0
        ? undefined
        : Array.from({ length: Math.max(...kept.keys()) + 1 }, (_, row) => kept.get(row) ?? []),
    lost: false,
  };
}

/** The cells that a tab was answered with, by row. */
function textsOf(sheet: sheets_v4.Schema$Sheet | undefined): Map<number, (string | undefined)[]> {
  const rows = new Map<number, (string | undefined)[]>();
  for (const grid of sheet?.data ?? []) {
    for (const [y, row] of (grid.rowData ?? []).entries()) {
      const before: (string | undefined)[] = Array.from({ length: grid.startColumn ?? 0 });
      const place = (grid.startRow ?? 0) + y;
      // The first row is answered for its columns' metadata; it may be answered again for its ID.
      if (!rows.has(place)) rows.set(place, before.concat((row.values ?? []).map(textOf)));
    }
  }
  return rows;
}

function marksOf(sheet: sheets_v4.Schema$Sheet | undefined): Map<number, Set<number>> {
  const marks = new Map<number, Set<number>>();
  for (const grid of sheet?.data ?? []) {
    for (const [offset, column] of (grid.columnMetadata ?? []).entries()) {
      const ids = (column.developerMetadata ?? []).flatMap(({ metadataId }) => metadataId ?? []);
      if (ids.length > 0) marks.set((grid.startColumn ?? 0) + offset, new Set(ids));
    }
  }
  return marks;
}

function textOf(cell: sheets_v4.Schema$CellData | undefined): string {
  const { stringValue, numberValue, boolValue, formulaValue } = cell?.userEnteredValue ?? {};
  return idOf(stringValue ?? numberValue ?? boolValue ?? formulaValue);
}

/** True when every column was where the write took it to be, as far as anybody knows. */
export const columnsStood = (evidence: Evidence, layout: Layout): boolean =>
  evidence.lost ||
  [...layout.columns.values()].every(({ index, metadataId }) =>
    evidence.marks.get(index)?.has(metadataId),
  );

/** Where the ID column was at the moment of the write, as far as anybody knows; undefined when somebody had deleted it. */
export function idColumnThen(evidence: Evidence, layout: Layout): number | undefined {
  const column = layout.columns.get('s:id');
  if (evidence.lost) return column?.index;
  const mark = column?.metadataId ?? -1;
  return [...evidence.marks].find(([, marks]) => marks.has(mark))?.[0];
}

/** Cells of one row that landed in another row or column than they were meant for, or on something unexpected. */
export interface Stray {
  readonly row: number;
  readonly column: number;
  /** What they were meant for. */
  readonly id: string;
  readonly values: readonly SheetValue[];
  readonly undoRow: number;
  /** What stood in the row's ID cell in truth; undefined when nobody can tell. */
  readonly found: string | undefined;
}

/** What became of a write. */
export interface Verdict {
  readonly columnsStood: boolean;
  readonly strays: readonly Stray[];
}

/** Compares what a write meant to touch with what it touched. New rows are the write's own: only their columns count. */
export function judge(evidence: Evidence, layout: Layout, batch: PlannedBatch): Verdict {
  const stood = columnsStood(evidence, layout);
  const idColumn = idColumnThen(evidence, layout);
  const strays = batch.groups.flatMap((group) =>
    group.ids.flatMap((id, y) => {
      const sight = sightOf(evidence, group, y, stood, idColumn);
      return group.parts.flatMap((part) => {
        const isRight =
          stood && (sight.found ?? id) === id && isAsExpected(part, y, group, evidence, sight.kept);
        if (isRight) return [];
        const values = part.values[y] ?? [];
        const [row, undoRow] = [group.row + y, group.undoRow + y];
        return [{ row, column: part.column, id, values, undoRow, found: sight.found }];
      });
    }),
  );
  return { columnsStood: stood, strays };
}

/** What is known of one row that was written to. */
interface Sight {
  readonly found: string | undefined;
  readonly kept: readonly (string | undefined)[] | undefined;
}

function sightOf(
  evidence: Evidence,
  group: KeptGroup,
  y: number,
  stood: boolean,
  idColumn: number | undefined,
): Sight {
  const kept = keptRow(evidence, group.undoRow + y);
  if (stood && !evidence.lost) return { found: evidence.ids.get(group.row + y) ?? '', kept };
  const known = idColumn !== undefined && kept !== undefined;
  return { found: known ? (kept[idColumn] ?? '') : undefined, kept };
}

/**
 * What was put by of a row; undefined when nothing was. A row that a filter hides may be left out of copies, and a row
 * of ours is never empty.
 */
export function keptRow(
  evidence: Evidence,
  undoRow: number,
): readonly (string | undefined)[] | undefined {
  const kept = evidence.kept?.[undoRow];
  return kept?.some((text) => text !== undefined && text !== '') === true ? kept : undefined;
}

function isAsExpected(
  part: GroupPart,
  y: number,
  group: KeptGroup,
  { lost }: Evidence,
  kept: Sight['kept'],
): boolean {
  if (kept === undefined || !(group.strict || lost)) return true;
  return part.was[y]?.every((text, x) => text === (kept[part.column + x] ?? '')) === true;
}
