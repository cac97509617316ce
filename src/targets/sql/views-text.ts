import { createHash } from 'node:crypto';
import type { ShownForm } from './answers-view.ts';
import type { SqlDialect } from './dialect.ts';
import { type ColumnType, type FieldColumn, MORE_COLUMN } from './field-column.ts';
import { liveView, MODEL_VIEWS, modelView } from './model-views.ts';
import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';

const TYPES: readonly ColumnType[] = ['text', 'number', 'json'];
const STORAGES = ['column', 'more'] as const;

/** A field of every kind that the views write in a way of its own. */
const FIELDS: readonly FieldColumn[] = STORAGES.flatMap((storage) =>
  TYPES.flatMap((type) => STORAGES.map((textStorage) => ({ storage, type, textStorage }))),
).map(({ storage, type, textStorage }, ordinal) => ({
  id: `f${ordinal}`,
  label: `Field ${ordinal}`,
  position: ordinal,
  ordinal,
  column: `c${ordinal}`,
  storage,
  type,
  textColumn: type === 'text' ? null : `t${ordinal}`,
  textStorage,
  numberColumn: type === 'text' ? `n${ordinal}` : null,
  viewLabel: null,
  textViewLabel: null,
  numberViewLabel: null,
  removedAt: null,
}));

const SAMPLE: ShownForm = {
  form: { id: 'form', slug: 'form', name: 'Form' },
  table: 'form',
  view: 'form_labelled',
  fields: FIELDS,
  history: null,
  present: new Set(
    [
      ...SYSTEM_COLUMNS,
      MORE_COLUMN,
      ...FIELDS.flatMap(({ column, textColumn, numberColumn }) => [
        column,
        textColumn,
        numberColumn,
      ]),
    ].filter((name) => name !== null),
  ),
};

const texts = new WeakMap<SqlDialect, string>();

/**
 * A digest of how this release writes the views over forms, by a sample of them: views that were kept with another one are made
 * anew by the first pass of a release that writes them otherwise.
 */
export function viewsText(dialect: SqlDialect): string {
  const known = texts.get(dialect);
  if (known !== undefined) return known;
  const views = [
    ...MODEL_VIEWS.map((view) => modelView(view, [SAMPLE], dialect)),
    liveView(SAMPLE, dialect),
  ];
  const text = createHash('sha256').update(JSON.stringify(views)).digest('hex').slice(0, 16);
  texts.set(dialect, text);
  return text;
}
