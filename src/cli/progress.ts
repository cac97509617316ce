import { MultiBar, type SingleBar } from 'cli-progress';
import type { Clock } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import type { PassProgress, PassReport, PassSubject, SyncEvents } from '../sync/events.ts';
import { endedLine, passName, progressLine, startedLine } from './pass-lines.ts';
import type { Terminal } from './terminal.ts';
import { shorten } from './text-table.ts';
import { count } from './words.ts';

/** Where no person watches, a long pass reports this often. */
const LINE_EVERY_MS = 5_000;
const NAME_WIDTH = 32;
const CLEAR_TO_END_OF_LINE = '\u001B[K';

/**
 * Shows running passes on stderr: a bar each where a person watches, else a line now and then. Dispose to leave the
 * terminal as it was.
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
    stream: terminal.stderr,
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
  const undo = terminal.redirect((text) => {
    if (bars.size === 0) terminal.stderr.write(text);
    else stack.log(text.replaceAll('\n', `${CLEAR_TO_END_OF_LINE}\n`));
  });
  const stops = [
    events.on('pass.started', (subject) => {
      const name = shorten(passName(subject), NAME_WIDTH).padEnd(NAME_WIDTH);
      bars.set(keyOf(subject), stack.create(1, 0, { name, seen: '0', all: '?' }));
    }),
    events.on('pass.progress', (progress) => moveBar(bars.get(keyOf(progress)), progress)),
    events.on('pass.ended', (report) => {
      const bar = bars.get(keyOf(report));
      bars.delete(keyOf(report));
      if (bar !== undefined) stack.remove(bar);
      // Gives the cursor back, so that what is written between two passes is not taken for a bar and cleared away.
      if (bars.size === 0) stack.stop();
    }),
  ];
  return {
    [Symbol.dispose]() {
      for (const stop of stops) stop();
      // Removing a bar also writes out what was logged since the last time.
      for (const bar of bars.values()) stack.remove(bar);
      if (bars.size > 0) stack.stop();
      undo();
    },
  };
}

function moveBar(bar: SingleBar | undefined, { seen, total }: PassProgress): void {
  bar?.setTotal(Math.max(1, seen, total));
  bar?.update(seen, { seen: count(seen), all: count(total) });
}

function showLines(terminal: Terminal, events: Events<SyncEvents>, clock: Clock): Disposable {
  const spokenAt = new Map<string, number>();
  const speak = (subject: PassSubject, line: string): void => {
    spokenAt.set(keyOf(subject), clock.now());
    terminal.say(line);
  };
  const stops = [
    events.on('pass.started', (subject) => speak(subject, startedLine(subject))),
    events.on('pass.progress', (progress) => {
      const last = spokenAt.get(keyOf(progress)) ?? 0;
      if (clock.now() - last >= LINE_EVERY_MS) speak(progress, progressLine(progress));
    }),
    events.on('pass.ended', (report: PassReport) => {
      spokenAt.delete(keyOf(report));
      terminal.say(endedLine(report));
    }),
  ];
  return {
    [Symbol.dispose]() {
      for (const stop of stops) stop();
    },
  };
}

/** Without the kind: an incremental pass may turn out to be a full one. */
const keyOf = ({ form, target }: PassSubject): string => JSON.stringify([form.id, target]);
