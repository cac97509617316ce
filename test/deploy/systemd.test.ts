import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const UNIT = resolve(import.meta.dirname, '../../deploy/systemd/forms-mirror.service');
const ANALYZE = 'systemd-analyze';
const settings = new Map(
  readFileSync(UNIT, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value ?? ''] as const];
    }),
);

const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

describe('the unit for systemd', () => {
  it.each([
    ['Restart', 'always'],
    // Wrong settings.
    ['RestartPreventExitStatus', '2'],
    ['DynamicUser', 'yes'],
    ['UMask', '0077'],
    ['CapabilityBoundingSet', ''],
    // Node compiles.
    ['MemoryDenyWriteExecute', undefined],
    // A server on 0.0.0.0 asks for the addresses of the machine.
    ['RestrictAddressFamilies', expect.stringContaining('AF_NETLINK')],
  ])('has %s=%s', (name, value) => {
    expect(settings.get(name)).toEqual(value);
  });

  it('has its own folder, which is DATA_DIR', () => {
    const folder = `/var/lib/${settings.get('StateDirectory')}`;
    expect(settings.get('Environment')).toContain(`DATA_DIR=${folder}`);
  });

  // Checks that need systemd: a test machine in a container lacks it, and misses nothing else.
  it.skipIf(!has(ANALYZE))('is read without warnings, and exposes little', () => {
    const verify = spawnSync(ANALYZE, ['verify', '--man=no', UNIT], { encoding: 'utf8' });
    const complaints = verify.stderr.split('\n').filter((line) => line.includes('forms-mirror'));
    // The program is not installed where tests run.
    expect(complaints.filter((line) => !line.includes('is not executable'))).toEqual([]);
    const args = ['security', '--offline=true', '--threshold=20', UNIT];
    const security = spawnSync(ANALYZE, args, { encoding: 'utf8' });
    expect([security.status, security.stdout.trim().split('\n').at(-1)]).toEqual([
      0,
      expect.stringContaining('OK'),
    ]);
  });
});
