import { chmodSync, chownSync, statSync, type Stats } from 'node:fs';

/*
 * Who may use a SQLite file is for its owner to say: a new one is for this user alone, and whoever gives it to a group
 * (chgrp, chmod) gives with it what SQLite and the mirror keep beside it. SQLite does so when it makes -wal and -shm, but
 * they may be there already. By path only: opening and closing a file would drop the locks of this process on it (POSIX).
 */

/** Gives SQLite's own files beside a database the rights of the database. */
export function followRights(database: string): void {
  const stat = statOf(database);
  if (stat === undefined) return;
  for (const ending of ['-wal', '-shm']) follow(`${database}${ending}`, stat, stat.mode & 0o666);
}

/** Gives a folder of locks and a lock in it to those who may write to the database, and to nobody else: a lock stops a writer. */
export function followWriters(database: string, folder: string, lock: string): void {
  const stat = statOf(database);
  if (stat === undefined) return;
  const [group, others] = [(stat.mode & 0o020) !== 0, (stat.mode & 0o002) !== 0];
  follow(folder, stat, 0o700 | (group ? 0o070 : 0) | (others ? 0o007 : 0));
  follow(lock, stat, 0o600 | (group ? 0o060 : 0) | (others ? 0o006 : 0));
}

/** What belongs to another user is left to them. */
function follow(path: string, { gid }: Stats, mode: number): void {
  const stat = statOf(path);
  if (stat === undefined) return;
  try {
    if (stat.gid !== gid) chownSync(path, stat.uid, gid);
    if ((stat.mode & 0o777) !== mode) chmodSync(path, mode);
  } catch {
    // Whoever may not use it is told so when they try.
  }
}

const statOf = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};
