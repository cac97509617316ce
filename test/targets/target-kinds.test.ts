import { describe, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { verifyCertificates } from '../../src/base/transport.ts';
import { describePostgresError } from '../../src/targets/sql/postgres/postgres-errors.ts';

describe('target URLs', () => {
  it.each([
    ['sqlite:./data/mirror.sqlite', 'sqlite', 'sqlite:./data/mirror.sqlite'],
    ['sqlite:///var/lib/m.sqlite', 'sqlite', 'sqlite:/var/lib/m.sqlite'],
    ['SQLite::memory:', 'sqlite', 'sqlite::memory:'],
    ['postgres://u:p%40ss@db:5433/forms', 'postgres', 'postgres://u@db:5433/forms'],
    [
      'postgresql://u:secret@db/forms?schema=My%20forms&sslmode=require&password=secret',
      'postgres',
      'postgresql://u@db/forms?schema=My%20forms',
    ],
    ['mysql://u:secret@db:3307/forms', 'mysql', 'mysql://u@db:3307/forms'],
    [
      'mariadb://u:s%23cret@db/forms?ssl-mode=VERIFY_IDENTITY&ssl-ca=/etc/ca.pem',
      'mysql',
      'mariadb://u@db/forms',
    ],
    ['bigquery://my-project/forms?location=eu', 'bigquery', 'bigquery://my-project/forms'],
    [
      'https://docs.google.com/spreadsheets/d/1AbcdefghijklmnopqrstuvwxYZ_-/edit#gid=0',
      'google-sheets',
      'https://docs.google.com/spreadsheets/d/1AbcdefghijklmnopqrstuvwxYZ_-/edit',
    ],
  ])('L15: %s is understood and shown without its password', (url, kind, shown) => {
    const address = parseTargetUrl(url);
    expect(address).toMatchObject({ kind, shown });
    expect(JSON.stringify(address)).not.toMatch(/secret|p%40ss/);
  });

  it.each([
    '',
    'sqlite:',
    'oracle://u:secret@host/db',
    'mysql://u:sec#ret@host/db',
    'mysql://u:secret@host',
    'mysql://u:secret@host/db?ssl-mode=PREFERRED',
    'mysql://u:secret@host/db?password=secret',
    'postgres://u:sec#ret@host/db',
    'postgres://u:secret@host',
    'postgres://u:secret@host/db?currentSchema=forms',
    'postgres://u:secret@host/db?schema=',
    `postgres://u:secret@host/db?schema=${'x'.repeat(64)}`,
    'bigquery://u:secret@my-project/forms',
    'bigquery://my-project',
    'bigquery://My Project/secret',
    'bigquery://my-project/forms?location=secret%20place',
    'bigquery://my-project/forms?key=secret',
    'bigquery://my-project/forms?endpoint=http://secret.example.com:80',
    'bigquery://my-project/forms?max-gb-per-job=0',
    'docs.google.com/spreadsheets/d/1Abc',
  ])('%j is refused with an example and unquoted', (url) => {
    const refusal = { code: 'SETTINGS', message: expect.not.stringMatching(/sec(#?)ret/) };
    expect(() => parseTargetUrl(url)).toThrow(expect.objectContaining(refusal));
  });

  it.each([
    ['sqlite::memory:', []],
    ['postgres://u:p@nowhere.invalid/d', ['pg']],
    ['mysql://u:p@nowhere.invalid/d', ['mysql2']],
  ])('%s loads the driver of its kind and no other', (url, drivers) => {
    const kinds = join(import.meta.dirname, '../../src/targets/target-kinds.ts');
    const code = `
      import { registerHooks } from 'node:module';
      const loaded = new Set();
      registerHooks({
        resolve(specifier, context, next) {
          loaded.add(specifier.split('/')[0]);
          return next(specifier, context);
        },
      });
      const { parseTargetUrl } = await import(${JSON.stringify(kinds)});
      await parseTargetUrl(${JSON.stringify(url)}).open('a');
      const heavy = ['pg', 'mysql2', 'googleapis', 'google-auth-library', '@electric-sql'];
      console.log(JSON.stringify(heavy.filter((name) => loaded.has(name))));`;
    const args = ['--input-type=module', '--no-warnings', '--eval', code];
    expect(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))).toEqual(drivers);
  });

  it('say how to get the packages for BigQuery if they are not installed', () => {
    const kinds = join(import.meta.dirname, '../../src/targets/target-kinds.ts');
    const code = `
      import { registerHooks } from 'node:module';
      registerHooks({
        resolve(specifier, context, next) {
          return next(specifier.replace('target-bigquery', 'target-nowhere'), context);
        },
      });
      const { parseTargetUrl } = await import(${JSON.stringify(kinds)});
      await parseTargetUrl('bigquery://my-project/forms').open('a').catch(({ message }) => console.log(message));`;
    const args = ['--input-type=module', '--no-warnings', '--eval', code];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toMatch(
      /^This installation lacks the BigQuery target: install .*\n$/,
    );
  });

  it('check certificates unless they disable it', () => {
    const modeOf = (text: string): string | null => {
      const options = new URLSearchParams(text);
      verifyCertificates(options);
      return options.get('sslmode');
    };
    expect(modeOf('sslmode=require')).toBe('verify-full');
    expect(modeOf('sslmode=no-verify')).toBe('no-verify');
    expect(modeOf('sslmode=require&uselibpqcompat=true')).toBe('require');
    expect(modeOf('')).toBeNull();
  });
});

describe('PostgreSQL errors', () => {
  const coded = (code: string, message = 'secret answer', rest = {}): Error =>
    Object.assign(new Error(message), { code, detail: 'Key (x)=(secret)', ...rest });

  it.each([
    ['28P01', 'TARGET_DENIED'],
    ['3D000', 'TARGET_DENIED'],
    ['42501', 'TARGET_DENIED'],
    ['25006', 'TARGET_DENIED'],
    ['53100', 'TARGET_FULL'],
    ['53300', 'TARGET_UNREACHABLE'],
    ['57P01', 'TARGET_UNREACHABLE'],
    ['57P03', 'TARGET_UNREACHABLE'],
    ['08006', 'TARGET_UNREACHABLE'],
    ['40P01', 'TARGET_FAILED'],
    ['55P03', 'TARGET_FAILED'],
    ['57014', 'TARGET_FAILED'],
    ['42601', 'TARGET_FAILED'],
    ['ECONNREFUSED', 'TARGET_UNREACHABLE'],
    ['ENOTFOUND', 'TARGET_UNREACHABLE'],
    ['ECONNRESET', 'TARGET_UNREACHABLE'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'TARGET_DENIED'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'TARGET_DENIED'],
  ])('%s is %s, in our own words', (code, expected) => {
    const description = describePostgresError(coded(code));
    expect(description).toMatchObject({ code: expected });
    expect(JSON.stringify(description)).not.toContain('secret');
  });

  it.each([
    ['42501', 'the user may not do this there', /GRANT/],
    ['25006', 'the server accepts no writes: it is a replica or was set to read only', /primary/],
  ])('%s has its remedy: %s', (code, what, remedy) => {
    expect(describePostgresError(coded(code))).toMatchObject({
      what,
      remedy: expect.stringMatching(remedy),
    });
  });

  it('without a code are recognized by the words of the driver', () => {
    const words = (message: string): unknown => describePostgresError(new Error(message))?.code;
    expect(words('Connection terminated unexpectedly')).toBe('TARGET_UNREACHABLE');
    expect(words('Query read timeout')).toBe('TARGET_UNREACHABLE');
    expect(words('timeout expired')).toBe('TARGET_UNREACHABLE');
    expect(words('The server does not support SSL connections')).toBe('TARGET_DENIED');
    expect(words('secret')).toBeUndefined();
    expect(describePostgresError(new AggregateError([coded('ECONNREFUSED')]))).toMatchObject({
      code: 'TARGET_UNREACHABLE',
    });
  });

  it('L6: blame a row only if a row can be the cause, naming no value', () => {
    const theirs = { constraint: 'theirs' };
    expect(describePostgresError(coded('23514', 'secret', theirs))).toMatchObject({
      what: 'PostgreSQL refused a statement (SQLSTATE 23514, constraint theirs)',
      refused: 'statement',
    });
    expect(describePostgresError(coded('22P05'))).toMatchObject({ refused: 'row' });
    expect(describePostgresError(coded('54000'))).toMatchObject({ refused: 'row' });
    // Too large for an index that people added.
    expect(describePostgresError(coded('54000', '', theirs))).toMatchObject({
      refused: 'statement',
    });
    const odd = describePostgresError(coded('23502', '', { column: 'x"); secret' }));
    expect(odd?.what).not.toContain('secret');
    expect(describePostgresError(coded('42703'))).not.toHaveProperty('refused');
  });
});
