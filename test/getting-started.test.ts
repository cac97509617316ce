import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runCli, startCli } from './support/cli-host.ts';
import { projectText } from './support/readme.ts';
import { scratchFolder } from './support/scratch.ts';

/** A command of the page, and the lines below it. `...`: anything, also several lines. */
interface Sample {
  readonly command: string;
  readonly output: string;
}

function samples(page: string): Sample[] {
  const blocks = [...projectText(page).matchAll(/^```console\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...lines] = part.trimEnd().split('\n');
        return { command, output: lines.join('\n') };
      }),
  );
}

/** The part that is the same in each run, also on a busy machine: without times and numbers of requests. */
const lasting = (text: string): string =>
  text
    .replaceAll(/\d+ requests?, [\d.]+ (?:s|min)\b[^)]*/g, '0 requests, 0.0 s')
    .replaceAll(
      /: submissions\b[^.]* as of [^.]*/g,
      ': submissions, statuses and answers as of just now',
    )
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-01T00:00:00.000Z')
    .replaceAll(/ +/g, ' ')
    .trimEnd();

/** Compares a command's output by {@link lasting}. */
function pattern(output: string): RegExp {
  const literal = lasting(output).replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return new RegExp(`^${literal.replaceAll(String.raw`\.\.\.`, '[^]*')}$`);
}

/** The output of the page's `sqlite3`. */
function query(file: string, command: string): string {
  using database = new DatabaseSync(file, { readOnly: true });
  const [, sql = ''] = /'(.*)'/.exec(command) ?? [];
  const rows = database.prepare(sql).all();
  return rows.map((row) => Object.values(row).join('|')).join('\n');
}

/** Starts the sandbox of the page, on any free port. Its settings go into `env`, as a reader puts them into .env. */
async function sandbox(args: readonly string[], env: Record<string, string>): Promise<string> {
  const running = startCli([...args, '--port', '0']);
  const { stdout, stderr } = running;
  onTestFinished(async () => {
    running.send('SIGINT');
    await running.done;
  });
  await vi.waitUntil(() => stdout.text.includes('TARGET_FIELDS'), { timeout: 30_000 });
  for (const [, name = '', value = ''] of stdout.text.matchAll(/^(\w+)='?([^'\n]*)/gm))
    env[name] = value;
  return (stderr.text + stdout.text).replace(/(127\.0\.0\.1):\d+/, '$1:4010');
}

it('docs/getting-started.md shows what the commands print', async () => {
  const folder = scratchFolder('getting-started');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env: Record<string, string> = { DATA_DIR: join(folder, 'data') };

  async function printed(command: string): Promise<string> {
    const [program, ...args] = command.split(' ');
    if (program === 'sqlite3') return query(join(folder, 'data/mirror.sqlite'), command);
    if (args[0] === 'sandbox') return sandbox(args, env);
    return (await runCli(args, env)).stdout;
  }

  const found = samples('docs/getting-started.md');
  expect(found.map(({ command }) => command)).toContain('forms-mirror sync');
  for (const { command, output } of found) {
    const text = (await printed(command)).replaceAll(folder, '.');
    expect(`$ ${command}\n${lasting(text)}`).toMatch(pattern(`$ ${command}\n${output}`));
  }
});
