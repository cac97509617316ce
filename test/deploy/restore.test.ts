import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { projectText } from '../support/readme.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder('restore');
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** What `rows` holds, and whether the file is whole. */
function look(file: string): unknown {
  const database = new DatabaseSync(file);
  try {
    const rows = database.prepare('SELECT id FROM rows ORDER BY id').all();
    const check = database.prepare('PRAGMA integrity_check').all();
    return { ids: rows.map(({ id }) => id), check };
  } finally {
    database.close();
  }
}

it('a SQLite backup is put back as docs/operating.md says, over what a killed process left', () => {
  const [, command = ''] =
    /^(rm -f mirror\.sqlite-wal .*)$/m.exec(projectText('docs/operating.md')) ?? [];
  expect(command).not.toBe('');
  const running = new DatabaseSync(join(scratch, 'running.sqlite'));
  running.exec('PRAGMA journal_mode = WAL; CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)');
  running.exec('INSERT INTO rows VALUES (1, hex(randomblob(500))), (2, hex(randomblob(500)))');
  running.exec(`VACUUM INTO '${join(scratch, 'copy.sqlite')}'`);
  const more = 'WITH RECURSIVE n (i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 99)';
  running.exec(`${more} INSERT INTO rows SELECT i, hex(randomblob(500)) FROM n`);
  // As it lies on the disk when the process is killed now.
  for (const part of ['', '-wal', '-shm']) {
    cpSync(join(scratch, `running.sqlite${part}`), join(scratch, `mirror.sqlite${part}`));
  }
  running.close();
  execFileSync('sh', ['-c', command], { cwd: scratch });
  const whole = { ids: [1, 2], check: [{ integrity_check: 'ok' }] };
  expect(look(join(scratch, 'mirror.sqlite'))).toEqual(whole);
});
