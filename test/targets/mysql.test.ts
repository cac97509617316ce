import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseMysqlUrl, tlsOptions } from '../../src/targets/sql/mysql/mysql-address.ts';
import { mysqlTime } from '../../src/targets/sql/mysql/mysql-cells.ts';
import {
  describeMysqlError,
  MysqlError,
  mysqlRowDefect,
  RowTooLarge,
  safeError,
} from '../../src/targets/sql/mysql/mysql-errors.ts';
import { doubleLiteral, literal, textLiteral } from '../../src/targets/sql/mysql/mysql-literal.ts';
import { translated, withValues } from '../../src/targets/sql/mysql/mysql-statement.ts';

describe('what stands in a statement for MySQL', () => {
  it('L15: is a text whatever is in it, with or without NO_BACKSLASH_ESCAPES', () => {
    expect(textLiteral("it's")).toBe("'it''s'");
    expect(textLiteral("\\'; DROP TABLE x; --")).toBe(
      `_utf8mb4 x'${Buffer.from("\\'; DROP TABLE x; --").toString('hex')}'`,
    );
    expect(textLiteral('a\0b')).toBe("_utf8mb4 x'610062'");
    expect(literal('Ž 😀 "x" `y` $1')).toBe('\'Ž 😀 "x" `y` $1\'');
  });

  it('L10: is a number with all its digits', () => {
    expect([0, -1.5, 1e21, 5e-324].map(doubleLiteral)).toEqual([
      '0e0',
      '-1.5e0',
      '1e+21',
      '5e-324',
    ]);
    expect(literal(9_007_199_254_740_991)).toBe('9007199254740991');
    expect(literal(12_345_678_901_234_567_890n)).toBe('12345678901234567890');
    expect(() => doubleLiteral(Number.NaN)).toThrow(TypeError);
  });

  it('is a list, none of them matching nothing', () => {
    expect(withValues('id IN ($1)', [['a', "b'"]])).toBe("id IN ('a', 'b''')");
    expect(withValues('id IN ($1)', [[]])).toBe('id IN (NULL)');
  });

  it('takes the place of parameters alone, in any order and as often as they come', () => {
    const sql = `SELECT '$1', "$2", \`$1\` WHERE a = $2 AND b = $1 AND c = $2 AND d = $10`;
    const params = ['one', null, 3, 4, 5, 6, 7, 8, 9, 'ten'];
    expect(withValues(sql, params)).toBe(
      `SELECT '$1', "$2", \`$1\` WHERE a = NULL AND b = 'one' AND c = NULL AND d = 'ten'`,
    );
    expect(() => withValues('$2', ['one'])).toThrow(TypeError);
  });

  it('is a time in UTC with six digits, as a column shows it', () => {
    expect(mysqlTime('2026-03-01T12:00:00.123Z')).toBe('2026-03-01 12:00:00.123000');
    expect(mysqlTime('2026-03-01T12:00:00.123456Z')).toBe('2026-03-01 12:00:00.123456');
  });
});

