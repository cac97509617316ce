import type { CommandCall, CommandSpec } from './command-spec.ts';
import { type DemoPlace, openDemoPlace } from './demo-place.ts';
import { howToOpen, showPreview, watch } from './demo-scenes.ts';
import { firstPasses, proof } from './demo-story.ts';
import { wholeNumberOption } from './option-values.ts';
import { showProgress } from './progress.ts';
import { count, plural } from './words.ts';
import { openQueue } from './worker.ts';

const PROOF_WITHIN_MS = 60_000;

/** `demo`: everything together, with nothing set up. */
export const demoCommand: CommandSpec = {
  name: 'demo',
  summary: 'Shows it at work: a stand-in Forms API with traffic, the queue, and a SQLite table.',
  examples: [
    'forms-mirror demo',
    'forms-mirror demo --keep-running',
    'forms-mirror demo --sheets --keep-running',
  ],
  configure(command) {
    command
      .option('--seconds <number>', 'how long to watch submissions arrive', '20')
      .option('--keep-running', 'go on until Ctrl-C')
      .option('--submissions <number>', 'sample submissions to begin with', '1250')
      .option('--sheets', 'mirror into a stand-in for Google Sheets too, and show it as a page');
  },
  async run(call) {
    const { host } = call;
    const submissions = wholeNumberOption(call, 'submissions', 1_250, 1);
    const seconds = wholeNumberOption(call, 'seconds', 20);
    const watchMs = call.flag('keepRunning') ? Number.POSITIVE_INFINITY : seconds * 1_000;
    await using place = await openDemoPlace(host, { submissions, sheets: call.flag('sheets') });
    try {
      await play(call, place, watchMs);
    } catch (error) {
      // An end by Ctrl-C is as good an end as any.
      if (!host.stop.signal.aborted) throw error;
    }
    return 0;
  },
};

async function play({ host }: CommandCall, place: DemoPlace, watchMs: number): Promise<void> {
  const { app, sandbox, file, sheetUrl } = place;
  const { terminal, stop, clock } = host;
  const forms = await app.forms(stop.signal);
  const formId = forms.at(-1)?.id ?? '';
  terminal.print(
    `A stand-in Forms API with ${plural(forms.length, 'form')} and ${count(sandbox.store.count())} submissions\n` +
      `is mirrored through the embedded queue into ${file}` +
      (sheetUrl === undefined ? '\n' : `\nand into a sheet. Watch it here: ${sheetUrl}\n`),
  );
  const progress = showProgress(terminal, app.events, clock);
  const first = firstPasses(app, forms, stop.signal, (line) => {
    if (terminal.interactive) terminal.say(line);
  }).finally(() => progress[Symbol.dispose]());
  // It may fail while the queue is being opened; it is waited for below.
  first.catch(() => {});
  const queue = await openQueue(host, app, 'all');
  try {
    await first;
    showPreview(terminal, file, formId);
    await watch(host, app, sandbox, watchMs);
  } finally {
    await queue.stop();
  }
  terminal.print(`\n${await proof(app, forms, AbortSignal.timeout(PROOF_WITHIN_MS))}`);
  terminal.print(howToOpen(file, formId));
}
