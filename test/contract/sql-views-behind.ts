import { describe, expect, it, type TestContext } from 'vitest';
import type { TargetNotice } from '../../src/mirror/notices.ts';
import type { FormIdentity, PickedField } from '../../src/mirror/types.ts';
import { sqlOf } from './sql-by-hand.ts';
import type { SqlStage } from './sql-target.ts';
import { CHECKPOINT, fieldList, FORM, NAME, pass, row } from './target-harness.ts';

const OTHER: FormIdentity = { id: 'frm_2', slug: 'event', name: 'Event' };

/** What is said of views that could not be made. */
export function describeSqlViewsBehind(stage: SqlStage): void {
  const sql = sqlOf(stage);
  /** A full pass over a form of one field and one submission; what ending it told. */
  const passOver = (form: FormIdentity, name: PickedField) =>
    stage.write(async (writer) => {
      await writer.prepare(fieldList(name));
      await writer.apply([row(form.id, { [name.id]: 'x' })], []);
      return writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    }, form);
  /** Reads in a transaction that stays open, as a database client does that does not commit by itself; ends it. */
  const readOn = async (
    { skip }: TestContext,
    ...views: string[]
  ): Promise<() => Promise<void>> => {
    if (stage.place.product === 'SQLite') skip('nobody who reads is in its way');
    await sql('BEGIN');
    for (const view of views) await sql(`SELECT * FROM {${view}}`);
    return async () => void (await sql('COMMIT'));
  };
  const look = (): Promise<void> =>
    stage.target.recordLook({
      at: '2036-03-05T00:00:00.000Z',
      open: [],
      differing: [],
      others: null,
      uncounted: new Map(),
    });
  const told = async (form: FormIdentity): Promise<TargetNotice[]> => {
    const target = await stage.open();
    const overview = (await target.overview()).find(({ formId }) => formId === form.id);
    const notices = (overview?.notices ?? []).filter(({ code }) => code === 'VIEW_BEHIND');
    const read = (await (await target.reader(form.id))?.notices()) ?? [];
    expect(read.filter(({ code }) => code === 'VIEW_BEHIND')).toEqual(notices);
    return notices;
  };
  const checked = async (): Promise<string[]> =>
    (await stage.target.check())
      .map(({ message }) => message)
      .filter((text) => /behind/.test(text));

  describe('a view that could not be made', () => {
    it('L17: is told of by every surface, of the forms that it lacks, from then until it is made', async (test) => {
      await passOver(FORM, NAME);
      const end = await readOn(test, 'answers', 'submissions');
      const atEnd = await passOver(OTHER, NAME);
      const first = await told(OTHER);
      expect(first).toEqual([
        expect.objectContaining({
          blocks: false,
          message: expect.stringMatching(
            /^The views .*answers.* and .*submissions.* are behind: since \d{4}-\d\d-\d\d \d\d:\d\d UTC .* a transaction that is still open reads it\./,
          ),
          remedy: expect.stringMatching(/^End that transaction: /),
        }),
      ]);
      expect(atEnd).toEqual(expect.arrayContaining(first));
      expect(await told(FORM)).toEqual([]);
      expect(await checked()).toEqual([expect.stringMatching(/these forms.*: event\.$/)]);
      // As long as nothing changes, nothing is said anew.
      await passOver(OTHER, NAME);
      await look();
      expect(await told(OTHER)).toEqual(first);
      await end();
      await look();
      expect(await told(OTHER)).toEqual([]);
      expect(await checked()).toEqual([]);
      expect(await sql('SELECT submission_id FROM {submissions}')).toHaveLength(2);
      expect(
        await sql('SELECT value FROM {mirror_meta} WHERE "key" LIKE \'view failed%\''),
      ).toEqual([]);
    });

    it('L17: is told of where it is that of live rows, and keeps those over all forms from nothing', async (test) => {
      await passOver(FORM, NAME);
      await passOver(OTHER, NAME);
      const end = await readOn(test, 'contact_form_live');
      await passOver(FORM, { ...NAME, label: 'Name' });
      const tabs = (await told(FORM)).map(({ tab }) => tab);
      expect(tabs).toEqual(['contact_form_live']);
      expect(await told(OTHER)).toEqual([]);
      await end();
      expect(await sql("SELECT label FROM {answers} WHERE label = 'Name'")).toHaveLength(1);
      // The form itself has nothing new: a look makes what is left.
      await look();
      expect(await told(FORM)).toEqual([]);
    });

    it('is not told of while forms only come one after the other', async () => {
      for (let n = 0; n < 7; n++) await passOver({ id: `f${n}`, slug: `s${n}`, name: 'S' }, NAME);
      expect(await told({ id: 'f6', slug: 's6', name: 'S' })).toEqual([]);
    });
  });
}
