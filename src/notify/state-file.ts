import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { errorCode } from '../base/error-code.ts';
import type { Logger } from '../base/logger.ts';
import { requireVersion } from '../base/other-schema.ts';
import { PRIVATE_FILE, makeFolder } from '../base/private-files.ts';

/** State kept over a restart, in a file. A failed read or write is worth a line in the log, not more. */
export class StateFile<T extends { readonly version: number }> {
  readonly #path: string | undefined;
  readonly #logger: Logger;
  #lastText = '';
  #isFailing = false;

  /** Without a path nothing is kept. */
  constructor(path: string | undefined, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
  }

  /** The state of before; `empty` where there is none that can be read. Throws OTHER_SCHEMA where another build wrote it. */
  read(schema: z.ZodType<T>, empty: T): T {
    if (this.#path === undefined) return empty;
    const file = this.#path;
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      if (errorCode(error) !== 'ENOENT')
        this.#logger.warn({ err: error, file }, 'The state of notifications cannot be read.');
      return empty;
    }
    requireVersion(text, file, empty.version);
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      this.#logger.warn({ file }, 'The state of notifications is damaged; a new one is begun.');
      return empty;
    }
  }

  /**
   * Writes it where it has changed, in one step: a crash leaves the old file or the new one. At once, so that little can come
   * between a delivery and the note of it.
   */
  write(state: T): void {
    const text = JSON.stringify(state);
    if (this.#path === undefined || text === this.#lastText) return;
    const draft = `${this.#path}.${process.pid}.tmp`;
    try {
      makeFolder(dirname(this.#path));
      writeFileSync(draft, text, { mode: PRIVATE_FILE });
      renameSync(draft, this.#path);
      this.#lastText = text;
      this.#isFailing = false;
    } catch (error) {
      const fields = { err: error, file: this.#path };
      if (!this.#isFailing)
        this.#logger.warn(fields, 'The state of notifications cannot be written.');
      this.#isFailing = true;
    }
  }
}
