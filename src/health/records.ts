import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { errorCode } from '../base/errors.ts';

/** Raise it with every change of a schema. */
const VERSION = 8;

/** The name of a record, which may contain any characters. */
type Key = readonly string[];

/**
 * Small records of one kind: a folder in DATA_DIR with a file for each, as JSON with {@link VERSION}. A file is written under another
 * name and renamed: a crash leaves the old record or the new one, and any number of processes may share the folder. Calls reject
 * with the system's error.
 */
export class Records<Schema extends z.ZodType> {
  readonly #folder: string;
  readonly #schema: Schema;

  constructor(folder: string, schema: Schema) {
    [this.#folder, this.#schema] = [folder, schema];
  }

  /** Null if the record is missing, damaged, or of another build: DATA_DIR may be lost at any time. */
  read(key: Key): Promise<z.infer<Schema> | null> {
    return this.#read(this.#pathOf(key));
  }

  /** Every record that can be read. */
  async all(): Promise<z.infer<Schema>[]> {
    const files = await readdir(this.#folder).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    });
    const names = files.filter((file) => file.endsWith('.json'));
    const found = await Promise.all(names.map((name) => this.#read(join(this.#folder, name))));
    return found.filter((one) => one !== null);
  }

  /** Writes only what the schema names. */
  async write(key: Key, kept: z.input<Schema>): Promise<void> {
    const text = JSON.stringify({ version: VERSION, kept: this.#schema.parse(kept) });
    await mkdir(this.#folder, { recursive: true });
    const path = this.#pathOf(key);
    const beside = `${path}.${randomUUID()}`;
    try {
      await writeFile(beside, text);
      await rename(beside, path);
    } catch (error) {
      await rm(beside, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  /** Does nothing if there is none. */
  remove(key: Key): Promise<void> {
    return rm(this.#pathOf(key), { force: true });
  }

  #pathOf(key: Key): string {
    const name = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 32);
    return join(this.#folder, `${name}.json`);
  }

  async #read(path: string): Promise<z.infer<Schema> | null> {
    let record: { readonly version?: unknown; readonly kept?: unknown } | null;
    try {
      record = JSON.parse(await readFile(path, 'utf8')) as typeof record;
    } catch (error) {
      if (error instanceof SyntaxError || errorCode(error) === 'ENOENT') return null;
      throw error;
    }
    if (record?.version !== VERSION) return null;
    return this.#schema.safeParse(record?.kept).data ?? null;
  }
}
