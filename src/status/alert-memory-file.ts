import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '../base/logger.ts';
import { type AlertMemory, NOTHING_TOLD, parseAlertMemory } from './alert-book.ts';

/** What alerts told, in a file. Nothing about it ever fails: it is worth a line in the log, not more. */
export class AlertMemoryFile {
  readonly #path: string | undefined;
  readonly #logger: Logger;
  #writing: Promise<void> = Promise.resolve();
  #lastText = '';
  #isFailing = false;

  /** Without a path nothing is kept. */
  constructor(path: string | undefined, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
  }

  /** What was told; nothing when there is no file, or none that can be read. */
  async read(): Promise<AlertMemory> {
    if (this.#path === undefined) return NOTHING_TOLD;
    try {
      const memory = parseAlertMemory(await readFile(this.#path, 'utf8'));
      if (memory !== undefined) return memory;
      this.#logger.warn({ file: this.#path }, 'The file of alerts is broken; it is begun anew.');
    } catch (error) {
      const isFirst = (error as NodeJS.ErrnoException).code === 'ENOENT';
      const fields = { err: error, file: this.#path };
      if (!isFirst) this.#logger.warn(fields, 'The file of alerts cannot be read.');
    }
    return NOTHING_TOLD;
  }

  /** Writes it soon, when it has changed. */
  write(memory: AlertMemory): void {
    const path = this.#path;
    const text = JSON.stringify(memory);
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
    try {
      await writeWhole(path, text);
      this.#isFailing = false;
    } catch (error) {
      const fields = { err: error, file: path };
      if (!this.#isFailing) this.#logger.warn(fields, 'The file of alerts cannot be written.');
      this.#isFailing = true;
    }
  }
}

/** In one step: a crash leaves the old one or the new one. */
async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, path);
}
