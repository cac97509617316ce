import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PassRecord } from '../../../../src/mirror/types.ts';
import {
  decodeCatalogue,
  encodeCatalogue,
  type FieldCatalogue,
} from '../../../../src/targets/google-sheets/columns/field-catalogue.ts';
import {
  decodeState,
  EMPTY_STATE,
  encodeState,
  type FormState,
  HEARTBEAT_MS,
  isHeartbeat,
  MAX_STATE_CHARACTERS,
  withPass,
} from '../../../../src/targets/google-sheets/state/form-state.ts';
import { StateTab } from '../../../../src/targets/google-sheets/state/state-tab.ts';
import {
  freeTabTitle,
  headerText,
} from '../../../../src/targets/google-sheets/columns/tab-title.ts';
import { CHECKPOINT, pass } from '../../../contract/target-harness.ts';
import { propertyRuns } from '../../../support/property.ts';

const time = fc
  .integer({ min: Date.UTC(2026, 0), max: Date.UTC(2030, 0) })
  .map((ms) => new Date(ms).toISOString());
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const record: fc.Arbitrary<PassRecord> = fc
  .record({
    kind: fc.constantFrom('incremental' as const, 'full' as const),
    startedAt: time,
    endedAt: time,
    outcome: fc.constantFrom('ok' as const, 'failed' as const, 'incomplete' as const),
    total: fc.option(fc.nat()),
    inserted: fc.nat(),
    error: fc.option(text),
  })
  .map((rest) => pass(rest));

describe('a form’s state as metadata', () => {
  it('comes back as it went in, and stays small', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 40, size: 'max' }), text, (records, name) => {
        let state: FormState = { ...EMPTY_STATE, name, slug: 'slug', checkpoint: CHECKPOINT };
        for (const one of records) state = withPass(state, one, {});
        expect(decodeState(encodeState(state), 'the sheet')).toEqual(state);
        expect(encodeState(state).length).toBeLessThanOrEqual(MAX_STATE_CHARACTERS);
        // The notable passes are kept, however many came after them.
        const newest = records.toReversed();
        expect(state.passes[0]).toEqual(newest[0]);
        const isOk = (one: PassRecord): boolean => one.outcome === 'ok';
        expect(state.passes.find(isOk)).toEqual(newest.find(isOk));
        const isFull = (one: PassRecord): boolean => one.kind === 'full';
        expect(state.passes.find(isFull)).toEqual(newest.find(isFull));
      }),
      propertyRuns(100),
    );
  });

  it('gives up old passes and the ends of errors for its size, never the notable ones', () => {
    let state: FormState = { ...EMPTY_STATE, checkpoint: CHECKPOINT };
    state = withPass(state, pass({ kind: 'full' }), {});
    for (let index = 0; index < 9; index++) {
      state = withPass(
        state,
        pass({ outcome: 'failed', error: `${index} ${'ž'.repeat(2_000)}` }),
        {},
      );
    }
    const back = decodeState(encodeState(state), 'the sheet');
    expect(encodeState(state).length).toBeLessThanOrEqual(MAX_STATE_CHARACTERS);
    expect(back.passes.at(-1)).toMatchObject({ kind: 'full', outcome: 'ok' });
    expect(back.passes[0]?.error).toMatch(/^8 ž+$/);
    expect(back.checkpoint).toEqual(CHECKPOINT);
  });

  it.each(['', 'nonsense', '[]', '{"v":3}', 'null', '7', '{"v":3,"p":[[9]],"n":"x","c":[1]}'])(
    'that is damaged is an empty one: %s',
    (damaged) => {
      expect(decodeState(damaged, 'the sheet')).toEqual(EMPTY_STATE);
    },
  );

  it('waits for the next write when a pass brought nothing new, but not for long', () => {
    const at = (ms: number, rest: Partial<PassRecord> = {}): PassRecord =>
      pass({ inserted: 0, endedAt: new Date(Date.UTC(2026, 2, 2) + ms).toISOString(), ...rest });
    const old = withPass({ ...EMPTY_STATE, checkpoint: CHECKPOINT }, at(0), {});
    const quiet = (one: PassRecord, changes: Parameters<typeof withPass>[2] = {}): boolean =>
      isHeartbeat(old, withPass(old, one, changes));
    expect(quiet(at(60_000))).toBe(true);
    expect(quiet(at(60_000, { updated: 5 }))).toBe(true);
    expect(quiet(at(60_000), { checkpoint: { ...CHECKPOINT, provenAt: at(60_000).endedAt } })).toBe(
      true,
    );
    expect(quiet(at(HEARTBEAT_MS))).toBe(false);
    expect(quiet(at(60_000, { inserted: 1 }))).toBe(false);
    expect(quiet(at(60_000, { outcome: 'failed' }))).toBe(false);
    expect(quiet(at(60_000), { checkpoint: { ...CHECKPOINT, total: 3 } })).toBe(false);
    expect(quiet(at(60_000), { checkpoint: { ...CHECKPOINT, watermark: null } })).toBe(false);
    expect(quiet(at(60_000), { checkpoint: { ...CHECKPOINT, absent: 1 } })).toBe(false);
    expect(quiet(at(60_000, { outcome: 'withheld', withheld: 30 }))).toBe(false);
    const withheld = withPass(old, at(1, { outcome: 'withheld', withheld: 30 }), {});
    const again = at(60_000, { outcome: 'withheld', withheld: 30 });
    expect(isHeartbeat(withheld, withPass(withheld, again, {}))).toBe(true);
    expect(quiet(at(60_000), { goneAt: at(0).endedAt })).toBe(false);
    expect(isHeartbeat(EMPTY_STATE, withPass(EMPTY_STATE, at(0), {}))).toBe(false);
  });
});

