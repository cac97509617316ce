import { describe, expect, it } from 'vitest';
import {
  backendKindOf,
  parseQueueUrl,
  readPrefix,
  safeAddress,
  sentinelOptions,
  unreachable,
} from '../../src/queue/backends.ts';
import { assertSafe } from '../../src/queue/redis.ts';

const codeOf = (run: () => unknown): unknown => {
  try {
    run();
    return 'none';
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

describe('QUEUE_URL', () => {
  it('selects the store by its scheme', () => {
    const kinds = ['redis://h', 'rediss://h', 'postgres://h/d', 'postgresql://h/d'].map((text) =>
      backendKindOf(parseQueueUrl(text)),
    );
    expect(kinds).toEqual(['redis', 'redis', 'postgres', 'postgres']);
  });

  it('L15: is shown without user, password and parameters', () => {
    const shown = (text: string): string => safeAddress(new URL(text));
    expect(shown('rediss://me:s3cret@cache.example:6380/2?prefix=x')).toBe(
      'rediss://cache.example:6380/2',
    );
    expect(shown('postgres://me:s3cret@[::1]:5433/mirror?password=s3cret')).toBe(
      'postgres://[::1]:5433/mirror',
    );
  });

  it('names sentinels, and their name for the master', () => {
    const read = (text: string) => sentinelOptions(parseQueueUrl(text));
    const text =
      'rediss+sentinel://me:p%40ss@S1.example:26380/my-master?sentinel=s2.example&sentinel=[::1]:5&sentinelPassword=s%26x';
    expect(read(text)).toEqual({
      sentinels: [
        { host: 's1.example', port: 26_380 },
        { host: 's2.example', port: 26_379 },
        { host: '::1', port: 5 },
      ],
      name: 'my-master',
      username: 'me',
      password: 'p@ss',
      sentinelPassword: 's&x',
      tls: {},
      sentinelTLS: {},
      enableTLSForSentinelMode: true,
    });
    const sentinels = [{ host: 'h', port: 26_379 }];
    expect(read('redis+sentinel://h/m')).toEqual({ sentinels, name: 'm' });
    expect(read('redis://h')).toBeUndefined();
    expect(backendKindOf(parseQueueUrl(text))).toBe('redis');
    expect(safeAddress(new URL(text))).toBe('rediss+sentinel://S1.example:26380/my-master');
  });

  it.each([
    ['redis+sentinel://:s3cret@h:26379', 'what they call the master'],
    ['redis+sentinel://:s3cret@h:26379/a/b', 'what they call the master'],
    ['redis+sentinel://:s3cret@h/m?sentinel=h2:s3cret', 'does not name sentinels'],
    ['redis+sentinel://:s3cret@h/m?sentinel=u:s3cret@h2', 'does not name sentinels'],
    ['redis+cluster://:s3cret@h:6379', 'is of an unknown kind'],
    // With these, the driver would use another server, or send the password in plain text.
    ['redis://:s3cret@h?host=elsewhere', 'has an option that is not known'],
    ['rediss://:s3cret@h?tls=', 'has an option that is not known'],
  ])(
    'L15: an address that cannot be used is reported with the correct form: %s',
    (text, problem) => {
      const refusal = (): unknown => parseQueueUrl(text);
      expect(refusal).toThrow(problem);
      expect(refusal).not.toThrow('s3cret');
    },
  );

  it('separates mirrors that share a store by prefix', () => {
    expect(readPrefix(new URL('redis://h'))).toBe('forms-mirror');
    expect(readPrefix(new URL('redis://h?prefix=team-a'))).toBe('team-a');
    expect(codeOf(() => parseQueueUrl('redis://h?prefix=a:b'))).toBe('SETTINGS');
    expect(codeOf(() => readPrefix(new URL('redis://h?prefix=')))).toBe('SETTINGS');
  });
});

describe('a server that cannot be reached', () => {
  const coded = (code: string): Error => Object.assign(new Error('u:s3cret@h'), { code });

  it('is reported with the remedy; another attempt helps, but not against a certificate', () => {
    const away = unreachable('Redis at redis://h', coded('ECONNREFUSED'));
    expect(away).toMatchObject({ code: 'QUEUE_FAILED', retryable: true });
    const untrusted = unreachable('Redis at rediss://h', coded('DEPTH_ZERO_SELF_SIGNED_CERT'));
    expect(untrusted).toMatchObject({ code: 'QUEUE_FAILED', retryable: false });
    expect(untrusted.message).toContain('NODE_EXTRA_CA_CERTS');
    expect(away.message + untrusted.message).not.toContain('s3cret');
  });
});

describe('the information that Redis gives', () => {
  const info = (policy: string): string => `# Memory\r\nmaxmemory_policy:${policy}\r\n`;

  it('is checked: it must keep jobs, and be no node of a cluster', () => {
    const verdict = (text: string): unknown => codeOf(() => assertSafe(text, 'redis://h'));
    expect(verdict(info('noeviction'))).toBe('none');
    expect(verdict(info('allkeys-lru'))).toBe('QUEUE_FAILED');
    const modeOf = (mode: string): string => `${info('noeviction')}redis_mode:${mode}\r\n`;
    expect(verdict(modeOf('standalone'))).toBe('none');
    expect(verdict(modeOf('cluster'))).toBe('SETTINGS');
    expect(() => assertSafe(modeOf('cluster'), 'redis://h')).toThrow(
      'Redis at redis://h is a node of a Redis Cluster, which cannot hold the queue: set QUEUE_URL to the address of a single Redis',
    );
    // Programs similar to Redis may not give it.
    expect(verdict('# Server\r\n')).toBe('none');
  });
});
