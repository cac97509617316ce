import { MultiBar, type SingleBar } from 'cli-progress';
import type { Clock } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import { count } from '../base/format.ts';
import { printable } from '../base/printable.ts';
import type { RunSubject, SyncEvents } from '../sync/events.ts';
import { endedLine, runName, startedLine } from './run-report.ts';
import type { Terminal } from './terminal.ts';
import { shorten } from './text-table.ts';

/** How often a long run reports when stderr is not a terminal. */
const LINE_EVERY_MS = 5_000;
const NAME_WIDTH = 32;
const CLEAR_TO_END_OF_LINE = '\u001B[K';

type Progress = SyncEvents['run.progress'];

/**
 * Shows running runs on stderr: a bar each on a terminal, elsewhere a line every few seconds. Disposing it restores
 * the terminal.
 */
export function showProgress(
  terminal: Terminal,
  events: Events<SyncEvents>,
  clock: Clock,
): Disposable {
  return terminal.interactive ? showBars(terminal, events) : showLines(terminal, events, clock);
}

function showBars(terminal: Terminal, events: Events<SyncEvents>): Disposable {
  const stack = new MultiBar({
    stream: terminal.barStream,
    format: '{name} {bar} {percentage}%  {seen} of {all}  {eta_formatted}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
    fps: 10,
    hideCursor: true,
    clearOnComplete: true,
    emptyOnZero: true,
    gracefulExit: false,
    autopadding: true,
  });
  const bars = new Map<string, SingleBar>();
  const restore = terminal.redirect((text) => {
    if (bars.size === 0) terminal.barStream.write(text);
    else stack.log(text.replaceAll('\n', `${CLEAR_TO_END_OF_LINE}\n`));
  });
  const listeners = new DisposableStack();
  listeners.defer(
    events.on('run.started', (subject) => {
      const name = shorten(printable(runName(subject)), NAME_WIDTH).padEnd(NAME_WIDTH);
      bars.set(keyOf(subject), stack.create(1, 0, { name, seen: '0', all: '?' }));
    }),
  );
  listeners.defer(
    events.on('run.progress', (progress) => moveBar(bars.get(keyOf(progress)), progress)),
  );
  listeners.defer(
    events.on('run.ended', (report) => {
      const bar = bars.get(keyOf(report));
      bars.delete(keyOf(report));
      if (bar !== undefined) stack.remove(bar);
      // Restores the cursor, so that text written between two runs is not cleared away like a bar.
      if (bars.size === 0) stack.stop();
    }),
  );
  return {
    [Symbol.dispose]() {
      listeners.dispose();
      // Removing a bar also writes the log lines that are still buffered.
      for (const bar of bars.values()) stack.remove(bar);
      if (bars.size > 0) stack.stop();
      restore();
    },
  };
}

function moveBar(bar: SingleBar | undefined, { seen, total }: Progress): void {
  bar?.setTotal(Math.max(1, seen, total));
  bar?.update(seen, { seen: count(seen), all: count(total) });
}

function showLines(terminal: Terminal, events: Events<SyncEvents>, clock: Clock): Disposable {
  const printedAtMs = new Map<string, number>();
  const print = (subject: RunSubject, line: string): void => {
    printedAtMs.set(keyOf(subject), clock.now());
    terminal.say(line);
  };
  const listeners = new DisposableStack();
  listeners.defer(events.on('run.started', (subject) => print(subject, startedLine(subject))));
  listeners.defer(
    events.on('run.progress', (progress) => {
      const last = printedAtMs.get(keyOf(progress)) ?? 0;
      if (clock.now() - last < LINE_EVERY_MS) return;
      const { seen, total } = progress;
      print(progress, `${runName(progress)}: ${count(seen)} of ${count(total)}`);
    }),
  );
  listeners.defer(
    events.on('run.ended', (report) => {
      printedAtMs.delete(keyOf(report));
      terminal.say(endedLine(report));
    }),
  );
  return listeners;
}

const keyOf = ({ form, target }: Pick<RunSubject, 'form' | 'target'>): string =>
  JSON.stringify([form.id, target]);
