import { describe, expect, it } from 'vitest';
import { MODEL_COLUMNS } from '../../src/targets/sql/model-views.ts';
import { projectText } from '../support/readme.ts';

/** The names in backticks below a heading of docs/sql.md, in order. */
function namesBelow(heading: string): string[] {
  const [, rest = ''] = projectText('docs/sql.md').split(`### \`${heading}\`\n`);
  const [section = ''] = rest.split(/^#/m);
  const cells = section.split('\n').map((line) => line.split('|')[1] ?? '');
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

describe('the page on SQL databases', () => {
  it.each(Object.entries(MODEL_COLUMNS))('names every column of %s', (view, columns) => {
    expect(namesBelow(view)).toEqual(Object.keys(columns));
  });
});
