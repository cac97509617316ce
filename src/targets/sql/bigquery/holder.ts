import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/*
 * Who holds a lease: machine, process, and this one lease. What a process that died left behind on this machine need not be waited for.
 */

/** The holders of this process that are at work. */
const own = new Set<string>();

/** A new name for one lease of this process. */
export function newHolder(): string {
  const holder = `${machine()}/${process.pid}/${randomUUID().slice(0, 8)}`;
  own.add(holder);
  return holder;
}

/** The lease is over: whoever finds it under this name need not wait. */
export const endHolder = (holder: string): boolean => own.delete(holder);

/** Whether the holder can't be at work any more: its process, on this very machine, is gone. */
export function isDead(holder: string): boolean {
  const [host, pid] = holder.split('/');
  if (host !== machine()) return false;
  if (Number(pid) === process.pid) return !own.has(holder);
  return !isAlive(Number(pid));
}

/** `ops-1, process 4711` */
export function holderText(holder: string): string {
  const [host = '', pid = ''] = holder.split('/');
  return `${host.replace(/\+.*$/, '')}, process ${pid}`;
}

/** Containers of one name have numbers of their own for processes. */
function machine(): string {
  let space = '';
  try {
    space = `+${readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')}`;
  } catch {
    // Not on Linux.
  }
  return `${hostname().replaceAll('/', '_')}${space}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process is alive as well.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
