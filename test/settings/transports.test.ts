import { describe, expect, it } from 'vitest';
import { parseQueueUrl } from '../../src/queue/backends.ts';
import { projectText } from '../support/readme.ts';
import { settingOf } from '../../src/settings/settings-table.ts';
import { SOURCE, onlyProblem, problemsOf } from '../support/settings.ts';

/** The mistakes in an address, beside a complete source. */
const complaints = (env: Record<string, string>): string[] =>
  problemsOf({ ...SOURCE, ...env }).map(({ variable, message }) => `${variable} ${message}`);

describe('an address beyond this machine', () => {
  it.each([
    ['no sslmode', 'postgres://u:p@db.example.com/d', 'does not ask for TLS'],
    ['disable', 'postgres://u:p@db.example.com/d?sslmode=disable', 'does not ask for TLS'],
    ['no-verify', 'postgres://u:p@db.example.com/d?sslmode=no-verify', 'does not ask for TLS'],
    ['an unknown mode', 'postgres://u:p@db.example.com/d?sslmode=on', 'does not ask for TLS'],
    ['a private address', 'postgres://u:p@10.0.0.5/d', 'list the host in ALLOW_PLAINTEXT'],
    ['IPv6', 'postgres://u:p@[fd00::5]/d', 'list the host in ALLOW_PLAINTEXT'],
    ['no host', 'postgres:///d', 'names no host'],
    [
      "libpq's require",
      'postgres://u:p@h/d?sslmode=require&uselibpqcompat=true',
      'does not ask for TLS',
    ],
    ['a parameter that moves it', 'postgres://u:p@localhost/d?host=evil.example', 'ask for TLS'],
    [
      'a second mode, which counts',
      'postgres://u:p@h/d?sslmode=require&sslmode=disable',
      'does not ask for TLS',
    ],
  ])('PostgreSQL with %s is refused for a target and for the queue', (_what, url, message) => {
    expect(onlyProblem({ TARGET_URL: url })).toContain(message);
    expect(onlyProblem({ QUEUE_URL: url })).toContain(message);
  });

  it.each([
    'postgres://u:p@db.example.com/d?sslmode=require',
    'postgres://u:p@db.example.com/d?sslmode=verify-full&sslrootcert=/ca.pem',
    'postgres://u:p@h/d?sslmode=verify-ca&uselibpqcompat=true&sslrootcert=/ca.pem',
    'postgres://u:p@localhost/d',
    'postgres://u:p@[::1]/d',
    'postgres://u:p@%2Frun%2Fpostgresql/d',
    'postgres://u@localhost/d?host=/run/postgresql',
  ])('%s is accepted', (url) => {
    expect(problemsOf({ ...SOURCE, TARGET_URL: url })).toEqual([]);
    expect(problemsOf({ ...SOURCE, QUEUE_URL: url })).toEqual([]);
  });

  it('each further server must be reached safely, too', () => {
    const QUEUE_URL = 'redis+sentinel://:kZ4vQ1mW@s1:26379/m?sentinel=s2:1';
    const of = (ALLOW_PLAINTEXT: string): string[] => complaints({ QUEUE_URL, ALLOW_PLAINTEXT });
    expect(complaints({ QUEUE_URL })).toEqual([expect.stringContaining('list the host in')]);
    expect(of('s1')).toEqual([expect.stringContaining('list the host in')]);
    expect(of('s1,s2')).toEqual([]);
    const secure = QUEUE_URL.replace('redis+', 'rediss+');
    expect(complaints({ QUEUE_URL: secure })).toEqual([]);
    // A server on this machine may name a master on another.
    const local = 'redis+sentinel://:kZ4vQ1mW@localhost:26379/m';
    expect(complaints({ QUEUE_URL: local })).toEqual([expect.stringContaining('list the host in')]);
    expect(complaints({ QUEUE_URL: local, ALLOW_PLAINTEXT: 'localhost' })).toEqual([]);
  });

  it('MySQL uses the last mode, for the connection and for its safety', () => {
    const url = 'mysql://u:p@db.example.com/d?ssl-mode=VERIFY_IDENTITY&ssl-mode=DISABLED';
    expect(onlyProblem({ TARGET_URL: url })).toContain('does not ask for TLS');
    const other = 'mysql://u:p@db.example.com/d?ssl-mode=none&ssl-mode=VERIFY_IDENTITY';
    expect(problemsOf({ ...SOURCE, TARGET_URL: other })).toEqual([]);
  });

  it('Redis needs TLS and a password', () => {
    const both = complaints({ QUEUE_URL: 'redis://cache.example.com:6379' });
    expect(both).toEqual([
      expect.stringMatching(/^QUEUE_URL does not ask for TLS.*rediss:\/\//),
      expect.stringMatching(/^QUEUE_URL holds no password/),
    ]);
    expect(onlyProblem({ QUEUE_URL: 'redis://:pw@cache.example.com' })).toContain('ask for TLS');
    expect(onlyProblem({ QUEUE_URL: 'rediss://cache.example.com' })).toContain('no password');
    expect(onlyProblem({ QUEUE_URL: 'rediss://:%20@cache.example.com' })).toContain('no password');
    for (const url of [
      'rediss://:pw@cache.example.com',
      'redis://localhost:6379',
      'redis://127.0.0.1',
    ]) {
      expect(complaints({ QUEUE_URL: url })).toEqual([]);
    }
  });

  it('is accepted if ALLOW_PLAINTEXT names its host, and no other is', () => {
    const compose = {
      QUEUE_URL: 'redis://redis:6379',
      TARGET_URL: 'postgres://mirror:pw@postgres:5432/forms',
      ALERT_WEBHOOK_URL: 'http://Alerts:9093/x',
    };
    expect(complaints(compose).map((text) => text.split(' ')[0])).toEqual([
      'TARGET_URL',
      'QUEUE_URL',
      'QUEUE_URL',
      'ALERT_WEBHOOK_URL',
    ]);
    expect(complaints({ ...compose, ALLOW_PLAINTEXT: 'Redis, postgres,alerts' })).toEqual([]);
    const elsewhere = {
      ...compose,
      QUEUE_URL: 'redis://redis.example.com',
      ALLOW_PLAINTEXT: 'redis,postgres,alerts',
    };
    expect(complaints(elsewhere).every((text) => text.startsWith('QUEUE_URL'))).toBe(true);
    expect(
      complaints({ TARGET_URL: 'postgres://u:p@[FD00::5]/d', ALLOW_PLAINTEXT: '[fd00::5]' }),
    ).toEqual([]);
    // The API key is sent nowhere in plain text.
    const api = { FORMS_API_URL: 'http://forms:4010/v1', ALLOW_PLAINTEXT: 'forms' };
    expect(complaints(api)).toEqual([expect.stringContaining('is not the address of an API')]);
  });

  it('L15: is never repeated with its user, password or path', () => {
    const urls = [
      'redis://u:s3cr3t@h.example',
      'redis://s3cr3t/@h',
      'postgres://u:s3cr3t@h/d?x=s3cr3t',
    ];
    for (const QUEUE_URL of urls) {
      expect(JSON.stringify(complaints({ QUEUE_URL }))).not.toContain('s3cr3t');
    }
    const pasted = { ALLOW_PLAINTEXT: 'redis://u:s3cr3t@h' };
    expect(JSON.stringify(complaints(pasted))).not.toContain('s3cr3t');
    expect(() => parseQueueUrl('redis://s3cr3t/@h')).toThrow('percent-encoded');
  });

  it('of docker-compose.yml is named by its own ALLOW_PLAINTEXT', () => {
    const compose = projectText('docker-compose.yml');
    const allowed = /^ *ALLOW_PLAINTEXT: (\S+)$/m.exec(compose)?.[1] ?? '';
    const urls = compose.matchAll(/(?:redis|postgres):\/\/(?:[^\n@]*@)?([\w.-]+):\d+/g);
    const hosts = new Set([...urls].map(([, host]) => host));
    expect(hosts).toEqual(new Set(allowed.split(',')));
  });

  it('is reached with certificates checked: the switch that disables all checks is refused', () => {
    expect(onlyProblem({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toMatch(
      /^NODE_TLS_REJECT_UNAUTHORIZED is 0/,
    );
    expect(problemsOf({ ...SOURCE, NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toEqual([]);
  });

  it('of one target of several is reported with its own variable', () => {
    const env = { TARGETS: 'a,b', TARGET_A_URL: 'sqlite:a', TARGET_B_URL: 'postgres://u:p@h/d' };
    expect(onlyProblem(env)).toMatch(/^TARGET_B_URL does not ask for TLS/);
  });
});

describe('the password of a page that others can reach', () => {
  it.each([
    ['short', 'elevenchars', 'is shorter than 12 characters'],
    ["the example's", settingOf('ADMIN_PASSWORD').example, 'is shorter than 12 characters'],
  ])('is refused if it is %s', (_what, ADMIN_PASSWORD, message) => {
    // With a loopback HOST a proxy may publish the page.
    for (const reach of [{ HOST: '0.0.0.0' }, {}]) {
      const problem = onlyProblem({ ...reach, ADMIN_PASSWORD });
      expect(problem).toContain(`ADMIN_PASSWORD ${message}`);
      expect(problem).not.toContain(ADMIN_PASSWORD);
    }
  });
});
