import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { errorCode } from './errors.ts';

/**
 * A small record in DATA_DIR, as JSON with the version of its schema. It is written under another name and renamed: a crash
 * leaves the old record or the new one, and any number of processes may share the folder. Rejects with the system's error.
 */
export class JsonFile<Schema extends z.ZodType> {
  readonly #path: string;
  readonly #version: number;
  readonly #schema: Schema;

  /** `version`: to be raised with every change of the schema. */
  constructor(path: string, version: number, schema: Schema) {
    [this.#path, this.#version, this.#schema] = [path, version, schema];
  }

  /** Null where there is none, a damaged one, or that of another build: DATA_DIR may be lost at any time. */
  async read(): Promise<z.infer<Schema> | null> {
    let record: { readonly version?: unknown; readonly kept?: unknown } | null;
    try {
      record = JSON.parse(await readFile(this.#path, 'utf8')) as typeof record;
    } catch (error) {
      if (error instanceof SyntaxError || errorCode(error) === 'ENOENT') return null;
      throw error;
    }
    if (record?.version !== this.#version) return null;
    return this.#schema.safeParse(record?.kept).data ?? null;
  }

  /** Writes only what the schema names. */
  async write(kept: z.input<Schema>): Promise<void> {
    const text = JSON.stringify({ version: this.#version, kept: this.#schema.parse(kept) });
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

  /** Does nothing where there is none. */
  remove(): Promise<void> {
    return rm(this.#path, { force: true });
  }
}
