import { expect, it } from 'vitest';
import { bytesOf } from '../../../../src/targets/google-sheets/api/cell-value.ts';
import { compactKey, fieldKey } from '../../../../src/targets/google-sheets/api/metadata.ts';
import {
  MAX_METADATA_CHARACTERS,
  MAX_WRITE_BYTES,
} from '../../../../src/targets/google-sheets/api/size-limits.ts';
import { EMPTY_STATE } from '../../../../src/targets/google-sheets/state/form-state.ts';
import type { FormTab } from '../../../../src/targets/google-sheets/state/structure.ts';
import {
  type CountedQuestion,
  recordRequest,
} from '../../../../src/targets/google-sheets/state/summary-marks.ts';
import { AnswerTally } from '../../../../src/targets/google-sheets/summary/answer-tally.ts';
import { planSummary } from '../../../../src/targets/google-sheets/summary/summary-plan.ts';
import {
  batchesOf,
  summaryContent,
} from '../../../../src/targets/google-sheets/summary/summary-tab.ts';
import { field } from '../../../contract/target-harness.ts';
import { submission } from './summary-place.ts';

const FIELD_IDS = Array.from({ length: 400 }, (_, nth) => `field_1700000000${nth}_suffix`);

/** A form with a long name in letters of several bytes, and quotes. */
function formTab(nth: number): FormTab {
  const keys = ['s:id', 's:at', 's:status', 's:removed', ...FIELD_IDS.map(fieldKey)];
  const title = `${nth} ${"'Č".repeat(38)}`;
  return {
    formId: `frm_0123456789abcdef_${nth}`,
    ranges: [],
    sheetId: nth + 1,
    title,
    rowCount: 100_000,
    columnCount: keys.length,
    columns: keys.map((mark, index) => ({
      index,
      metadataId: 1_000 + index,
      mark,
      compact: false,
    })),
    otherCharacters: 0,
    state: { ...EMPTY_STATE, name: title },
    stateId: 1,
    fieldsText: undefined,
    fieldsId: 2,
  };
}

it('two hundred forms of choices alone: thirty are shown, ten questions of each, within Google’s sizes', () => {
  const fields = FIELD_IDS.map((id, position) => field(id, id, { position }));
  const tally = new AnswerTally(fields);
  const choices = Object.fromEntries(FIELD_IDS.map((id) => [id, 'a']));
  tally.add(
    Array.from({ length: 40 }, (_, nth) =>
      submission(nth, { ...choices, [FIELD_IDS[2] ?? '']: `choice ${nth % 12}` }),
    ),
  );
  const questions: readonly CountedQuestion[] = tally.questions([]);
  expect(questions.map(({ listed }) => listed)).toEqual([1, 1, 12, 1, 1, 1, 1, 1, 1, 1]);
  const long = questions.map(({ mark, numbers }) => ({ mark, numbers, listed: 12 }));
  const tabs = Array.from({ length: 200 }, (_, nth) => formTab(nth));
  const forms = new Map(tabs.map((tab) => [tab.formId, tab]));
  const all = new Map(tabs.slice(0, 30).map(({ formId }) => [formId, long]));
  const plan = planSummary({ forms }, all);
  expect(plan.forms.map(({ formId }) => formId)).toEqual([...forms.keys()].slice(0, 30));
  let chartId = 1_000_000_000;
  const content = summaryContent({
    tab: { sheetId: 7, title: 'Summary', rowCount: 5, columnCount: 16 },
    plan,
    headerRows: new Map(),
    charts: new Map(),
    chartIds: [],
    newChartId: () => chartId++,
  });
  const record = recordRequest(7, { ...plan, questions: all, charts: content.charts }, undefined);
  const batches = batchesOf(content.cells, [...content.chartRequests, record]);
  expect(batches.length).toBeGreaterThan(1);
  for (const batch of batches) expect(bytesOf(batch)).toBeLessThan(MAX_WRITE_BYTES + 50_000);
  // The charts go with what notes them.
  expect(batches.at(-1)?.filter(({ addChart }) => addChart !== undefined).length).toBe(30);
  expect(batches.at(-1)?.at(-1)).toBe(record);
  const noted = record.createDeveloperMetadata?.developerMetadata;
  expect(noted?.metadataValue?.length).toBeGreaterThan(4_000);
  expect(noted?.metadataValue?.length).toBeLessThan(MAX_METADATA_CHARACTERS / 2);
  expect(JSON.stringify(content.cells)).toContain('Shown are the first 30 forms');
});

it('a column of a very wide form is found by its short mark', () => {
  const tab = formTab(0);
  const [key] = FIELD_IDS.map(fieldKey);
  const compact = tab.columns.map((column) => ({
    ...column,
    mark: compactKey(column.mark as `f:${string}`),
    compact: true,
  }));
  const asked = new Map([
    [tab.formId, [{ mark: compactKey(key ?? 's:id'), listed: 3, numbers: false }]],
  ]);
  const plan = (columns: FormTab['columns']) =>
    planSummary({ forms: new Map([[tab.formId, { ...tab, columns }]]) }, asked);
  expect(plan(compact)).toEqual(plan(tab.columns));
  expect(plan(compact).forms[0]?.questions[0]?.column.index).toBe(4);
});
