import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { z } from 'zod';
import { errorCode } from '../base/errors.ts';

/** Raise it with every change of a schema. */
const VERSION = 7;

/**
 * A small record in DATA_DIR, as JSON with {@link VERSION}. It is written under another name and renamed: a crash leaves the old
 * record or the new one, and any number of processes may share the folder. Rejects with the system's error.
 */
export class JsonFile<Schema extends z.ZodType> {
  readonly #path: string;
  readonly #schema: Schema;

  constructor(path: string, schema: Schema) {
    [this.#path, this.#schema] = [path, schema];
  }

  /** Null if the record is missing, damaged, or of another build: DATA_DIR may be lost at any time. */
  async read(): Promise<z.infer<Schema> | null> {
    let record: { readonly version?: unknown; readonly kept?: unknown } | null;
    try {
      record = JSON.parse(await readFile(this.#path, 'utf8')) as typeof record;
    } catch (error) {
      if (error instanceof SyntaxError || errorCode(error) === 'ENOENT') return null;
      throw error;
    }
    if (record?.version !== VERSION) return null;
    return this.#schema.safeParse(record?.kept).data ?? null;
  }

  /** Writes only what the schema names. */
  async write(kept: z.input<Schema>): Promise<void> {
    const text = JSON.stringify({ version: VERSION, kept: this.#schema.parse(kept) });
    await mkdir(dirname(this.#path), { recursive: true });
    const beside = `${this.#path}.${randomUUID()}`;
    try {
      await writeFile(beside, text);
      await rename(beside, this.#path);
    } catch (error) {
      await rm(beside, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  /** Does nothing if there is none. */
  remove(): Promise<void> {
    return rm(this.#path, { force: true });
  }
}

/** The records of one kind: a folder with a file for each. */
export class Records<Schema extends z.ZodType> {
  readonly #path: string;
  readonly #schema: Schema;

  constructor(path: string, schema: Schema) {
    [this.#path, this.#schema] = [path, schema];
  }

  /** The record with a key, which may contain any characters. */
  of(...key: readonly (string | number)[]): JsonFile<Schema> {
    const name = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 32);
    return this.#file(`${name}.json`);
  }

  async all(): Promise<z.infer<Schema>[]> {
    const files = await readdir(this.#path).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    });
    const names = files.filter((file) => file.endsWith('.json'));
    const found = await Promise.all(names.map((name) => this.#file(name).read()));
    return found.filter((one) => one !== null);
  }

  #file(name: string): JsonFile<Schema> {
    return new JsonFile(join(this.#path, name), this.#schema);
  }
}
