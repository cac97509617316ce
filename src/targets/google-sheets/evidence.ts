import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { CellBlock } from './cell-blocks.ts';
import { idOf } from './row-index.ts';
import type { Layout } from './structure.ts';
import type { KeptBlock, PlannedBatch } from './write-plan.ts';

/** How things stood the moment a write was applied, as its answer tells. */
export interface Evidence {
  /** Size and title of the form's tab after the write. */
  readonly rowCount: number | undefined;
  readonly columnCount: number | undefined;
  readonly title: string | undefined;
  /** Metadata of the tab's columns, by index; people's columns are missing. */
  readonly marks: ReadonlyMap<number, ReadonlySet<number>>;
  /** What was put by, row by row of the undo tab: the ID first, then, where it was asked for, the old content. */
  readonly kept: readonly (readonly string[])[];
}

/** Reads the answer of a write. */
export function readEvidence(
  answer: sheets_v4.Schema$Spreadsheet | undefined,
  sheetId: number,
  undoSheetId: number,
): Evidence {
  const find = (id: number): sheets_v4.Schema$Sheet | undefined =>
    answer?.sheets?.find((sheet) => (sheet.properties?.sheetId ?? 0) === id);
  const sheet = find(sheetId);
  const kept: string[][] = [];
  for (const grid of find(undoSheetId)?.data ?? []) {
    for (const [offset, row] of (grid.rowData ?? []).entries()) {
      kept[(grid.startRow ?? 0) + offset] = (row.values ?? []).map(textOf);
    }
  }
  return {
    rowCount: sheet?.properties?.gridProperties?.rowCount ?? undefined,
    columnCount: sheet?.properties?.gridProperties?.columnCount ?? undefined,
    title: sheet?.properties?.title ?? undefined,
    marks: marksOf(sheet),
    kept,
  };
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

/** A row of a block that landed in another row or column than it was meant for, or on something unexpected. */
export interface Stray extends CellBlock {
  readonly undoRow: number;
  /** The submission that stood there in truth; empty for a row of people's, and when the columns had moved. */
  readonly found: string;
}

/** What became of a write. */
export interface Verdict {
  /** False when a column that the write took for ours was elsewhere. */
  readonly columnsStood: boolean;
  readonly strays: readonly Stray[];
}

/** Compares what a write meant to touch with what it touched. New rows are the write's own: only their columns count. */
export function judge(evidence: Evidence, layout: Layout, batch: PlannedBatch): Verdict {
  const columnsStood = [...layout.columns.values()].every(({ index, metadataId }) =>
    evidence.marks.get(index)?.has(metadataId),
  );
  const strays = batch.blocks.flatMap((block) => strayRows(block, evidence, columnsStood));
  return { columnsStood, strays };
}

function strayRows(block: KeptBlock, { kept }: Evidence, columnsStood: boolean): Stray[] {
  return block.ids.flatMap((id, offset) => {
    const [keptId = '', ...old] = kept[block.undoRow + offset] ?? [];
    const found = columnsStood ? keptId : '';
    const asExpected = block.was?.[offset]?.every((text, x) => text === (old[x] ?? '')) ?? true;
    if (columnsStood && found === id && asExpected) return [];
    return [
      {
        row: block.row + offset,
        column: block.column,
        ids: [id],
        values: [block.values[offset] ?? []],
        undoRow: block.undoRow + offset,
        found,
      },
    ];
  });
}
