import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { MirrorError, safeText, toMirrorError } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/logger.ts';

const SECRET = 'p4ssw0rd-of-a-person';

/** The output of a logger. */
function written(log: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  log(createLogger('trace', sink));
  return lines.join('');
}

describe('log lines', () => {
  it('L15, L11: contain neither message, stack nor cause of a foreign error', () => {
    const foreign = Object.assign(new Error(`duplicate key: ${SECRET}`), { code: '23505' });
    const line = written((logger) => logger.error({ err: foreign }, 'It failed.'));
    expect(line).not.toContain(SECRET);
    expect(line).toContain('23505');
  });

  it('L15: contain our own error code and message, but not the cause', () => {
    const error = new MirrorError('TARGET_FAILED', 'The target failed.', {
      cause: new Error(SECRET),
    });
    const line = written((logger) => logger.error({ err: error }, 'It failed.'));
    expect(line).toContain('TARGET_FAILED');
    expect(line).not.toContain(SECRET);
  });

  it('L15: contain no value under a name that is known to hold secrets or answers', () => {
    const line = written((logger) => {
      logger.info({ apiKey: SECRET, request: { authorization: SECRET }, data: { a: SECRET } }, 'x');
    });
    expect(line).not.toContain(SECRET);
  });
});

describe('a foreign error', () => {
  it('L15: becomes INTERNAL with its class and code, never its message', () => {
    const error = toMirrorError(Object.assign(new TypeError(SECRET), { code: 'ERR_X' }));
    expect([error.code, error.message.includes(SECRET)]).toEqual(['INTERNAL', false]);
    expect(error.message).toContain('TypeError (ERR_X)');
  });

  it('becomes CANCELLED if an abort caused it', () => {
    expect(toMirrorError(new DOMException('x', 'AbortError')).code).toBe('CANCELLED');
  });
});

describe('text for queues and logs', () => {
  it('is well-formed, free of NUL, and short', () => {
    expect(safeText('a\0b\ud83d')).toBe('a\u2400b\ufffd');
    expect(safeText('x'.repeat(50), 10)).toBe(`${'x'.repeat(9)}…`);
    expect(safeText(`${'x'.repeat(8)}\u{1f40e}y`, 10).isWellFormed()).toBe(true);
  });
});
