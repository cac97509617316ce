import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { MirrorError } from '../base/errors.ts';
import { errorCode } from '../base/error-code.ts';
import { PRIVATE_FILE } from '../base/private-files.ts';
import type { Terminal } from './terminal.ts';

/** Where text goes, piece by piece. Disposed before {@link finish}, it leaves nothing behind. */
export interface ExportOutput extends AsyncDisposable {
  /** False once the reader is gone. */
  write(text: string): Promise<boolean>;
  /** Everything was written. */
  finish(): Promise<void>;
}

/** stdout, until its reader goes away. */
export const standardOutput = (terminal: Terminal): ExportOutput => ({
  write: (text) => terminal.pipe(text),
  async finish() {},
  async [Symbol.asyncDispose]() {},
});

/**
 * A file that only its owner can read. It gets its name when it is complete, so a program that watches for it never reads half of it.
 * Anything else, such as a pipe, is written to directly. Throws USAGE where it cannot be written.
 */
export async function fileOutput(path: string): Promise<ExportOutput> {
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => true,
  );
  const part = isFile ? `${path}.${process.pid}.part` : path;
  const file = await guarded(path, () => open(part, 'w', PRIVATE_FILE));
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await file.close();
    isOpen = false;
  };
  return {
    async write(text) {
      await guarded(path, () => file.writeFile(text));
      return true;
    },
    async finish() {
      await guarded(path, async () => {
        if (isFile) await (file satisfies FileHandle).sync();
        await close();
        if (isFile) await rename(part, path);
      });
    },
    async [Symbol.asyncDispose]() {
      await close();
      if (isFile) await rm(part, { force: true });
    },
  };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder is not there',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk may only be read',
  EISDIR: 'it is a folder',
  ENOTDIR: 'its folder is a file',
  ENOSPC: 'the disk is full',
};

async function guarded<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = errorCode(error) ?? 'unknown error';
    const why = REASONS[code] ?? code;
    throw new MirrorError('USAGE', `--output ${path} cannot be written: ${why}.`, { cause: error });
  }
}
