import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../base/error-code.ts';
import type { Logger } from '../base/logger.ts';
import { requireVersion } from '../base/other-schema.ts';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../base/private-files.ts';

/** What is kept in a file, and how it is called in the log. */
export interface KeptFileOptions<T> {
  /** `alert state`. */
  readonly what: string;
  /** Absent: nothing is kept over a restart. */
  readonly path: string | undefined;
  readonly logger: Logger;
  /** The `version` that is in it: to be raised with every change of what is kept. */
  readonly version: number;
  /** Reads a text; undefined for one that is none of ours. */
  readonly parse: (text: string) => T | undefined;
}

/** A state in a file. What cannot be read or written is worth a line in the log, not more. */
export class KeptFile<T> {
  readonly #options: KeptFileOptions<T>;
  #writing: Promise<void> = Promise.resolve();
  #lastText = '';
  #isFailing = false;

  constructor(options: KeptFileOptions<T>) {
    this.#options = options;
  }

  /** The state of before; undefined when there is no file, or none that can be read. Rejects with OTHER_SCHEMA where another build wrote it. */
  async read(): Promise<T | undefined> {
    const { what, path, version, logger, parse } = this.#options;
    if (path === undefined) return undefined;
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      const isFirst = errorCode(error) === 'ENOENT';
      if (!isFirst) logger.warn({ err: error, file: path }, `The ${what} file cannot be read.`);
      return undefined;
    }
    requireVersion(text, path, version);
    const state = parse(text);
    if (state === undefined)
      logger.warn({ file: path }, `The ${what} file is broken; a new one is begun.`);
    return state;
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
