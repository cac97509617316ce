import { describe, expect, it } from 'vitest';
import { HEALTH_STATES } from '../../src/mirror/health-text.ts';
import { type Colour, PAIRS, PALETTE } from '../../src/web/palette.ts';
import { PAGE_STYLE } from '../../src/web/page-style.ts';
import { contrast } from './contrast.ts';

const surroundings = ['light', 'dark'] as const;

describe('the colours of the pages', () => {
  it('knows contrast as WCAG defines it', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.478, 3);
    expect(contrast('#ff0000', '#ff0000')).toBe(1);
  });

  it.each(surroundings)('are told apart in every pair that is used, %s', (surrounding) => {
    const poor = PAIRS.filter(({ front, back, least }) => {
      return contrast(PALETTE[front][surrounding], PALETTE[back][surrounding]) < least;
    });
    expect(poor).toEqual([]);
  });

  it('come from the palette alone, and each that is written in is in a pair', () => {
    const rules = PAGE_STYLE.replaceAll(/:root[^{]*\{[^}]*\}/g, '');
    expect(rules).not.toMatch(/#[0-9a-f]{3,8}\b|\brgb|\bhsl|opacity:/i);
    const fronts = new Set<string>(PAIRS.map(({ front }) => front));
    const backs = new Set<string>(PAIRS.map(({ back }) => back));
    const used = (property: RegExp): string[] =>
      [...rules.matchAll(property)].flatMap(([, value = '']) =>
        [...value.matchAll(/var\(--([\w-]+)/g)].map(([, name = '']) => name),
      );
    const isTone = (name: string): boolean => name === 'tone' || name === 'wash';
    const unpaired = [
      ...used(/(?<![-\w])color: ([^;}]+)/g).filter((name) => !fronts.has(name)),
      ...used(/background: ([^;}]+)/g).filter((name) => !backs.has(name) && name !== 'working'),
    ].filter((name) => !isTone(name));
    expect(unpaired).toEqual([]);
  });

  it('has a tone and a wash for every state', () => {
    for (const state of HEALTH_STATES) {
      expect(PAGE_STYLE).toContain(
        `.${state} { --tone: var(--${state}); --wash: var(--${state}-wash)`,
      );
      const pairs = PAIRS.filter(({ front }) => front === (state as Colour)).map(
        ({ back }) => back,
      );
      expect(pairs).toEqual(expect.arrayContaining(['paper', 'card', 'soft', `${state}-wash`]));
    }
  });
});
