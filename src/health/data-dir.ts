import type { Problem } from './problem.ts';

const FAULTS = {
  unwritable: {
    what: 'cannot be written',
    remedy: 'Give this user the right to write the folder, and check the disk that it is on.',
  },
  full: { what: 'is on a full disk', remedy: 'Make room there.' },
} as const;

/** That failures cannot be kept in DATA_DIR: what the targets record says nothing of what happened since. */
export function dataDirProblem(fault: keyof typeof FAULTS, dataDir: string): Problem {
  const { what, remedy } = FAULTS[fault];
  return {
    level: 'error',
    code: 'FAILED',
    title: 'Failures cannot be kept',
    message: `DATA_DIR (${dataDir}) ${what}, so nobody may know of a failure that a target did not record.`,
    remedy,
    command: null,
    since: null,
  };
}
