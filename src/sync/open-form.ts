import type { Source } from '../forms/source.ts';
import { hashedCell } from '../mirror/cells.ts';
import { fieldTest, isSameUnder, type Joining, storedUnder } from '../mirror/selection.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';
import { distrust, identityOf, runEnded } from '../mirror/form-state.ts';
import type { OpenForm, Run } from '../mirror/port.ts';
import { Sink } from './sink.ts';
import { requireUnpaused, type Target } from './target.ts';

/**
 * Opens a form for writing: takes its lease, updates its fields, and brings the stored rows in line with the settings. Throws
 * PAUSED, SETTINGS, SLUG_REUSED, TARGET_BUSY and other errors of the target.
 */
export async function openForWriting(target: Target, source: Source, shown: Form): Promise<Sink> {
  const { id, slug, name } = shown;
  await requireUnpaused(target, shown);
  const joining = await target.admit(shown, source.signal, true);
  const form = await target.store.open({ id, slug, name });
  try {
    const { rehashed, isChanged } = await followSettings(form, shown, joining);
    const reasons = [...form.losses, ...(isChanged ? [SETTINGS_CHANGED] : [])];
    const sink = new Sink({ target, source, form, shown, joining, reasons });
    sink.applied = { ...sink.applied, updated: rehashed };
    await sink.prepare();
    if (form.state.goneAtMs !== null) form.note((state) => ({ ...state, goneAtMs: null }));
    return sink;
  } catch (error) {
    await form[Symbol.asyncDispose]();
    throw error;
  }
}

/** Records that the form is gone at the source, if the target has it; its rows stay. `run`: the run that found it. */
export async function noteGone(target: Target, identity: FormIdentity, run: Run): Promise<void> {
  const known = (await target.store.states()).find(({ state }) => state.formId === identity.id);
  if (known === undefined || known.state.goneAtMs !== null) return;
  await using form = await target.store.open(identityOf(known.state));
  await form.commit({
    run,
    state: (state) => runEnded({ ...state, goneAtMs: target.clock.now() }, run),
  });
  await form.finish();
}

const SETTINGS_CHANGED =
  'The selected or hashed fields, or the way to hash them, have changed since the rows were stored.';

/**
 * If the rows were stored under other settings, hashes old answers at once and has everything read again. Returns how many rows it
 * hashed.
 */
async function followSettings(
  form: OpenForm,
  source: Form,
  joining: Joining,
): Promise<{ readonly rehashed: number; readonly isChanged: boolean }> {
  const now = storedUnder(joining, source);
  const before = form.state.storedUnder;
  let rehashed = 0;
  if (isSameUnder(before, now)) return { rehashed, isChanged: false };
  const { selection, hashKey } = joining;
  if (hashKey !== undefined && before?.hashing !== now.hashing) {
    const fieldIds = form.fields
      .map(({ id }) => id)
      .filter(fieldTest(selection.fields, source))
      .filter(fieldTest(selection.hashed, source));
    if (fieldIds.length > 0)
      rehashed = await form.erase({
        kind: 'rehash',
        fieldIds,
        hash: (cell) => hashedCell(cell, hashKey),
      });
  }
  form.note((state) => ({
    ...(before === null ? state : distrust(state)),
    storedUnder: now,
  }));
  return { rehashed, isChanged: before !== null };
}
