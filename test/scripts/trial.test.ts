import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { SignalSource } from '../../src/cli/host.ts';
import { NotSeen, type Point } from '../../scripts/try/points.ts';
import { listenForEnd, lookAndRemove } from '../../scripts/try/trial.ts';

class Signals extends EventEmitter implements SignalSource {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

/** A trial of two points, in the first of which signals come. */
function trial(signals: readonly ('SIGINT' | 'SIGTERM')[], remove = async (): Promise<void> => {}) {
  const source = new Signals();
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  const stop = listenForEnd(source, 'the tab "x"', print);
  const points: Point[] = [
    {
      says: 'One.',
      async look() {
        for (const signal of signals) source.emit(signal);
        return undefined;
      },
    },
    { says: 'Two.', look: () => Promise.reject(new NotSeen('It did not happen.')) },
  ];
  const ending = lookAndRemove({ points, print, stop, made: 'the tab "x"', remove });
  return { ending, lines, exits: source.exits };
}

describe('a trial', () => {
  it('says honestly that what a point speaks of did not happen', async () => {
    const { ending, lines } = trial([]);
    expect(await ending).toBe(1);
    expect(lines).toContain('? Two.');
    expect(lines).toContain('    It did not happen.');
  });

  it('ends with the point in hand when it is to stop, and removes its traces', async () => {
    let removed = 0;
    const { ending, lines } = trial(['SIGTERM'], async () => {
      removed++;
    });
    expect(await ending).toBe(143);
    expect(removed).toBe(1);
    expect(lines).not.toContain('? Two.');
    expect(lines.at(-1)).toContain('Stopped: 1 were not looked at.');
  });

  it('names what stays at the second signal', async () => {
    const { ending, lines, exits } = trial(['SIGINT', 'SIGINT']);
    await ending;
    expect(exits).toEqual([130]);
    expect(lines).toContain('What was made stays; remove it by hand: the tab "x".');
  });

  it('names what could not be removed', async () => {
    const { ending } = trial([], () => Promise.reject(new TypeError('hunter2')));
    await expect(ending).rejects.toThrow(/Remove it by hand: the tab "x"\./);
  });
});
