import { describe, expect, it } from 'vitest';
import { Events } from '../../src/base/events.ts';
import type { Logger } from '../../src/base/logger.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import { logSync, waitSentence } from '../../src/sync/sync-log.ts';
import type { PassRecord } from '../../src/mirror/types.ts';
import { passRecord, passReport } from '../health/fake-source.ts';
import { FORM_A } from '../health/health-of.ts';

describe('the log', () => {
  it('says of a short wait that it is short', () => {
    const notice = { request: 'GET /forms', attempt: 1, reason: 'answered 503' };
    const sentences = [0, 999, 4_000].map((delayMs) => waitSentence({ ...notice, delayMs }));
    const at = (when: string): string =>
      `Waiting on the source (answered 503); tried again ${when}.`;
    expect(sentences).toEqual([at('in a moment'), at('in a moment'), at('in 4 s')]);
  });

  /** Levels and texts of the lines that passes leave. */
  function linesOf(record: Partial<PassRecord>, absent = 0): string[] {
    const lines: string[] = [];
    const line = (level: string) => (_fields: unknown, text: string) =>
      void lines.push(`${level}: ${text}`);
    const logger = { debug: line('debug'), info: line('info'), warn: line('warn') };
    const events = new Events<SyncEvents>();
    logSync(events, logger as unknown as Logger, () => null);
    const report = passReport(FORM_A, 'db', passRecord(0, record));
    events.emit('pass.ended', { ...report, absent });
    return lines;
  }

  it('L17: calls no pass complete that knows of deletions', () => {
    expect(linesOf({})).toEqual(['debug: The pass is complete.']);
    const text = 'The pass ended well except for deletions that the next passes look for.';
    expect(linesOf({ inserted: 1 }, 2)).toEqual([`info: ${text}`]);
  });

  it('warns of withheld deletions once, not with each pass after', () => {
    const withheld = { outcome: 'withheld', code: 'DELETIONS_HELD', error: 'Withheld.' } as const;
    expect(linesOf({ ...withheld, kind: 'full' })).toEqual(['warn: Withheld.']);
    expect(linesOf(withheld)).toEqual(['debug: Withheld.']);
    expect(linesOf({ ...withheld, inserted: 1 })).toEqual(['info: Withheld.']);
  });
});
