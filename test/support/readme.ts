import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** True if the documents must be updated rather than checked: `npm run docs`. */
export const UPDATING = process.env['UPDATE_DOCS'] === '1';

/** A file of the project as text; empty if it does not exist yet. */
export function projectText(path: string): string {
  try {
    return readFileSync(resolve(ROOT, path), 'utf8');
  } catch {
    return '';
  }
}

/** Writes a file of the project. */
export function writeProjectText(path: string, text: string): void {
  writeFileSync(resolve(ROOT, path), text);
}

/** The content of a project page between `<!-- name -->` and `<!-- /name -->`. */
export function documentPart(page: string, name: string): string {
  const [, part] = markers(name).exec(projectText(page)) ?? [];
  if (part === undefined) throw new Error(`${page} has no <!-- ${name} --> … <!-- /${name} -->`);
  return part.trim();
}

/** Replaces that part. */
export function replaceDocumentPart(page: string, name: string, text: string): void {
  const part = `<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->`;
  const before = projectText(page);
  writeProjectText(
    page,
    before.replace(markers(name), () => part),
  );
}

const markers = (name: string): RegExp =>
  new RegExp(String.raw`<!-- ${name} -->([\s\S]*?)<!-- /${name} -->`);
