import { type ColumnKey, compactKey, hashText } from './api/metadata.ts';
import { documentsIn } from './documents.ts';
import type { View } from './sheet-file.ts';
import type { FormTab } from './structure.ts';

/** Forms that the Summary tab shows, in the order of their tabs. */
export const MAX_FORMS = 30;

/** A column and the metadata that marks it. */
export interface PlacedColumn {
  readonly index: number;
  readonly metadataId: number;
}

/** A form as the Summary tab shows it, with where its columns are now. */
export interface SummaryForm {
  readonly formId: string;
  readonly sheetId: number;
  readonly name: string;
  /** The tab's title. */
  readonly title: string;
  /** The row with its headers. */
  readonly headerRow: number;
  readonly id: PlacedColumn;
  readonly at: PlacedColumn | undefined;
  readonly status: PlacedColumn | undefined;
  readonly removed: PlacedColumn | undefined;
  readonly questions: readonly SummaryQuestion[];
}

export interface SummaryQuestion {
  readonly column: PlacedColumn;
  readonly listed: number;
  readonly numbers: boolean;
}

/** Which forms and questions the Summary tab shows. */
export interface SummaryPlan {
  readonly forms: readonly SummaryForm[];
  /** True when there are more forms than it shows. */
  readonly isCut: boolean;
  /** Of all that makes it necessary to write the tab again: not where tabs and columns are, nor what they are called. */
  readonly digest: string;
}

/** The forms of a spreadsheet that are not gone, and their questions that are counted by answer. */
export function planSummary(view: View): SummaryPlan {
  const documents = new Map(documentsIn(view).map((each) => [each.state.formId, each]));
  const all = [...view.structure.forms].flatMap(([formId, tab]): SummaryForm[] => {
    const document = documents.get(formId);
    const id = columnOf(tab, 's:id');
    if (document === undefined || document.state.goneAtMs !== null || id === undefined) return [];
    const byMark = new Map([...tab.columns.keys()].map((key) => [compactKey(key), key]));
    return [
      {
        formId,
        sheetId: tab.sheetId,
        name: document.state.name,
        title: tab.title,
        headerRow: document.headerRow,
        id,
        at: columnOf(tab, 's:at'),
        status: columnOf(tab, 's:status'),
        removed: columnOf(tab, 's:removed'),
        questions: document.questions.flatMap(({ mark, listed, numbers }) => {
          const key = byMark.get(mark);
          const column = key && columnOf(tab, key);
          return column === undefined ? [] : [{ column, listed, numbers }];
        }),
      },
    ];
  });
  const forms = all.slice(0, MAX_FORMS);
  const isCut = all.length > forms.length;
  const parts = forms.map(({ formId, sheetId, name, id, at, status, removed, questions }) => [
    formId,
    sheetId,
    name,
    ...[id, at, status, removed].map((column) => column?.metadataId ?? 0),
    ...questions.map(({ column, listed, numbers }) => [column.metadataId, listed, numbers]),
  ]);
  return { forms, isCut, digest: hashText(JSON.stringify([isCut, ...parts]), 12) };
}

function columnOf({ columns, marks }: FormTab, key: ColumnKey): PlacedColumn | undefined {
  const [index, metadataId] = [columns.get(key), marks.get(key)];
  return index === undefined || metadataId === undefined ? undefined : { index, metadataId };
}
