import { type ColumnKey, fieldKey, hashText } from '../api/metadata.ts';

/** A mirrored field as the sheet's catalogue holds it. */
export interface CatalogueField {
  readonly id: string;
  /** The current label; for a deleted field its last one. */
  readonly label: string;
  /** The header that we wrote last: another one in the sheet is people's own. */
  readonly header: string;
  readonly position: number;
  readonly removedAt: string | null;
  /** True when people deleted its column, which then stays gone. */
  readonly dropped: boolean;
  /** What kinds of answers its column has met. In a column of numbers only, digits that a cell keeps as text are read as a number. */
  readonly content: FieldContent;
  /** Earlier labels, newest first, with when they ended. */
  readonly former: readonly FormerLabel[];
}

/** See {@link CatalogueField.content}. `none`: there was no answer yet. */
export type FieldContent = 'none' | 'numbers' | 'mixed';

/** A label that a field had. */
export interface FormerLabel {
  readonly label: string;
  readonly until: string;
}

/** The catalogue of one form. */
export interface FieldCatalogue {
  readonly fields: readonly CatalogueField[];
  /** Of the submission's own columns those that people deleted. */
  readonly droppedOwn: readonly ColumnKey[];
}

/** A form without fields. */
export const EMPTY_CATALOGUE: FieldCatalogue = { fields: [], droppedOwn: [] };

/** One of the submission's own columns. */
export interface OwnColumn {
  readonly key: ColumnKey;
  readonly header: string;
  /** On which side of the answers a new tab has it. */
  readonly side: 'left' | 'right';
}

/** The submission's own columns, in the order of a new tab: as people read, what only the mirror needs last. */
export const OWN_COLUMNS: readonly OwnColumn[] = [
  { key: 's:at', header: 'Submitted at', side: 'left' },
  { key: 's:status', header: 'Status', side: 'left' },
  { key: 's:removed', header: 'Removed', side: 'right' },
  { key: 's:id', header: 'Submission ID', side: 'right' },
];

const FORMER_KEPT = 8;
const CONTENTS: readonly FieldContent[] = ['none', 'numbers', 'mixed'];

/** The keys of the columns that a tab of this catalogue should have. */
export function wantedColumns({ fields, droppedOwn }: FieldCatalogue): ColumnKey[] {
  return [
    ...OWN_COLUMNS.map(({ key }) => key).filter((key) => !droppedOwn.includes(key)),
    ...fields.filter((field) => !field.dropped).map((field) => fieldKey(field.id)),
  ];
}

/** Equal for equal sets of columns, whatever their order. */
export const columnsDigest = (keys: Iterable<string>): string =>
  hashText([...keys].sort().join('\n'), 12);

/** Labels of columns that people deleted. */
export const droppedLabels = (catalogue: FieldCatalogue): string[] => [
  ...OWN_COLUMNS.filter(({ key }) => catalogue.droppedOwn.includes(key)).map(
    ({ header }) => header,
  ),
  ...catalogue.fields.filter((field) => field.dropped).map((field) => field.label),
];

/** As compact JSON. */
export function encodeCatalogue({ fields, droppedOwn }: FieldCatalogue): string {
  return JSON.stringify({
    o: droppedOwn,
    f: fields.map((field) => [
      field.id,
      field.label,
      field.header === field.label ? 0 : field.header,
      field.position,
      field.removedAt ?? 0,
      field.dropped ? 1 : 0,
      CONTENTS.indexOf(field.content),
      ...field.former.slice(0, FORMER_KEPT).map(({ label, until }) => [label, until]),
    ]),
  });
}

/** The reverse; undefined for any other text. */
export function decodeCatalogue(text: string): FieldCatalogue | undefined {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return undefined;
  }
  const catalogue = raw as { o?: unknown; f?: unknown } | null;
  if (!Array.isArray(catalogue?.f)) return undefined;
  return {
    droppedOwn: Array.isArray(catalogue.o) ? (catalogue.o as ColumnKey[]) : [],
    fields: catalogue.f.flatMap(decodeField),
  };
}

function decodeField(raw: unknown): CatalogueField[] {
  if (!Array.isArray(raw)) return [];
  const [id, label, header, position, removedAt, dropped, content, ...former] = raw as unknown[];
  if (typeof id !== 'string' || typeof label !== 'string') return [];
  return [
    {
      id,
      label,
      header: typeof header === 'string' ? header : label,
      position: typeof position === 'number' ? position : 0,
      removedAt: typeof removedAt === 'string' ? removedAt : null,
      dropped: dropped === 1,
      content: CONTENTS[typeof content === 'number' ? content : 0] ?? 'none',
      former: former.flatMap((item) =>
        Array.isArray(item) && typeof item[0] === 'string' && typeof item[1] === 'string'
          ? [{ label: item[0], until: item[1] }]
          : [],
      ),
    },
  ];
}
