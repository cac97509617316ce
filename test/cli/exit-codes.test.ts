import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { exitCodeOf } from '../../src/cli/program.ts';

describe('exit codes', () => {
  it('follow from the error that ended a command', () => {
    const codes = ['SETTINGS', 'USAGE', 'FORMS_UNAUTHORIZED', 'INTERNAL', 'CANCELLED'] as const;
    expect(codes.map((code) => exitCodeOf(new MirrorError(code, 'x')))).toEqual([2, 2, 1, 1, 130]);
    expect(exitCodeOf(new Error('foreign'))).toBe(1);
  });
});
