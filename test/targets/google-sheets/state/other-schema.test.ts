import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { METADATA_KEYS } from '../../../../src/targets/google-sheets/api/metadata.ts';
import { STATE_VERSION } from '../../../../src/targets/google-sheets/state/form-state.ts';
import { AT_ONCE, CHECKPOINT, FORM, NAME, pass, row } from '../../../contract/target-harness.ts';
import { type SheetsPlace, sheetsPlace, SleepersClock } from '../sheets-place.ts';

const OTHER = { id: 'frm_2', slug: 'other', name: 'Other' };

describe('a spreadsheet of another schema', () => {
  let place: SheetsPlace;
  beforeEach(async () => {
    place = await sheetsPlace({ clock: new SleepersClock('2026-03-02T08:00:00.000Z') });
    await using writer = await (await place.open()).openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a', { field_1_a: 'Ada' })], []);
    await writer.finish(pass(), { checkpoint: CHECKPOINT });
  });
  afterEach(() => place.dispose());

  /** Gives the state that is kept on the form's tab another schema. */
  function change(schema: unknown): void {
    const { document } = place.sandbox.files.get(place.spreadsheetId);
    document.metadata = document.metadata.map((entry) => {
      if (entry.key !== METADATA_KEYS.state) return entry;
      const state = JSON.parse(entry.value ?? '') as object;
      return Object.assign({}, entry, { value: JSON.stringify({ ...state, v: schema }) });
    });
  }

  const everything = (): unknown => {
    const { inspect } = place.sandbox;
    const tabs = inspect.tabs(place.spreadsheetId);
    return [
      inspect.revision(place.spreadsheetId),
      inspect.metadata(place.spreadsheetId),
      tabs.map((tab) => [tab, inspect.grid(place.spreadsheetId, tab.sheetId)]),
    ];
  };

  it.each([
    ['a later one', STATE_VERSION + 1, `schema ${STATE_VERSION + 1}`],
    ['an earlier one', STATE_VERSION - 1, `schema ${STATE_VERSION - 1}`],
    ['no number', 'two', 'schema two'],
    ['none at all', undefined, 'no schema'],
  ])('%s is refused with what to do, and all is left as it is', async (_, schema, words) => {
    change(schema);
    const before = everything();
    const target = await place.openElsewhere();
    const message = expect.stringMatching(
      `The mirror in the spreadsheet https://.* was written by another build of forms-mirror \\(${words}, this one needs ${STATE_VERSION}\\)\\. Nothing in it was changed\\. Delete it, or choose another spreadsheet in the target URL, and run again\\.`,
    ) as string;
    const refusal = { code: 'OTHER_SCHEMA', retryable: false, message };
    for (const form of [FORM, OTHER])
      await expect(target.openWriter(form, AT_ONCE)).rejects.toMatchObject(refusal);
    await expect(target.overview()).rejects.toMatchObject(refusal);
    await expect(target.heldForms()).rejects.toMatchObject(refusal);
    await expect(target.reader(FORM.id)).rejects.toMatchObject(refusal);
    const at = '2026-03-02T08:00:00.000Z';
    const pause = { formId: null, since: at, by: 'me', reason: null };
    await expect(target.pause(pause)).rejects.toMatchObject(refusal);
    await expect(target.lockMarking(FORM.id)).rejects.toMatchObject(refusal);
    const look = { at, open: [], others: null };
    await expect(target.recordLook(look)).rejects.toMatchObject(refusal);
    expect(everything()).toEqual(before);
    // To try its rights, `check` makes a piece of metadata and removes it.
    expect((await target.check()).at(-1)).toMatchObject({ ok: false, message });
    expect((everything() as unknown[]).slice(1)).toEqual((before as unknown[]).slice(1));
  });
});
