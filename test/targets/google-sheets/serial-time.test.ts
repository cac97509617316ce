import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalTime } from '../../../src/mirror/canonical-time.ts';
import { SerialTime } from '../../../src/targets/google-sheets/serial-time.ts';
import { propertyRuns } from '../../support/property.ts';

const ZONES = [
  'UTC',
  'Etc/GMT',
  'Europe/Prague',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'GMT-07:00',
];

describe('dates as serial numbers', () => {
  it('count days from 1899-12-30 on the clocks of the spreadsheet’s time zone', () => {
    const prague = new SerialTime('Europe/Prague');
    expect(prague.toSerial('2024-01-01T11:00:00.000Z')).toBe(45_292.5);
    expect(prague.toSerial('2024-07-01T10:00:00.000Z')).toBe(45_474.5);
    expect(new SerialTime('UTC').toSerial('2024-01-01T12:00:00.000Z')).toBe(45_292.5);
    expect(new SerialTime('GMT-07:00').toSerial('2024-01-01T19:00:00.000Z')).toBe(45_292.5);
    expect(new SerialTime('UTC').toSerial('1899-12-30T00:00:00.000Z')).toBe(0);
  });

  it('reads an unknown zone as UTC', () => {
    expect(new SerialTime('Mars/Olympus').toSerial('2024-01-01T12:00:00.000Z')).toBe(45_292.5);
  });

  it('distinguishes the two times of the hour that autumn repeats', () => {
    const prague = new SerialTime('Europe/Prague');
    const [first, second] = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'];
    const serials = [first, second].map((time) => prague.toSerial(time) ?? 0);
    expect(Math.abs((serials[0] ?? 0) - (serials[1] ?? 0))).toBeLessThan(1e-9);
    expect(serials.map((serial) => prague.toTime(serial))).toEqual([first, second]);
  });

  it('L10: restores every millisecond of 178 years unchanged, in every zone', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.date({
          min: new Date('1901-01-01T00:00:00Z'),
          max: new Date('2078-12-31T00:00:00Z'),
          noInvalidDate: true,
        }),
        (zone, date) => {
          const time = canonicalTime(date.toISOString()) ?? '';
          const sheet = new SerialTime(zone);
          const serial = sheet.toSerial(time);
          expect(serial).toBeDefined();
          expect(sheet.toTime(serial ?? 0)).toBe(time);
        },
      ),
      propertyRuns(3_000),
    );
  });

  it('L10: restores microseconds, or reports that it cannot', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer({ min: Date.UTC(1, 0), max: Date.UTC(9999, 0) }),
        fc.nat(999),
        (zone, ms, micros) => {
          const iso = new Date(ms).toISOString().slice(0, -1);
          const time = canonicalTime(`${iso}${String(micros).padStart(3, '0')}Z`) ?? '';
          const sheet = new SerialTime(zone);
          const serial = sheet.toSerial(time);
          const back = serial === undefined ? 'not as a date' : sheet.toTime(serial);
          const recent = ms > Date.UTC(1990, 0) && ms < Date.UTC(2079, 0) && micros !== 20;
          expect(recent ? [time] : [time, 'not as a date']).toContain(back);
        },
      ),
      propertyRuns(3_000),
    );
  });
});
