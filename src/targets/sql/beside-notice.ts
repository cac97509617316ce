import type { TargetNotice } from '../../mirror/notices.ts';
import type { SqlDialect } from './dialect.ts';
import type { FieldColumn } from './field-column.ts';

/** What is to be known of a field's columns. */
type SplitField = Pick<FieldColumn, 'label' | 'column' | 'textColumn'>;

/** Most columns in a sentence. */
const MOST_NAMES = 3;

/** Names the columns of texts beside others, so that nobody takes the numbers of a question for all of its answers. */
export function besideNotices(
  dialect: Pick<SqlDialect, 'shownRelation'>,
  { table, view }: { readonly table: string; readonly view: string },
  fields: readonly SplitField[],
): TargetNotice[] {
  const split = fields.filter(({ textColumn }) => textColumn !== null);
  const [first] = split;
  if (first === undefined) return [];
  const pairs = split.map(({ column, textColumn }) => `${column} in ${textColumn ?? ''}`);
  const more = split.length > MOST_NAMES ? ` and ${split.length - MOST_NAMES} more` : '';
  const named = `${pairs.slice(0, MOST_NAMES).join(', ')}${more}`;
  return [
    {
      code: 'ANSWERS_BESIDE',
      blocks: false,
      tab: table,
      columns: split.map(({ label }) => label),
      rows: [],
      message: `In table ${dialect.shownRelation(table)} answers that their column can't hold as they are, as texts among numbers, stand beside it: those of ${named}.`,
      remedy: `Whoever needs every answer reads both columns; in ${dialect.shownRelation(view)} the second one of ${first.column} is named "${first.label} (text)".`,
    },
  ];
}
