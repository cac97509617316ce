import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A text as VCR and betamax keep it: plain, or in base 64, or compressed besides. */
type Recorded = string | { string?: string; base64_string?: string } | null;

/** One request to Google and its answer. */
export interface Exchange {
  readonly request: { readonly method: string; readonly uri: string; readonly body: Recorded };
  readonly response: { readonly status: { readonly code: number }; readonly body: Recorded };
}

/** What a test of gspread asked of Google, in order. */
export interface Recording {
  readonly name: string;
  readonly exchanges: readonly Exchange[];
}

const CASSETTES = 'tests/cassettes';
const MAX_BYTES = 2 ** 30;

/**
 * The recordings that lie in a folder `tests/cassettes`, or all that a clone of the repository has had there: then `place`
 * is its work tree, or its git directory.
 */
export function recordingsIn(place: string): Recording[] {
  const isFolder = !existsSync(join(place, '.git')) && !existsSync(join(place, 'objects'));
  return isFolder
    ? readdirSync(place).flatMap((name) => read(name, readFileSync(join(place, name), 'utf8')))
    : pastRecordings(place);
}

function pastRecordings(place: string): Recording[] {
  const git = (args: string[], input = ''): Buffer =>
    execFileSync('git', ['-C', place, ...args], { input, maxBuffer: MAX_BYTES });
  const log = git([
    'log',
    '--all',
    '--no-merges',
    '--format=',
    '--raw',
    '--no-abbrev',
    '--',
    CASSETTES,
  ]);
  const names = new Map<string, string>();
  for (const [, blob = '', path = ''] of log
    .toString()
    .matchAll(/^:\d+ \d+ \w+ (\w+) \w+\t.*?([^/\t\n]+)$/gm)) {
    if (!/^0+$/.test(blob) && !names.has(blob)) names.set(blob, path);
  }
  const all = git(['cat-file', '--batch'], [...names.keys()].join('\n'));
  const found: Recording[] = [];
  for (let at = 0; at < all.length;) {
    const line = all.indexOf(10, at);
    const [blob = '', , size = '0'] = all.toString('utf8', at, line).split(' ');
    const start = line + 1;
    at = start + Number(size) + 1;
    const name = `${names.get(blob) ?? ''}@${blob.slice(0, 7)}`;
    found.push(...read(name, all.toString('utf8', start, at - 1)));
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** VCR's recordings, and betamax's of years ago. */
function read(name: string, text: string): Recording[] {
  const file = JSON.parse(text) as { interactions?: Exchange[]; http_interactions?: Exchange[] };
  const exchanges = file.interactions ?? file.http_interactions ?? [];
  return exchanges.length === 0 ? [] : [{ name, exchanges }];
}

/** The text of a body. */
export function textOf(body: Recorded): string {
  if (body === null || typeof body === 'string') return body ?? '';
  if (body.base64_string === undefined) return body.string ?? '';
  const bytes = Buffer.from(body.base64_string, 'base64');
  return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString();
}
