import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { EXIT_CODES, exitCodeOf } from '../../src/cli/host.ts';

describe('exit codes', () => {
  it('are few, and each is used once', () => {
    const codes = Object.values(EXIT_CODES).map(({ code }) => code);
    expect(codes).toEqual([0, 1, 2, 130, 143]);
  });

  it('follow from the error that ended a command', () => {
    const codes = ['SETTINGS', 'USAGE', 'FORMS_UNAUTHORIZED', 'INTERNAL', 'CANCELLED'] as const;
    expect(codes.map((code) => exitCodeOf(new MirrorError(code, 'x')))).toEqual([2, 2, 1, 1, 130]);
    expect(exitCodeOf(new Error('foreign'))).toBe(1);
  });
});
