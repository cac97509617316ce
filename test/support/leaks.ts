import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Texts or bytes that may contain nothing secret, by their origin. */
export type Places = Map<string, string | Buffer>;

/**
 * The places in which secrets are in clear text, percent-encoded or as base64 (L11, L15); empty if there are none.
 * `secrets`: by their kind. The result names both and quotes nothing.
 */
export function leaksIn(places: Places, secrets: Readonly<Record<string, string>>): string[] {
  const leaks: string[] = [];
  for (const [place, content] of places) {
    for (const [name, secret] of Object.entries(secrets)) {
      const forms = [secret, encodeURIComponent(secret), base64Core(secret)];
      if (forms.some((form) => content.includes(form))) leaks.push(`${name} in ${place}`);
    }
  }
  return leaks;
}

/** The part of a secret's base64 that does not depend on its neighbors if it begins at a multiple of three bytes. */
function base64Core(secret: string): string {
  const bytes = Buffer.from(secret);
  return bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
}

/** Every file below a folder, byte by byte, without files that vanish during the reading. */
export function filesBelow(folder: string): Places {
  const places: Places = new Map();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    try {
      if (entry.isFile()) places.set(path, readFileSync(path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return places;
}

/** The files below a folder whose bytes contain one of these texts. */
export const filesWith = (folder: string, texts: readonly string[]): string[] =>
  [...filesBelow(folder)].flatMap(([file, bytes]) =>
    texts.some((text) => bytes.includes(text)) ? [file] : [],
  );
