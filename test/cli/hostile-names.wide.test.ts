import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FormsStore } from '../../src/sandbox/store.ts';
import type { Environment } from '../../src/settings/settings-reader.ts';
import { runCli } from '../support/cli-host.ts';
import { type CliPlace, openPlace } from '../support/cli-sandbox.ts';

/** Names that harm the reader of a terminal, or the shell into which a printed command is pasted. */
const HARM = [
  '\u001B]0;EVIL\u0007',
  '\u001B[31mEVIL',
  '\u001B[2JEVIL',
  '\u009B31mEVIL',
  '\u0085\u008DEVIL',
  '\r\nEVIL',
  '\nEVIL: all is well',
  '\u202EEVIL\u2066',
  '\u2028EVIL',
  "';touch CANARY;'",
  '$(touch CANARY)',
  '`touch CANARY`',
  '"; touch CANARY #',
  '\\',
  '--EVIL',
  ' & touch CANARY',
];

/** Characters that no line may contain. */
const CONTROLS = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/** A workspace whose names all do harm. */
function hostileStore(harm: (at: number) => string): FormsStore {
  const store = new FormsStore();
  const fields = [0, 1].map((at) => ({
    id: `field_${at}_${harm(at)}`,
    label: `L${at}${harm(at + 1)}`,
  }));
  const names = { name: `N ${harm(2)}`, slug: `${harm(3)}s` };
  store.addForm({ id: `${harm(4)}f1`, ...names, fields });
  const [form] = store.forms();
  for (let at = 0; at < 12; at++) {
    const data = { [fields[0]?.id ?? '']: harm(at), [`gone ${harm(at)}`]: harm(at) };
    store.insert({ formId: form?.id ?? '', data });
  }
  const [odd = '', bad = '', other = ''] = store.ids(form?.id ?? '');
  store.setStatus(odd, harm(5));
  store.distort(bad, { createdAt: harm(6), status: harm(7) });
  store.distort(other, { id: `s${harm(8).replaceAll(/\p{Cc}/gu, '')}` });
  return store;
}

/** All output of the commands about such a workspace, as lines. */
async function everyOutput(place: CliPlace, isTTY: boolean): Promise<string[]> {
  const outputs: string[] = [];
  const run = async (args: readonly string[], more: Environment = {}): Promise<void> => {
    const { stdout, stderr } = await runCli(args, { ...place.env, ...more }, isTTY);
    outputs.push(stdout, stderr);
    // Throws if the escapes have made it invalid JSON.
    if (args.includes('--json')) JSON.parse(stdout);
  };
  const [form] = place.sandbox.store.forms();
  const ids = place.sandbox.store.ids(form?.id ?? '');
  for (const command of ['forms', 'check']) await run([command]);
  await run(['forms', form?.id ?? '']);
  await run(['sync'], { TARGET_FIELDS: undefined });
  await run(['sync'], { TARGET_FORMS: 'nope', TARGET_FIELDS: 'nothing:*' });
  await run(['sync', '--form', 'nope']);
  await run(['sync'], { LOG_LEVEL: 'debug' });
  await run(['sync', '--full', '--json']);
  await run(['explain', ids[0] ?? '']);
  await run(['explain', ids[1] ?? '', '--json']);
  await run(['forget', ids[3] ?? '', '--dry-run']);
  await run(['purge', '--unselected', '--dry-run'], { TARGET_FIELDS: 'a' });
  await run(['status'], { TARGET_FIELDS: 'a' });
  for (const id of ids.slice(2)) place.sandbox.store.delete(id);
  await run(['verify']);
  await run(['sync', '--full'], { MARK_STATUS: 'DONE' });
  for (const command of ['status', 'check', 'verify']) await run([command, '--json']);
  for (const command of ['status', 'check']) await run([command]);
  place.sandbox.faults.add({
    path: /^\/submissions/,
    status: 400,
    body: JSON.stringify({ fields: { page: '\u001B[31mEVIL\u0007', 'EVIL\u202E\n': 'x' } }),
    times: Infinity,
  });
  await run(['sync']);
  await run(['status']);
  return outputs.flatMap((text) => text.split('\n'));
}

const place = async (harm: (at: number) => string): Promise<CliPlace> =>
  openPlace({ store: hostileStore(harm) });

describe('names that would harm a reader', () => {
  it('only the terminal writes to the terminal, and each command to copy is quoted', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' });
    const sources = files
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [file, readFileSync(join('src', file), 'utf8')] as const);
    const holding = (pattern: RegExp): string[] =>
      sources
        .filter(([, text]) => pattern.test(text))
        .map(([file]) => file)
        .toSorted();
    expect(holding(/\bprocess\.std(out|err)\b|\bconsole\.(log|info|warn|error)\(/)).toEqual([
      'cli.ts',
      'cli/terminal.ts',
    ]);
    expect(holding(/\.question\((?!printable\()/)).toEqual([]);
    expect(holding(/--(form|target)[ =]['"]?\$\{|TARGET_\w+=['"]?\$\{/)).toEqual([]);
  });

  it('no command prints a control character, except for line ends and our own colors', async () => {
    for (let first = 0; first < HARM.length; first += 8) {
      const lines = await everyOutput(
        await place((at) => HARM[(first + at) % HARM.length] ?? ''),
        true,
      );
      const [, ...styled] = lines.join('\n').split('\u001B');
      expect(styled.length).toBeGreaterThan(0);
      for (const text of styled) {
        const own = /^\[\d*m(?!EVIL)/;
        expect(text).toMatch(own);
        for (const line of text.replace(own, '').split('\n')) expect(line).not.toMatch(CONTROLS);
      }
    }
  }, 120_000);
});
