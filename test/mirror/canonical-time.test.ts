import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalTime } from '../../src/mirror/canonical-time.ts';
import { propertyRuns } from '../support/property.ts';

describe('canonicalTime', () => {
  it.each([
    ['2026-03-01T10:20:30.123Z', '2026-03-01T10:20:30.123Z'],
    ['2026-03-01T10:20:30Z', '2026-03-01T10:20:30.000Z'],
    ['2026-03-01t10:20:30z', '2026-03-01T10:20:30.000Z'],
    ['2026-03-01 10:20:30+00', '2026-03-01T10:20:30.000Z'],
    ['2026-03-01T10:20:30,5Z', '2026-03-01T10:20:30.500Z'],
    ['2026-03-01T10:20+01:30', '2026-03-01T08:50:00.000Z'],
    ['2026-01-01T00:30:00+0100', '2025-12-31T23:30:00.000Z'],
    ['2026-03-01T10:20:30-00:00', '2026-03-01T10:20:30.000Z'],
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T10:20:30', '2026-03-01T10:20:30.000Z'],
    ['  2026-03-01\n', '2026-03-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0099-05-05', '0099-05-05T00:00:00.000Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
    ['9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59.999999Z'],
  ])('reads %j as %s', (text, canonical) => {
    expect(canonicalTime(text)).toBe(canonical);
  });

  it.each([
    ['.1234', '.1234'],
    ['.123456', '.123456'],
    ['.123400', '.1234'],
    ['.123000', '.123'],
    ['.1230009', '.123'],
    ['.1234567', '.123456'],
    ['.000001', '.000001'],
    ['.1', '.100'],
    [`.${'0'.repeat(100_000)}1`, '.000'],
  ])('keeps the fraction %j as %s', (fraction, kept) => {
    expect(canonicalTime(`2026-03-01T10:20:30${fraction}Z`)).toBe(`2026-03-01T10:20:30${kept}Z`);
  });

  it.each([
    ['', 'yesterday', '1767225600000', '2026', '2026-03', '20260301', '01/03/2026'],
    ['2026-02-29', '2026-04-31', '2026-00-10', '2026-13-01', '2026-01-00', '2026-01-32'],
    ['1900-02-29T00:00:00Z', '2026-04-31T00:00:00.000Z', '0000-01-01T00:00:00Z'],
    ['2026-01-01T24:00:00Z', '2026-01-01T23:60Z', '2026-01-01T23:59:60Z', '2026-01-01T7:00Z'],
    ['2026-01-01T00:00+24:00', '2026-01-01T00:00+01:60', '2026-01-01T00:00:00.Z', '2026-01-01Z'],
    ['0000-01-01', '0001-01-01T00:30+01:00', '9999-12-31T23:30-01:00', '+012026-01-01'],
    ['2026-01-01T00:00:00Z[UTC]', 'Thu, 01 Jan 2026 00:00:00 GMT', '2026-01-01T00:00:00\0Z'],
  ])('rejects %j', (...texts) => {
    expect(texts.filter((text) => canonicalTime(text) !== null)).toEqual([]);
  });

  it('reads the usual notation like every other one', () => {
    const digits = (most: number, width: number) =>
      fc.nat(most).map((number) => String(number).padStart(width, '0'));
    const day = fc.tuple(
      fc.oneof(digits(9999, 4), fc.constantFrom('1900', '2000', '2024', '0000', '0004')),
      digits(13, 2),
      digits(32, 2),
    );
    const time = fc.tuple(digits(24, 2), digits(60, 2), digits(60, 2));
    const fraction = fc.option(digits(999, 3), { nil: undefined });
    fc.assert(
      fc.property(day, time, fraction, (date, clock, millis) => {
        const text = `${date.join('-')}T${clock.join(':')}${millis === undefined ? '' : `.${millis}`}`;
        expect(canonicalTime(`${text}Z`)).toBe(canonicalTime(`${text}+00:00`));
      }),
      propertyRuns(3_000),
    );
  });

  const date = fc.date({
    min: new Date('0001-01-02T00:00:00Z'),
    max: new Date('9999-12-30T00:00:00Z'),
    noInvalidDate: true,
  });
  const offset = fc.integer({ min: -14 * 60, max: 14 * 60 });
  const micros = fc.integer({ min: 0, max: 999 });

  /** The instant as written at that offset. */
  function written(instant: Date, minutes: number, digits: number): string {
    const local = new Date(instant.getTime() + minutes * 60_000).toISOString().slice(0, -1);
    const [hh, mm] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    const two = (value: number): string => String(value).padStart(2, '0');
    const zone = `${minutes < 0 ? '-' : '+'}${two(hh)}:${two(mm)}`;
    return `${local}${String(digits).padStart(3, '0')}${zone}`;
  }

  it('gives one text for one instant, with any offset, and does not change its own result', () => {
    fc.assert(
      fc.property(date, offset, offset, micros, (instant, here, there, rest) => {
        const canonical = canonicalTime(written(instant, here, rest));
        expect(canonical).not.toBeNull();
        expect(canonicalTime(written(instant, there, rest))).toBe(canonical);
        expect(canonicalTime(canonical!)).toBe(canonical);
        expect(Date.parse(canonical!)).toBe(instant.getTime());
      }),
      propertyRuns(1_000),
    );
  });
});
