import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html } from '../../src/web/html.ts';
import { propertyRuns } from '../support/property.ts';

/** Every UTF-16 unit, including lone surrogates. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }))
  .map((units) => String.fromCharCode(...units));

describe('html', () => {
  it('escapes every part, at any place', () => {
    const evil = `"><script>alert('x')</script>&`;
    expect(html`<a title="${evil}">${evil}</a>`.text).toBe(
      '<a title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;">&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;</a>',
    );
  });

  it('inserts HTML unchanged, lists one by one, and nothing for missing values', () => {
    const rows = ['a', '<b>'].map((name) => html`<li>${name}</li>`);
    const { text } = html`${rows}|${null}${undefined}${false}|${0}`;
    expect(text).toBe('<li>a</li><li>&lt;b&gt;</li>||0');
  });

  it('shows characters that would reorder a line, and characters that no document may contain', () => {
    expect(html`${'a\u202Eb\0c\uD800d'}`.text).toBe('a\uFFFDb\uFFFDc\uFFFDd');
  });

  it('lets no text become markup', () => {
    const isText = (text: string): boolean =>
      !/[<>"']|&(?!(amp|lt|gt|quot|#39);)/.test(html`${text}`.text);
    const property = fc.property(anyText, isText);
    expect(() => fc.assert(property, propertyRuns(500))).not.toThrow();
  });
});
