import { expect, it } from 'vitest';
import { foreseenDocument } from '../../src/cli/foreseen-report.ts';
import { JsonText } from '../../src/mirror/types.ts';

it('L10: --values --json shows all digits, of numbers in lists as well', () => {
  const text = '[1234567890123456789.5,{"a":1e400}]';
  const cell = { column: 'Sums', fieldId: 'f1', before: null, after: new JsonText(text) };
  const document = foreseenDocument(
    {
      subject: { form: { id: 'form-0', slug: 'sums', name: 'Sums' }, target: 'default' },
      total: { inserted: 0, updated: 1, restored: 0, deleted: 0 },
      rows: [{ kind: 'updated', submissionId: 'a', cells: [cell] }],
    },
    true,
  );
  expect(JSON.stringify(document)).toContain('"after":[1234567890123456789.5,{"a":1');
  expect(JSON.stringify(document)).not.toContain('null}');
});
