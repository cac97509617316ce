import { describe, expect, it } from 'vitest';
import { MODEL_COLUMNS } from '../../src/targets/sql/model-views.ts';
import { projectText } from '../support/readme.ts';

describe('the page for analysts', () => {
  it('names every column of the views over all forms, and what it is', () => {
    const lines = projectText('docs/for-analysts.md')
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' '));
    for (const columns of Object.values(MODEL_COLUMNS)) {
      for (const [name, text] of Object.entries(columns)) {
        expect(lines).toContain(`| \`${name}\` | ${text} |`);
      }
    }
  });
});
