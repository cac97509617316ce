import { describe, expect, it } from 'vitest';
import type { HistoryKind } from '../../src/mirror/histories.ts';
import { dropViews, sqlOf } from './sql-by-hand.ts';
import type { QueriedStage } from './sql-target.ts';
import { AT_ONCE, CHECKPOINT, FORM, NAME, pass, row } from './target-harness.ts';

/** Whether the next pass has a history to begin or to end, which a look gives the form a pass for. */
export function describeHistoryDue(stage: QueriedStage): void {
  describe('a history of rows that is turned on or off', () => {
    const isDue = async (history: HistoryKind): Promise<boolean | undefined> => {
      await using target = await stage.place.open('default', undefined, history);
      return (await target.overview())[0]?.isHistoryDue;
    };
    /** A pass that finds nothing to write. */
    const passOver = async (history: HistoryKind): Promise<void> => {
      await using target = await stage.place.open('default', undefined, history);
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      await writer.finish(pass(), { checkpoint: CHECKPOINT });
    };

    it('is due until a pass was there, though it finds nothing to write', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a', { field_1_a: 'x' })], []);
      });
      const due: (boolean | undefined)[] = [];
      for (const history of ['status', 'full', 'status'] as const) {
        due.push(await isDue(history));
        await passOver(history);
        due.push(await isDue(history));
      }
      expect(due).toEqual([false, false, true, false, true, false]);
      const versions = await sqlOf(stage)('SELECT id FROM {contact_form_history}');
      expect(versions).toEqual([{ id: 'a' }]);
    });

    it('is due again when people dropped it', async () => {
      await passOver('full');
      await dropViews(stage.place);
      await sqlOf(stage)('DROP TABLE {contact_form_history}');
      expect(await isDue('full')).toBe(true);
      await passOver('full');
      expect(await isDue('full')).toBe(false);
    });
  });
}
