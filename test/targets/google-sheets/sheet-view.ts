import type { Stored } from '../../../packages/google-sheets-emulator/test/support/inspect.ts';
import type { SheetsPlace } from './sheets-place.ts';

/** Looks at a form's tab past the API, by the metadata that binds it. */
export class SheetView {
  readonly place: SheetsPlace;

  constructor(place: SheetsPlace) {
    this.place = place;
  }

  /** The form's tab, once there is one. */
  get sheetId(): number | undefined {
    const marks = this.place.sandbox.inspect.metadata(this.place.spreadsheetId);
    const tabs = new Set(
      this.place.sandbox.inspect.tabs(this.place.spreadsheetId).map((t) => t.sheetId),
    );
    for (const { metadataKey, metadataValue, location } of marks) {
      if (metadataKey !== 'fm.form' || location?.sheetId === undefined) continue;
      const [, , sheetId] = JSON.parse(metadataValue ?? '[]') as [string, string, number];
      if (sheetId === location.sheetId && tabs.has(sheetId)) return sheetId;
    }
    return undefined;
  }

  /** Where our columns are: metadata value → index. */
  columns(sheetId: number): Map<string, number> {
    const marks = this.place.sandbox.inspect.metadata(this.place.spreadsheetId);
    return new Map(
      marks.flatMap(({ metadataKey, metadataValue, location }) => {
        const range = location?.dimensionRange;
        if (metadataKey !== 'fm.col' || (range?.sheetId ?? 0) !== sheetId) return [];
        return [[metadataValue ?? '', range?.startIndex ?? 0] as const];
      }),
    );
  }

  grid(sheetId: number): Stored[][] {
    return this.place.sandbox.inspect.grid(this.place.spreadsheetId, sheetId);
  }

  /** What the cells are: `string`, `number`, `formula`, … */
  types(sheetId: number): string[][] {
    return this.place.sandbox.inspect.types(this.place.spreadsheetId, sheetId);
  }

  /** The row that carries our mark of the header. */
  headerRow(sheetId: number): number | undefined {
    const marks = this.place.sandbox.inspect.metadata(this.place.spreadsheetId);
    const mark = marks.find(
      ({ metadataKey, location }) =>
        metadataKey === 'fm.header' && (location?.dimensionRange?.sheetId ?? 0) === sheetId,
    );
    return mark?.location?.dimensionRange?.startIndex ?? (mark === undefined ? undefined : 0);
  }
}
