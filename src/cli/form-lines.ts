import type { Form } from '../mirror/types.ts';
import { oneLine, textTable } from './text-table.ts';
import { plural } from './words.ts';

/** Each form with its fields, as lines to read and to copy from. */
export function formLines(forms: readonly Form[]): string[] {
  return forms.flatMap((form) => {
    const title = `${oneLine(form.name)} (${form.slug}): ${plural(form.fields.length, 'field')}`;
    const rows = form.fields.map(({ id, label }) => [`  ${id}`, label]);
    const [, ...lines] = textTable([{ title: '' }, { title: '' }], rows, { maxCell: 70 });
    return [title, ...lines, ''];
  });
}

/** Settings that pick these forms' fields: whole forms, and field by field. */
export function pickLines(forms: readonly Form[]): string[] {
  const whole = forms.map(({ slug }) => `${slug}:*`).join(',');
  const single = forms.flatMap(({ fields }) => fields.map(({ id }) => id)).join(',');
  const lines = ['# Every field, those included that only old answers still carry:'];
  lines.push(`TARGET_FIELDS='${whole}'`);
  if (single !== '')
    lines.push(
      '# Or field by field; take away what should stay at the source:',
      `TARGET_FIELDS='${single}'`,
    );
  return lines;
}
