import { type FieldCatalogue, OWN_COLUMNS } from './field-catalogue.ts';
import { type ColumnKey, compactKey, fieldKey } from './sheet-metadata.ts';
import type { ColumnsRead } from './tab-reading.ts';
import type { FormTab, Layout, PlacedColumn } from './structure.ts';

/** Puts names to the marked columns of a tab. Of two columns with one mark the left one counts. */
export function layoutOf(tab: FormTab, catalogue: FieldCatalogue): Layout {
  const keys = [
    ...OWN_COLUMNS.map(({ key }) => key),
    ...catalogue.fields.map((f) => fieldKey(f.id)),
  ];
  const byCompact = new Map(keys.map((key) => [compactKey(key), key]));
  const columns = new Map<ColumnKey, PlacedColumn>();
  for (const { mark, compact, index, metadataId } of tab.columns) {
    const key = compact ? byCompact.get(mark) : keyOf(mark);
    if (key === undefined) continue;
    const other = columns.get(key);
    if (other === undefined || other.index > index) columns.set(key, { index, metadataId });
  }
  const { sheetId, title, rowCount, columnCount } = tab;
  return { sheetId, title, rowCount, columnCount, columns };
}

function keyOf(mark: string): ColumnKey | undefined {
  return mark.startsWith('f:') || OWN_COLUMNS.some(({ key }) => key === mark)
    ? (mark as ColumnKey)
    : undefined;
}

/** The layout with columns where a read just found them; what was asked for and not found is gone. */
export function movedTo(layout: Layout, asked: readonly ColumnKey[], read: ColumnsRead): Layout {
  const columns = new Map(layout.columns);
  for (const key of asked) {
    const [old, found] = [columns.get(key), read.columns.get(key)];
    if (old === undefined) continue;
    if (found === undefined) columns.delete(key);
    else columns.set(key, { ...old, index: found.index });
  }
  return { ...layout, columns };
}