describe('shared statements as MySQL has them', () => {
  const plain = (sql: string, params: unknown[] = []): unknown => {
    const result = translated(sql, params as string[]);
    return result.kind === 'plain' ? result.sql : result;
  };

  it('ON CONFLICT', () => {
    expect(
      plain(
        `INSERT INTO t ("key", value) VALUES ($1, $2)
         ON CONFLICT ("key") DO UPDATE SET value = excluded.value, n = t.n + 1`,
        ['excluded.x', 'v'],
      ),
    ).toBe(
      `INSERT INTO t ("key", value) VALUES ('excluded.x', 'v') ON DUPLICATE KEY UPDATE value = VALUES(value), n = t.n + 1`,
    );
    expect(
      plain(
        'INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4) ON CONFLICT (a) DO NOTHING',
        [1, 2, 3, 4],
      ),
    ).toBe('INSERT INTO t (a, b) VALUES (1, 2), (3, 4) ON DUPLICATE KEY UPDATE a = a');
    expect(plain('INSERT INTO t (a) VALUES (1)')).toBe('INSERT INTO t (a) VALUES (1)');
  });

  it('RETURNING of what an INSERT added: row by row, each with what it returns', () => {
    expect(
      translated(
        'INSERT INTO t (a, b, c) VALUES ($1, $2, 1), ($3, $4, 1) ON CONFLICT (a, b) DO NOTHING RETURNING a, b',
        ['x', "back\\slash 'quoted'", 'y', null],
      ),
    ).toMatchObject({
      kind: 'inserting',
      rows: [
        { returned: { a: 'x', b: "back\\slash 'quoted'" } },
        {
          sql: "INSERT INTO t (a, b, c) VALUES ('y', NULL, 1) ON DUPLICATE KEY UPDATE a = a",
          returned: { a: 'y', b: null },
        },
      ],
    });
  });

  it('RETURNING of an upsert: read by its keys', () => {
    expect(
      translated(
        'INSERT INTO t (k, n, at) VALUES ($1, $3, $2) ON CONFLICT (k) DO UPDATE SET n = t.n + 1 RETURNING n',
        ['a', 'now', 7],
      ),
    ).toEqual({
      kind: 'upserting',
      write: "INSERT INTO t (k, n, at) VALUES ('a', 7, 'now') ON DUPLICATE KEY UPDATE n = t.n + 1",
      read: "SELECT n FROM t WHERE (k) IN (('a'))",
    });
  });

  it('RETURNING of DELETE and UPDATE: read and locked first', () => {
    expect(translated('DELETE FROM t WHERE a IN ($1) RETURNING id', [['x']])).toEqual({
      kind: 'returning',
      read: "SELECT id FROM t WHERE a IN ('x') FOR UPDATE",
      write: "DELETE FROM t WHERE a IN ('x')",
    });
    expect(
      translated('UPDATE t SET s = $1 WHERE id IN ($2) AND s IS DISTINCT FROM $1 RETURNING id', [
        'new',
        ['a'],
      ]),
    ).toEqual({
      kind: 'returning',
      read: "SELECT id FROM t WHERE id IN ('a') AND NOT (s <=> 'new') FOR UPDATE",
      write: "UPDATE t SET s = 'new' WHERE id IN ('a') AND NOT (s <=> 'new')",
    });
  });

  it('a DELETE with another name for its table, and comparisons that know NULL', () => {
    expect(plain('DELETE FROM t AS f WHERE f.a = 1')).toBe('DELETE f FROM t AS f WHERE f.a = 1');
    expect(plain('SELECT 1 WHERE a IS NOT DISTINCT FROM $1', [null])).toBe(
      'SELECT 1 WHERE a <=> NULL',
    );
    expect(
      plain(`SELECT 1 WHERE _more IS DISTINCT FROM if(f(_more, '$.a'), g(h(_more)), _more)`),
    ).toBe(`SELECT 1 WHERE NOT (_more <=> if(f(_more, '$.a'), g(h(_more)), _more))`);
  });

  it('nothing is guessed', () => {
    expect(() => translated('MERGE INTO t USING u RETURNING x', [])).toThrow(TypeError);
    expect(() => translated('INSERT INTO t (a) VALUES (1) RETURNING a', [])).toThrow(TypeError);
  });
});

describe('MySQL addresses', () => {
  it('check certificates as they say', () => {
    const ssl = (options: string): unknown =>
      tlsOptions(parseMysqlUrl(`mysql://u:p@h/d${options}`)).ssl;
    expect(ssl('')).toBeUndefined();
    expect(ssl('?ssl-mode=DISABLED')).toBeUndefined();
    expect(ssl('?ssl-mode=required')).toMatchObject({ rejectUnauthorized: false });
    expect(ssl('?ssl-mode=VERIFY_CA')).toMatchObject({
      rejectUnauthorized: true,
      verifyIdentity: false,
    });
    expect(ssl('?ssl-mode=VERIFY_IDENTITY')).toMatchObject({
      rejectUnauthorized: true,
      verifyIdentity: true,
      minVersion: 'TLSv1.2',
    });
    expect(() => ssl('?ssl-mode=VERIFY_CA&ssl-ca=/no/such/file.pem')).toThrow(/ssl-ca/);
  });

  it('are one place for two users, by either name', () => {
    const place = (url: string): string => parseMysqlUrl(url).place;
    expect(place('mariadb://a:x@Host:3306/db')).toBe(
      place('mysql://b:y@host/db?ssl-mode=REQUIRED'),
    );
    expect(place('mysql://a@host/db')).not.toBe(place('mysql://a@host/other'));
  });

  it('say what others on the way could do', () => {
    const weak = (url: string): string =>
      parseMysqlUrl(url)
        .transport.weaknesses.map((one) => one.slice(0, 20))
        .join();
    expect(weak('mysql://u:long-enough-1@db.example.com/d?ssl-mode=VERIFY_IDENTITY')).toBe('');
    expect(weak('mysql://u:long-enough-1@db.example.com/d?ssl-mode=VERIFY_CA&ssl-ca=/x')).toBe('');
    expect(weak('mysql://u:long-enough-1@db.example.com/d')).toBe('asks for no TLS, so ');
    expect(weak('mysql://u:long-enough-1@db.example.com/d?ssl-mode=DISABLED')).toBe(
      'turns TLS off, so th',
    );
    expect(weak('mysql://u:long-enough-1@db.example.com/d?ssl-mode=REQUIRED')).toContain(
      'does not check',
    );
    expect(weak('mysql://u:long-enough-1@db.example.com/d?ssl-mode=VERIFY_CA')).toContain(
      'does not check',
    );
    expect(weak('mysql://u:p@127.0.0.1/d')).toBe('');
    expect(parseMysqlUrl('mysql://u@localhost/d?socket=/run/mysqld.sock').connection).toMatchObject(
      {
        socketPath: '/run/mysqld.sock',
      },
    );
  });
});

