import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectText } from './support/readme.ts';

/** Odd turns of phrase. Some hits are correct, so they are counted, not forbidden. */
const ODD = [
  /\bwhat (?:is|was|are|were|can|cannot|had|has|it|they|he|one|people|there|comes?|came|lies|stands)\b(?! (?:new|next|happens)\b)/gi,
  /\bwh(?:o|at|ich)ever\b/gi,
  /\btold\b|\btells\b|\btell(?:ing)? of\b/gi,
  /\bsa(?:ys?|id) so\b|\bthat is said\b/gi,
  /\banew\b/gi,
  /\b(?<!left |leave |let )alone\b/gi,
  /\bstands?\b(?!-in)/gi,
  /\b(?<!there )(?:is|are|was|were) no(?: one)?\b(?! longer| more)/gi,
  /\b(?:nobody|somebody)\b/gi,
  /\bmeanwhile\b|\bbesides\b/gi,
  /\bbut for\b|\bsave for\b|\blest\b/gi,
  /\bas (?:it|they) (?:is|are|was|were)\b/gi,
  /(?:^|[.;:] )Of (?:which|whom|them|these|those|what)\b/g,
  /\bfor one\b(?! (?:form|target|run|range|row|of|who|request))/gi,
  /\bbec(?:omes|ame|ome) of\b/gi,
  /\bdear(?:er)?\b|\bthereby\b|\bwherein\b|\bhereby\b/gi,
];

/** Retired names, by the names that replaced them. */
const RETIRED: Readonly<Record<string, RegExp>> = {
  held: /\bwithheld\b|\bwithhold/i,
  'write-back': /\bmarking\b/i,
  run: /\b(?:full|first|incremental|windowed|every|each|one) pass\b/i,
  'deletion guard': /\bbrake\b/i,
  unselected: /\bunpicked\b/i,
};

const PROJECT = resolve(import.meta.dirname, '..');
const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));

const PARTS = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g;
const code = filesIn('src', '.ts').flatMap((file) =>
  [...projectText(file).matchAll(PARTS)].map(([part]) => part),
);
const TEXTS = {
  docs: ['README.md', 'SECURITY.md', '.env.example', ...filesIn('docs', '.md')].map(projectText),
  messages: code.filter((part) => !part.startsWith('/') && part.includes(' ')),
  comments: code.filter((part) => part.startsWith('/')),
};

/** The maximum number of hits per thousand words. */
const MOST = 0.8;

describe.each(Object.entries(TEXTS))('the words of %s', (_, parts) => {
  const text = parts.join('\n').replaceAll(/\n\s*\*\s?/g, ' ');

  it(`has at most ${MOST} odd turns of phrase per thousand words`, () => {
    const hits = ODD.flatMap((pattern) => text.match(pattern) ?? []).length;
    expect((hits / text.split(/\s+/).length) * 1_000).toBeLessThanOrEqual(MOST);
  });

  it.each(Object.entries(RETIRED))('uses %s, not the former name', (_name, pattern) => {
    expect(parts.flatMap((part) => pattern.exec(part)?.[0] ?? [])).toEqual([]);
  });
});
