import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../base/error-code.ts';
import type { Logger } from '../base/logger.ts';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../base/private-files.ts';

/** What is kept in a file, and how it is called in the log. */
export interface KeptFileOptions<T> {
  /** `alert state`. */
  readonly what: string;
  /** Absent: nothing is kept over a restart. */
  readonly path: string | undefined;
  readonly logger: Logger;
  /** Reads a text; undefined for one that is none of ours. */
  readonly parse: (text: string) => T | undefined;
}

/** A state in a file. Nothing about it ever throws: it is worth a line in the log, not more. */
export class KeptFile<T> {
  readonly #options: KeptFileOptions<T>;
  #writing: Promise<void> = Promise.resolve();
  #lastText = '';
  #isFailing = false;

  constructor(options: KeptFileOptions<T>) {
    this.#options = options;
  }

  /** The state of before; undefined when there is no file, or none that can be read. */
  async read(): Promise<T | undefined> {
    const { what, path, logger, parse } = this.#options;
    if (path === undefined) return undefined;
    try {
      const state = parse(await readFile(path, 'utf8'));
      if (state !== undefined) return state;
      logger.warn({ file: path }, `The ${what} file is broken; a new one is begun.`);
    } catch (error) {
      const isFirst = errorCode(error) === 'ENOENT';
      if (!isFirst) logger.warn({ err: error, file: path }, `The ${what} file cannot be read.`);
    }
    return undefined;
  }

  /** Writes it soon, when it has changed. */
  write(state: T): void {
    const { path } = this.#options;
    const text = JSON.stringify(state);
    if (path === undefined || text === this.#lastText) return;
    this.#lastText = text;
    const before = this.#writing;
    this.#writing = this.#writeAfter(before, path, text);
  }

  /** Resolves when everything handed over has been written. */
  written(): Promise<void> {
    return this.#writing;
  }

  async #writeAfter(before: Promise<void>, path: string, text: string): Promise<void> {
    await before;
    const { what, logger } = this.#options;
    try {
      await replaceFile(path, text);
      this.#isFailing = false;
    } catch (error) {
      const fields = { err: error, file: path };
      if (!this.#isFailing) logger.warn(fields, `The ${what} file cannot be written.`);
      this.#isFailing = true;
    }
  }
}

/** In one step: a crash leaves the old one or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
  await writeFile(draft, text, { mode: PRIVATE_FILE });
  await rename(draft, path);
}
