import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Breach } from './breach.ts';
import type { Run } from './program.ts';

/** Puts something else in a database's place; returns a function that removes it. */
export function breakDatabase(path: string): () => void {
  const files = ['', '-wal', '-shm'].map((end) => `${path}${end}`);
  const kept = files.filter((file) => existsSync(file));
  for (const file of kept) renameSync(file, `${file}.aside`);
  writeFileSync(path, 'This is no database. '.repeat(100));
  return () => {
    for (const file of files) rmSync(file, { force: true });
    for (const file of kept) renameSync(`${file}.aside`, file);
  };
}

/** The unusable part: a form at the source, or a target. */
export type Outage = { readonly form: string } | { readonly target: string };

/** L12: it delays no other. `places`: the forms and targets that each need a run. */
export function isolationBreach(
  outage: Outage,
  runs: readonly Run[],
  places: readonly { readonly formId: string; readonly target: string }[],
  mayFail: boolean,
): Breach | null {
  for (const { formId, target } of places) {
    const isOther = 'form' in outage ? formId !== outage.form : target !== outage.target;
    if (!isOther) continue;
    const run = runs.find((each) => each.formId === formId && each.target === target);
    if (run === undefined) return `L12: there is no run over ${formId} in ${target}`;
    if (run.outcome === 'failed' && !mayFail)
      return `L12: the run over ${formId} in ${target} failed, too: ${run.error}`;
  }
  return null;
}
