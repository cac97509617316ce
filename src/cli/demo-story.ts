import type { App } from '../app.ts';
import { throwIfAborted } from '../base/clock.ts';
import type { Form } from '../mirror/types.ts';
import { verifyForm } from '../sync/verify.ts';
import { endedLine, passName } from './pass-lines.ts';
import type { Terminal } from './terminal.ts';
import { count, plural, timeSpan } from './words.ts';

/**
 * Resolves when each of these forms has had a pass into the first target that was proven. Rejects when `signal` aborts,
 * or when one fails for good. `tell` gets a line about each pass.
 */
export function firstPasses(
  app: App,
  forms: readonly Form[],
  signal: AbortSignal,
  tell: (line: string) => void,
): Promise<void> {
  const waiting = new Set(forms.map(({ id }) => id));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = app.events.on('pass.ended', (report) => {
    const { form, target, outcome, failure } = report;
    if (target !== app.config.targets[0]?.name) return;
    tell(endedLine(report));
    if (outcome === 'ok') waiting.delete(form.id);
    if (outcome === 'failed' && failure !== null && !failure.retryable) reject(failure);
    if (waiting.size === 0) resolve();
  });
  const abort = (): void => {
    try {
      throwIfAborted(signal);
    } catch (error) {
      reject(error);
    }
  };
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  return promise.finally(() => {
    stop();
    signal.removeEventListener('abort', abort);
  });
}

/** Tells each pass that brought something, as it happens. Returns a function that ends this. */
export function tellLive(terminal: Terminal, app: App): () => void {
  const several = app.config.targets.length > 1;
  const stops = [
    app.events.on('pass.ended', (report) => {
      const { inserted, updated, deleted, ms } = report;
      const changes = [
        ...(inserted > 0 ? [`+${count(inserted)} new`] : []),
        ...(updated > 0 ? [`${count(updated)} changed`] : []),
        ...(deleted > 0 ? [`${count(deleted)} marked deleted`] : []),
      ];
      if (changes.length === 0) return;
      const time = terminal.style('dim', ms < 1_000 ? `${ms} ms` : timeSpan(ms));
      const name = several ? passName(report) : report.form.slug;
      terminal.print(`  ${name}: ${terminal.style('green', changes.join(', '))}  ${time}`);
    }),
    app.events.on('columns.changed', ({ form, relabelled }) => {
      for (const { from, to } of relabelled) {
        terminal.print(`  ${form.slug}: “${from}” is now called “${to}”; same column, new label`);
      }
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** A last full pass over a source at rest, and a comparison row by row. Returns what to say about it. */
export async function proof(
  app: App,
  forms: readonly Form[],
  signal: AbortSignal,
): Promise<string> {
  let compared = 0;
  for (const { name } of app.config.targets) {
    const target = await app.target(name);
    for (const { id: formId, slug } of forms) {
      await app.pass({ formId, target: name, kind: 'full' }, signal, { waitMs: 10_000 });
      const request = { formId, picks: app.picksOf(name), hashKey: undefined };
      const report = await verifyForm(app.context, target, request, signal);
      if (report.outcome !== 'same')
        return `The copy of ${slug} in ${name} differs from its source.`;
      compared += report.compared;
    }
  }
  return `Compared row by row with the source: ${plural(compared, 'row')}, all the same.`;
}