describe('the catalogue of fields', () => {
  it('comes back as it went in', () => {
    const field = fc.record({
      id: text,
      label: text,
      header: text,
      position: fc.nat(),
      removedAt: fc.option(time),
      dropped: fc.boolean(),
      content: fc.constantFrom('none' as const, 'numbers' as const, 'mixed' as const),
      former: fc.array(fc.record({ label: text, until: time }), { maxLength: 8 }),
    });
    fc.assert(
      fc.property(fc.array(field, { maxLength: 12 }), (fields) => {
        const catalogue: FieldCatalogue = { fields, droppedOwn: ['s:at'] };
        expect(decodeCatalogue(encodeCatalogue(catalogue))).toEqual(catalogue);
      }),
      propertyRuns(100),
    );
    expect(decodeCatalogue('nonsense')).toBeUndefined();
    expect(decodeCatalogue('{"v":9}')).toBeUndefined();
  });
});

describe('the state tab', () => {
  /** What the requests of a state tab make of a tab's cells. */
  function applied(stateTab: StateTab, cells: string[][]): string[][] {
    for (const { updateCells } of stateTab.requests(7, 1_000)) {
      const row = updateCells?.start?.rowIndex ?? 0;
      cells[row] = (updateCells?.rows?.[0]?.values ?? []).map(
        (value) => value.userEnteredValue?.stringValue ?? '',
      );
    }
    stateTab.written();
    return Array.from(cells, (row) => row ?? []);
  }

  it('holds what was put in, after any history, in as few rows as it takes', () => {
    const step = fc.record({
      kind: fc.constantFrom('list' as const, 'unlist' as const, 'refuse' as const, 'text' as const),
      form: fc.constantFrom('f1', 'f2'),
      id: fc.constantFrom('a', 'b', 'c'),
      n: fc.nat(3),
    });
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 8 }), (rounds) => {
        let cells: string[][] = [['Kind']];
        const listed = new Map<string, string>();
        const refused = new Map<string, number>();
        const texts = new Map<string, string>();
        for (const round of rounds) {
          const stateTab = new StateTab(cells);
          for (const { kind, form, id, n } of round) {
            const at = `2026-01-0${n + 1}`;
            if (kind === 'list') {
              const seen = { firstSeenAt: at, lastSeenAt: at };
              stateTab.list(form, { submissionId: id, reason: 'odd', stored: n > 1, ...seen });
              listed.set(`${form} ${id}`, at);
            } else if (kind === 'unlist') {
              stateTab.unlist(form, id, 'odd');
              listed.delete(`${form} ${id}`);
            } else if (kind === 'refuse') {
              stateTab.noteMark(form, {
                submissionId: id,
                status: 'NEW',
                wanted: `W${n}`,
                reason: 'no',
                at,
              });
              refused.set(`${form} ${id} ${n}`, 1);
            } else {
              stateTab.setText(form, n === 0 ? undefined : 'x'.repeat(n * 40_000));
              if (n === 0) texts.delete(form);
              else texts.set(form, 'x'.repeat(n * 40_000));
            }
          }
          cells = applied(stateTab, cells);
        }
        const read = new StateTab(cells);
        for (const form of ['f1', 'f2']) {
          const own = (keys: Iterable<string>): number =>
            [...keys].filter((key) => key.startsWith(`${form} `)).length;
          expect(read.rejections(form)).toHaveLength(own(listed.keys()));
          for (const item of read.rejections(form)) {
            expect(item.lastSeenAt).toBe(listed.get(`${form} ${item.submissionId}`));
          }
          expect(read.refusals(form)).toHaveLength(own(refused.keys()));
          expect(read.text(form)).toBe(texts.get(form));
        }
        expect(cells.length).toBeLessThan(50);
      }),
      propertyRuns(100),
    );
  });

  it('asks for room when it needs some, and survives what people do to its tab', () => {
    const stateTab = new StateTab();
    for (let index = 0; index < 60; index++) {
      stateTab.list('f', {
        submissionId: `s${index}`,
        reason: 'odd',
        stored: true,
        firstSeenAt: '',
        lastSeenAt: '',
      });
    }
    expect(stateTab.requests(7, 50)[0]?.appendDimension?.length).toBeGreaterThanOrEqual(11);
    const cells = applied(stateTab, [['Kind']]);
    const [header = [], first = [], ...others] = cells;
    const torn = new StateTab([header, first, ['what', 'is', 'this'], [], first, ...others]);
    expect(torn.rejections('f')).toHaveLength(60);
  });
});

describe('titles', () => {
  it('of new tabs are valid, and taken by no other tab', () => {
    expect(freeTabTitle("Form: [what]? it's / that *", [])).toBe("Form what it's that");
    expect(freeTabTitle('Kontakt', ['kontakt', 'Kontakt (2)'])).toBe('Kontakt (3)');
    expect(freeTabTitle("'':\n", [])).toBe('Form');
    expect(freeTabTitle('x'.repeat(200), []).length).toBeLessThanOrEqual(100);
    expect(freeTabTitle('😀'.repeat(100), []).isWellFormed()).toBe(true);
  });

  it('of columns are one line, not endless, and never empty', () => {
    expect(headerText(' What\nelse?  ', 'f1')).toBe('What else?');
    expect(headerText(' \n', 'f1')).toBe('f1');
    expect(headerText('y'.repeat(5_000), 'f1')).toHaveLength(300);
  });
});
