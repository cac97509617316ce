import { MirrorError, toMirrorError } from '../../src/base/errors.ts';
import { listenForStop, type SignalSource, type StopRequest } from '../../src/cli/host.ts';
import { lookAt, type Point, summary } from './points.ts';

/** Points, and the things made for them. */
export interface Trial {
  readonly points: readonly Point[];
  readonly print: (line: string) => void;
  readonly stop: StopRequest;
  /** Names of the things that were made, printed if they stay. */
  readonly made: string;
  readonly remove: () => Promise<void>;
  /** Text after the summary. */
  readonly end?: () => string;
}

/**
 * Listens for signals from the start: the first one ends after the current point, the second ends at once and leaves
 * things behind.
 */
export const listenForEnd = (
  source: SignalSource,
  made: string,
  print: Trial['print'],
): StopRequest =>
  listenForStop(
    {
      on: (signal, listener) => source.on(signal, listener),
      exit(code) {
        print(`What was made stays; remove it by hand: ${made}.`);
        return source.exit(code);
      },
    },
    () =>
      print(
        'Stopping after the point in hand, and removing the traces. Press Ctrl-C again to stop at once.',
      ),
  );

/**
 * Checks the points and removes the things made for them, also if it is stopped. Returns the exit code. Rejects with
 * the names of things that it cannot remove.
 */
export async function lookAndRemove(trial: Trial): Promise<number> {
  const { points, print, stop, made, remove, end } = trial;
  try {
    const findings = await lookAt(points, print, stop.signal);
    const { line, code } = summary(findings);
    const left = points.length - findings.length;
    const stopped = left === 0 ? '' : ` Stopped: ${left} were not looked at.`;
    print(`\n${line}${stopped}${end === undefined ? '' : ` ${end()}`}`);
    return stop.exitCode() ?? code;
  } finally {
    await remove().catch((error: unknown) => {
      const { code, message } = toMirrorError(error);
      const texts = [
        `Not all that was made could be removed: ${message}`,
        `Remove it by hand: ${made}.`,
      ];
      throw new MirrorError(code, texts, { cause: error });
    });
  }
}
