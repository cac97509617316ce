import type { App } from '../app.ts';
import { count, plural, duration } from '../base/format.ts';
import type { Form } from '../mirror/types.ts';
import { endedLine, passName } from './pass-report.ts';
import type { Terminal } from './terminal.ts';

/**
 * Resolves when each of these forms has had a proven pass into every target. Rejects when `signal` aborts, or when
 * a pass fails in a way that a retry cannot mend. `print` gets a line about each pass.
 */
export async function firstPasses(
  app: App,
  forms: readonly Form[],
  signal: AbortSignal,
  print: (line: string) => void,
): Promise<void> {
  const place = (formId: string, target: string): string => `${target} ${formId}`;
  const waiting = new Set(
    app.config.targets.flatMap(({ name }) => forms.map(({ id }) => place(id, name))),
  );
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  using listeners = new DisposableStack();
  listeners.defer(
    app.events.on('pass.ended', (report) => {
      const { form, target, outcome, failure } = report;
      print(endedLine(report));
      if (outcome === 'ok') waiting.delete(place(form.id, target));
      if (outcome === 'failed' && failure !== null && !failure.retryable) reject(failure);
      if (waiting.size === 0) resolve();
    }),
  );
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  listeners.defer(() => signal.removeEventListener('abort', abort));
  if (signal.aborted) abort();
  await promise;
}

/** Shows each pass that changed something, as it ends, until it is disposed. */
export function showChanges(terminal: Terminal, app: App): Disposable {
  const several = app.config.targets.length > 1;
  const listeners = new DisposableStack();
  listeners.defer(
    app.events.on('pass.ended', (report) => {
      const { inserted, updated, deleted, ms } = report;
      const changes = [
        ...(inserted > 0 ? [`+${count(inserted)} new`] : []),
        ...(updated > 0 ? [`${count(updated)} changed`] : []),
        ...(deleted > 0 ? [`${count(deleted)} marked deleted`] : []),
      ];
      if (changes.length === 0) return;
      const time = terminal.style('dim', ms < 1_000 ? `${ms} ms` : duration(ms));
      const name = several ? passName(report) : report.form.slug;
      terminal.print(`  ${name}: ${terminal.style('green', changes.join(', '))}  ${time}`);
    }),
  );
  listeners.defer(
    app.events.on('columns.changed', ({ form, relabelled }) => {
      for (const { from, to } of relabelled) {
        terminal.print(`  ${form.slug}: “${from}” is now called “${to}”; same column, new label`);
      }
    }),
  );
  return listeners;
}

/** A last full pass over the now quiet source, then a comparison row by row. Returns the result as a sentence. */
export async function verifyCopy(
  app: App,
  forms: readonly Form[],
  signal: AbortSignal,
): Promise<string> {
  let compared = 0;
  for (const { name } of app.config.targets) {
    for (const { id: formId, slug } of forms) {
      await app.pass({ formId, target: name, kind: 'full' }, signal, { waitMs: 10_000 });
      const started = await app.startVerification(name, formId, null, signal);
      const report = await started.finish({});
      if (report.outcome !== 'same')
        return `The copy of ${slug} in ${name} differs from its source.`;
      compared += report.compared;
    }
  }
  return `Compared row by row with the source: ${plural(compared, 'row')}, all the same.`;
}
