import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from '../app.ts';
import { loadConfig } from '../config.ts';
import { createSampleWorkspace } from '../sandbox/forms-api/sample-workspace.ts';
import { type Sandbox, startSandbox } from '../sandbox/forms-api/sandbox.ts';
import type { CommandCall, CommandSpec } from './command-spec.ts';
import { howToOpen, showPreview, watch } from './demo-scenes.ts';
import { firstPasses, proof } from './demo-story.ts';
import { openLogger } from './host.ts';
import { wholeNumberOption } from './option-values.ts';
import { showProgress } from './progress.ts';
import { plural } from './words.ts';
import { openQueue } from './worker.ts';

/** `demo`: everything together, with nothing set up. */
export const demoCommand: CommandSpec = {
  name: 'demo',
  summary: 'Shows it at work: a stand-in Forms API with traffic, the queue, and a SQLite table.',
  examples: ['forms-mirror demo', 'forms-mirror demo --keep-running'],
  configure(command) {
    command
      .option('--seconds <number>', 'how long to watch submissions arrive', '20')
      .option('--keep-running', 'go on until Ctrl-C')
      .option('--submissions <number>', 'sample submissions to begin with', '1250');
  },
  async run(call) {
    const { terminal, stop } = call.host;
    const file = join(mkdtempSync(join(tmpdir(), 'forms-mirror-demo-')), 'forms.sqlite');
    const submissions = wholeNumberOption(call, 'submissions', 1_250, 1);
    const seconds = wholeNumberOption(call, 'seconds', 20);
    await using sandbox = await startSandbox({ store: createSampleWorkspace({ submissions }) });
    await using app = await openDemoApp(call, sandbox, file);
    const forms = await app.forms(stop.signal);
    terminal.print(
      `A stand-in Forms API with ${plural(forms.length, 'form')} and ${plural(submissions, 'submission')}\n` +
        `is mirrored through the embedded queue into ${file}\n`,
    );
    const progress = showProgress(terminal, app.events, call.host.clock);
    const first = firstPasses(app, forms, stop.signal, (line) => {
      if (terminal.interactive) terminal.say(line);
    }).finally(() => progress[Symbol.dispose]());
    const queue = await openQueue(call.host, app, 'all');
    try {
      await first;
      showPreview(terminal, file, forms.at(-1)?.id ?? '');
      const watchMs = call.flag('keepRunning') ? Number.POSITIVE_INFINITY : seconds * 1_000;
      await watch(call.host, app, sandbox, watchMs);
    } finally {
      await queue.stop();
    }
    terminal.print(`\n${await proof(app, forms, AbortSignal.timeout(30_000))}`);
    terminal.print(howToOpen(file, forms.at(-1)?.id ?? ''));
    return 0;
  },
};

async function openDemoApp({ host }: CommandCall, sandbox: Sandbox, file: string): Promise<App> {
  const env = {
    FORMS_API_URL: sandbox.url,
    FORMS_API_KEY: sandbox.apiKey,
    TARGET_URL: `sqlite:${file}`,
    TARGET_FIELDS: '*',
    DATA_DIR: join(file, '..'),
    SYNC_EVERY: '2s',
    RECONCILE_EVERY: '6s',
  };
  const config = loadConfig(env, noFiles, { source: true });
  return new App(config, { clock: host.clock, logger: await openLogger(host, 'error') });
}

/** The demo looks at no file of the person's. */
function noFiles(path: string): never {
  throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
}
