import { type ColumnKey } from '../api/metadata.ts';

/** Empty rows below a tab's last one. There is always one: an insert cannot go past the grid's end. */
export const SPARE_ROWS = 20;

/** A tab of the spreadsheet, ours or not. */
export interface Tab {
  readonly sheetId: number;
  readonly title: string;
  readonly rowCount: number;
  readonly columnCount: number;
}

/** A column that carries our metadata. */
export interface MarkedColumn {
  readonly index: number;
  readonly metadataId: number;
  /** A {@link ColumnKey}, or its {@link compactKey}. */
  readonly mark: string;
  readonly compact: boolean;
}

/** A tab with the marks of its columns. */
export interface MarkedTab extends Tab {
  readonly columns: readonly MarkedColumn[];
  /** Characters of metadata in use on this tab besides state and catalogue, as far as we see them. */
  readonly otherCharacters: number;
}

/** A column and the metadata that marks it. */
export interface PlacedColumn {
  readonly index: number;
  readonly metadataId: number;
}

/** Where a form's columns are, by what they show. */
export interface Layout extends Tab {
  readonly columns: ReadonlyMap<ColumnKey, PlacedColumn>;
  /** Rows with the headers of tables that people made, ours perhaps among them, when the structure was read. */
  readonly tableHeads?: ReadonlySet<number>;
}
