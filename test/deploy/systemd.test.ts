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
  it('starts again after any end, except for wrong settings', () => {
    expect(settings.get('Restart')).toBe('always');
    expect(settings.get('RestartPreventExitStatus')).toBe('2');
  });

  it('has its own user and folder, and the folder is DATA_DIR', () => {
    expect(settings.get('DynamicUser')).toBe('yes');
    const folder = `/var/lib/${settings.get('StateDirectory')}`;
    expect(settings.get('Environment')).toContain(`DATA_DIR=${folder}`);
    expect(settings.get('UMask')).toBe('0077');
  });

  it('lets Node compile, and removes all other rights', () => {
    expect(settings.has('MemoryDenyWriteExecute')).toBe(false);
    expect(settings.get('CapabilityBoundingSet')).toBe('');
    expect(settings.get('ProtectSystem')).toBe('strict');
  });

  it('lets it ask for the addresses of the machine, which a server on 0.0.0.0 needs', () => {
    const families = settings.get('RestrictAddressFamilies')?.split(' ');
    expect(families?.toSorted()).toEqual(['AF_INET', 'AF_INET6', 'AF_NETLINK', 'AF_UNIX']);
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
