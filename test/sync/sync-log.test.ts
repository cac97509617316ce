import { describe, expect, it } from 'vitest';
import { Events } from '../../src/base/events.ts';
import type { Logger } from '../../src/base/logger.ts';
import type { TargetNotice } from '../../src/mirror/port.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import { blankRun, type RunReport } from '../../src/sync/run-form.ts';
import { logSync, logWaits } from '../../src/sync/sync-log.ts';

/** Logs events; returns levels and texts of the lines since the last call. */
function logging() {
  let lines: string[] = [];
  const line = (level: string) => (_fields: unknown, text: string) =>
    void lines.push(`${level}: ${text}`);
  const logger = { debug: line('debug'), info: line('info'), warn: line('warn') };
  const events = new Events<SyncEvents>();
  logSync(events, logger as unknown as Logger);
  logWaits(events, logger as unknown as Logger);
  const form = { id: 'frm_a', slug: 'a', name: 'A' };
  return {
    events,
    wait(notice: SyncEvents['forms.retry']): string[] {
      lines = [];
      events.emit('forms.retry', notice);
      return lines;
    },
    run(changes: Partial<RunReport>): string[] {
      lines = [];
      const ended = { outcome: 'ok', code: null, error: null, failure: null } as const;
      events.emit('run.ended', { ...blankRun(form, 'db', null, 0, 9), ...ended, ...changes });
      return lines;
    },
  };
}

describe('the log', () => {
  it('warns of a long wait only', () => {
    const notice = { request: 'GET /forms', attempt: 1, reason: 'answered 503' };
    const log = logging();
    const said = [0, 999, 4_000].flatMap((delayMs) => log.wait({ ...notice, delayMs }));
    const at = (when: string): string =>
      `Waiting for the source (answered 503); tried again ${when}.`;
    expect(said).toEqual([
      `debug: ${at('in 0.0 s')}`,
      `debug: ${at('in 1.0 s')}`,
      `warn: ${at('in 4.0 s')}`,
    ]);
  });

  it.each<[Partial<RunReport>, string[]]>([
    [{}, ['debug: The run is complete.']],
    [{ inserted: 1 }, ['info: The run is complete.']],
    [
      { reasons: ['Rows were missing.'] },
      ['warn: Rows were missing.', 'debug: The run is complete.'],
    ],
    [{ outcome: 'incomplete', code: 'RUN_INCOMPLETE', error: 'It moved.' }, ['warn: It moved.']],
    [{ outcome: 'failed', code: 'TARGET_FULL', error: 'No room.' }, ['warn: No room.']],
    [{ outcome: 'busy', error: 'Another has it.' }, ['info: Another has it.']],
    [{ outcome: 'stopped' }, ['info: The run ended: stopped.']],
  ])('L17: calls only a complete copy complete: %#', (report, expected) => {
    expect(logging().run(report)).toEqual(expected);
  });

  it('warns of held deletions once, and again only when their number changes', () => {
    const log = logging();
    const held = { outcome: 'held', held: 9, code: 'DELETIONS_HELD', error: 'Held.' } as const;
    expect(log.run(held)).toEqual(['warn: Held.']);
    expect(log.run(held)).toEqual(['debug: Held.']);
    expect(log.run({ ...held, held: 10 })).toEqual(['warn: Held.']);
    log.run({});
    expect(log.run({ ...held, held: 10 })).toEqual(['warn: Held.']);
  });

  it('warns of changes by people in a target only when they are new', () => {
    const log = logging();
    const notice: TargetNotice = {
      blocks: false,
      code: 'ROWS_COPIED',
      message: 'Copied.',
      remedy: 'Clear.',
    };
    const well = 'debug: The run is complete.';
    expect(log.run({ notices: [notice] })).toEqual([well, 'warn: Copied. Clear.']);
    expect(log.run({ notices: [notice] })).toEqual([well]);
    expect(log.run({ outcome: 'busy' })).toHaveLength(1);
    log.run({ notices: [] });
    expect(log.run({ notices: [notice] })).toHaveLength(2);
  });
});
