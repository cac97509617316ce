import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashedCell, hashInput, keyFingerprint, looksHashed } from '../../src/mirror/cells.ts';
import { ExactNumber } from '../../src/mirror/types.ts';

const KEY = 'k'.repeat(32);

describe('a hashed answer', () => {
  it.each([
    ['case', 'Jana@Example.COM', 'jana@example.com'],
    ['white space around it', ' \t\u00A0jana@example.com\r\n', 'jana@example.com'],
    ['a composed and a decomposed accent', 'Jana Dvořáková', 'jana dvor\u030Ca\u0301kova\u0301'],
    ['full-width letters', 'ｊａｎａ＠example.com', 'jana@example.com'],
    ['a ligature', 'ﬁne', 'fine'],
    ['ß', 'Straße', 'STRASSE'],
    ['the Greek sigmas', 'ΟΔΟΣ', 'οδος'],
    ['a number and its text', 5, '5'],
    [
      'an exact number and its text',
      new ExactNumber('12345678901234567890'),
      '12345678901234567890',
    ],
  ])('is the same with any %s', (_what, one, other) => {
    expect(hashedCell(one, KEY)).toBe(hashedCell(other, KEY));
  });

  it.each([
    ['white space within', 'a b', 'a  b'],
    ['an accent', 'Dvořák', 'Dvorak'],
    ['a leading zero', '0042', 42],
    ['a list and its only text', '["a"]', 'a'],
  ])('differs by %s', (_what, one, other) => {
    expect(hashedCell(one, KEY)).not.toBe(hashedCell(other, KEY));
  });

  it('is the HMAC-SHA-256 of its normalized text, in hexadecimal digits: others can compute it', () => {
    const hash = createHmac('sha256', KEY).update('jana@example.com').digest('hex');
    expect(hashedCell(' Jana@example.com', KEY)).toBe(hash);
    expect(looksHashed(hash)).toBe(true);
    expect([
      looksHashed('jana@example.com'),
      looksHashed(hash.toUpperCase()),
      looksHashed(null),
    ]).toEqual([false, false, false]);
  });

  it('does not exist if the answer is blank', () => {
    expect([null, '', ' \n\u3000'].map((cell) => hashedCell(cell, KEY))).toEqual([
      null,
      null,
      null,
    ]);
  });

  it.each(['İstanbul', 'ǅ', 'ᾳ', 'ŉ', '\u0345a', 'ﬃ', '\u1E9E'])(
    '%s is normalized only once',
    (text) => {
      expect(hashInput(hashInput(text))).toBe(hashInput(text));
    },
  );

  it('L15: the fingerprint of a key differs between keys and is not the hash of an answer', () => {
    expect(keyFingerprint(KEY)).not.toBe(keyFingerprint(`${KEY}k`));
    const hash = hashedCell(' which key this is', KEY);
    expect(hash).not.toEqual(expect.stringContaining(keyFingerprint(KEY)));
  });
});