describe('MySQL errors', () => {
  const ofServer = (errno: number, message = 'secret answer', code = 'ER_X'): Error =>
    safeError(
      Object.assign(new Error(message), {
        errno,
        code,
        sqlState: '42000',
        sql: "VALUES ('secret')",
      }),
    );

  it.each([
    [1045, 'TARGET_DENIED'],
    [1044, 'TARGET_DENIED'],
    [1049, 'TARGET_DENIED'],
    [1142, 'TARGET_DENIED'],
    [1290, 'TARGET_DENIED'],
    [1698, 'TARGET_DENIED'],
    [1792, 'TARGET_DENIED'],
    [1836, 'TARGET_DENIED'],
    [1021, 'TARGET_FULL'],
    [1114, 'TARGET_FULL'],
    [1040, 'TARGET_UNREACHABLE'],
    [1203, 'TARGET_UNREACHABLE'],
    [1053, 'TARGET_UNREACHABLE'],
    [1927, 'TARGET_UNREACHABLE'],
    [1153, 'TARGET_FAILED'],
    [1205, 'TARGET_FAILED'],
    [1213, 'TARGET_FAILED'],
    [1064, 'TARGET_FAILED'],
    [1146, 'TARGET_FAILED'],
  ])('%i is %s, in words of our own', (errno, code) => {
    const description = describeMysqlError(ofServer(errno));
    expect(description).toMatchObject({ code });
    expect(description?.remedy).not.toBe('');
    expect(JSON.stringify(description)).not.toContain('secret');
  });

  it.each([
    ['ECONNREFUSED', 'host and port'],
    ['ENOTFOUND', 'spelling'],
    ['PROTOCOL_CONNECTION_LOST', 'next pass goes on'],
    ['PROTOCOL_SEQUENCE_TIMEOUT', 'next pass goes on'],
    ['HANDSHAKE_NO_SSL_SUPPORT', 'ssl-mode=DISABLED'],
    ['HANDSHAKE_SSL_ERROR', 'ssl-ca'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'ssl-ca'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'ssl-ca'],
  ])('%s has its remedy', (code, words) => {
    const error = safeError(Object.assign(new Error('secret'), { code, errno: -111 }));
    expect(describeMysqlError(error)?.remedy).toContain(words);
  });

  it('of the driver are known by its words', () => {
    const words = (message: string): unknown =>
      describeMysqlError(safeError(new Error(message)))?.code;
    expect(words("Can't add new command when connection is in closed state")).toBe(
      'TARGET_UNREACHABLE',
    );
    expect(words('Server does not support secure connection')).toBe('TARGET_DENIED');
    expect(words('Server requests authentication using unknown plugin client_ed25519.')).toBe(
      'TARGET_DENIED',
    );
    expect(words('secret')).toBe('TARGET_FAILED');
    expect(describeMysqlError('secret')).toBeUndefined();
  });

  it('L11: hold neither the words of the server nor the statement', () => {
    const error = ofServer(1062, "Duplicate entry 'secret' for key 'contact.only_one'");
    expect(error).toBeInstanceOf(MysqlError);
    expect(inspect(error, { showHidden: true })).not.toContain('secret');
    expect(mysqlRowDefect(error)?.reason).toBe(
      'the database refuses the row (error 1062, contact.only_one)',
    );
  });

  it('L6: blame a row only where a row can be to blame, naming no value', () => {
    const check = 'CONSTRAINT `polite` failed for `db`.`contact_form`';
    expect(mysqlRowDefect(ofServer(4025, check))?.reason).toContain('polite');
    const column = "Incorrect double value: 'secret' for column `db`.`contact_form`.`age` at row 1";
    expect(mysqlRowDefect(ofServer(1366, column))).toEqual({
      reason: 'the database refuses the row (error 1366, age)',
      isOfRow: false,
    });
    expect(mysqlRowDefect(ofServer(1644, 'secret'))).toEqual({
      reason: 'the database refuses the row (error 1644)',
      isOfRow: false,
    });
    expect(mysqlRowDefect(ofServer(1118))).toMatchObject({
      reason: expect.stringContaining('too large'),
      isOfRow: true,
    });
    expect(mysqlRowDefect(new RowTooLarge())).toMatchObject({
      reason: expect.stringContaining('max_allowed_packet'),
      isOfRow: true,
    });
    expect(mysqlRowDefect(ofServer(1064))).toBeUndefined();
    expect(mysqlRowDefect(new Error('secret'))).toBeUndefined();
  });
});
