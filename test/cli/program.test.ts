import { afterEach, describe, expect, it, vi } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { exitCodeOf, printError } from '../../src/cli/program.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import { RecordedStream, runCli } from '../support/cli-host.ts';

describe('the command line', () => {
  it('without a command shows its help on stderr and exits 2', async () => {
    const { code, stdout, stderr } = await runCli([]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Usage: forms-mirror');
  });

  it('shows help and version on stdout and exits 0', async () => {
    expect(await runCli(['--version'])).toEqual({ code: 0, stdout: '0.0.0-test\n', stderr: '' });
    const help = await runCli(['--help']);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('Examples:');
  });

  it('exits with the code of the error', () => {
    const codes = ['SETTINGS', 'USAGE', 'FORMS_UNAUTHORIZED', 'INTERNAL', 'CANCELLED'] as const;
    expect(codes.map((code) => exitCodeOf(new MirrorError(code, 'x')))).toEqual([2, 2, 1, 1, 130]);
    expect(exitCodeOf(new Error('foreign'))).toBe(1);
  });
});

describe('a defect', () => {
  it('L11: shows where it happened, and never the text that a foreign message quotes', () => {
    const stderr = new RecordedStream();
    printError(new Terminal(new RecordedStream(), stderr), new TypeError('Jan\n    at Novák'));
    expect(stderr.text).toMatch(
      /^✗ Unexpected TypeError\..* \[INTERNAL\]\n {4}at .*program\.test\.ts:\d+/,
    );
    expect(stderr.text).not.toMatch(/Jan|Novák/);
  });
});

describe('the terminal', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('makes every text printable, so that no name from the source controls it', () => {
    const [stdout, stderr] = [new RecordedStream(true), new RecordedStream(true)];
    const terminal = new Terminal(stdout, stderr);
    const evil = '\u001B[2J\u009B31m\r\nEVIL\u202E\u2028';
    const line = {
      sign: 'error',
      text: evil,
      details: [evil],
      remedy: evil,
      command: evil,
    } as const;
    vi.stubEnv('NO_COLOR', '1');
    terminal.print(evil, line);
    terminal.say(evil, line);
    const lines = (stdout.text + stderr.text).split('\n');
    expect(lines.filter((text) => text.includes('EVIL'))).toHaveLength(10);
    stdout.text = '';
    terminal.printJson({ [evil]: evil });
    expect(JSON.parse(stdout.text)).toEqual({ [evil]: evil });
    for (const text of [...lines, ...stdout.text.split('\n')])
      expect(text).not.toMatch(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u);
  });

  it('has no styles if the stream is not a terminal, or NO_COLOR is set', () => {
    vi.stubEnv('FORCE_COLOR', undefined);
    vi.stubEnv('NO_COLOR', undefined);
    // Node shows no colors in CI.
    vi.stubEnv('CI', undefined);
    vi.stubEnv('TERM', 'xterm-256color');
    const [stdout, stderr] = [new RecordedStream(), new RecordedStream(true)];
    const terminal = new Terminal(stdout, stderr);
    terminal.print({ sign: 'error', text: 'x' });
    terminal.say({ sign: 'error', text: 'x' });
    vi.stubEnv('NO_COLOR', '1');
    terminal.say({ sign: 'error', text: 'x' });
    expect(stdout.text).toBe('✗ x\n');
    expect(stderr.text).toBe('\u001B[31m✗\u001B[39m x\n✗ x\n');
  });
});
