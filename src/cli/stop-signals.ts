import type { ExitCode } from './failure.ts';

/** What {@link listenForStop} listens to: process, or a stand-in in tests. */
export interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  exit(code: number): unknown;
}

/** A person's or supervisor's wish to stop. */
export interface StopRequest {
  /** Aborts at the first SIGINT or SIGTERM: finish the batch in hand, then end. */
  readonly signal: AbortSignal;
  /** 130 after SIGINT, 143 after SIGTERM; undefined before either. */
  exitCode(): ExitCode | undefined;
}

/** The first signal asks, the second ends the process at once. `onFirst` is told so that it can say what happens. */
export function listenForStop(source: SignalSource, onFirst: () => void): StopRequest {
  const controller = new AbortController();
  let code: ExitCode | undefined;
  const receive = (exitCode: ExitCode): void => {
    if (code !== undefined) {
      source.exit(exitCode);
      return;
    }
    code = exitCode;
    onFirst();
    controller.abort();
  };
  source.on('SIGINT', () => receive(130));
  source.on('SIGTERM', () => receive(143));
  return { signal: controller.signal, exitCode: () => code };
}
