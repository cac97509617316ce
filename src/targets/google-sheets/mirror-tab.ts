import { PROBLEMS } from '../../base/catalogue.ts';
import { count } from '../../base/format.ts';
import { liveRows } from '../../mirror/form-state.ts';
import { type FormHealthText, HEALTH_STATES, type HealthState } from '../../mirror/health-text.ts';
import type { Entry, StoredForm } from '../../mirror/port.ts';
import { BODY_FORMAT, DATE_FORMAT, TONES } from './api/formatting.ts';
import { headerText } from './fields.ts';
import { withoutIds } from './notices.ts';
import { formula, headers, number, Page, type PageCell, showPage, text, WRAPPED } from './page.ts';
import { SerialTime } from './serial-time.ts';
import type { SheetFile, Shown, View } from './sheet-file.ts';
import { documentsIn, entriesIn, type FormDocument, recordIn } from './state-tab.ts';

/*
 * The tab that shows people the state of the mirror: forms first, the worst on top, then problems, then fields. It is written whole
 * whenever its text changes.
 */

/**
 * Describes a form's health for the people of a spreadsheet, from the report of src/health. `recordOf`: the record of a key, or
 * null; `timeText`: writes an ISO time for them.
 */
export type DescribeForm = (
  form: Pick<StoredForm, 'state' | 'fields' | 'notices' | 'runs'>,
  recordOf: (key: string) => unknown,
  nowMs: number,
  timeText: (iso: string) => string,
) => FormHealthText;

/** One form as the tab shows it. */
interface ShownForm extends Pick<FormDocument, 'state' | 'fields' | 'notices'> {
  readonly health: FormHealthText;
  /** Null while it has no tab. */
  readonly sheetId: number | null;
  /** Rejected and undecided submissions. */
  readonly listed: readonly Entry[];
}

/** Writes the Mirror tab. */
export function showMirror(file: SheetFile, describe: DescribeForm, view: View): Shown {
  const { structure, stateTab } = view;
  const recordOf = (key: string): unknown => recordIn(stateTab, key)?.value ?? null;
  const time = new SerialTime(structure.timeZone);
  const timeText = (iso: string): string => time.text(iso);
  const forms = documentsIn(stateTab).map((document): ShownForm => {
    const { formId } = document.state;
    const tab = structure.forms.get(formId);
    const current = { ...document, ...withoutIds(tab, document.state) };
    const { state, fields, notices } = current;
    const entries = [...entriesIn(stateTab, formId).values()];
    return {
      state,
      fields,
      notices,
      health: describe(current, recordOf, file.clock.now(), timeText),
      sheetId: tab?.sheetId ?? null,
      listed: entries.filter(({ kind }) => kind === 'rejected' || kind === 'undecided'),
    };
  });
  const page = mirrorPage(forms, time);
  const made = { ...MIRROR.made, index: structure.forms.size };
  return showPage(file, view, { ...MIRROR, made, page, over: () => [] });
}

/** The most lines of a section. */
const MOST_LINES = 1_000;
/** A phone shows the first three: the forms, their state, and how many submissions they have. */
const WIDTHS = [145, 88, 101, 70, 125, 330, 330];
const MIRROR = {
  role: 'mirror',
  width: WIDTHS.length,
  made: {
    title: 'Mirror',
    widths: WIDTHS,
    columnCount: WIDTHS.length,
    warning: 'forms-mirror keeps this tab up to date, and writes over edits.',
  },
} as const;
const NONE: PageCell = {};
const wrapped = (value: string): PageCell => text(value, WRAPPED);
/** A line below the forms. */
const line = (
  subject: string,
  about: PageCell,
  seen: PageCell,
  what: string,
  last: PageCell,
): PageCell[] => [wrapped(subject), about, NONE, NONE, seen, wrapped(what), last];

/** Lays out the forms of a spreadsheet as rows of cells: those that need attention first. */
function mirrorPage(all: readonly ShownForm[], time: SerialTime): Page {
  // Among forms in one state, those that need attention come first.
  const severity = (form: ShownForm): number =>
    2 * HEALTH_STATES.indexOf(form.health.state) - (isClean(form) ? 0 : 1);
  const forms = all.toSorted(
    (a, b) => severity(a) - severity(b) || a.state.name.localeCompare(b.state.name),
  );
  const page = new Page();
  const asOf = `Complete as of (${time.timeZone})`;
  const header = ['Form', 'State', 'Submissions', 'Deleted', asOf, 'Details', 'What to do'];
  page.put(0, 0, headers(header));
  for (const [at, form] of forms.entries()) page.put(1 + at, 0, formRow(form, 1 + at, time));
  const section = (titles: readonly string[], body: readonly PageCell[][]): void => {
    if (body.length === 0) return;
    const top = page.rows.length + 1;
    page.put(top, 0, headers(titles));
    for (const [at, cells] of body.slice(0, MOST_LINES).entries()) page.put(top + 1 + at, 0, cells);
    const more = body.length - MOST_LINES;
    if (more > 0) page.put(page.rows.length, 1, [wrapped(`… and ${count(more)} more`)]);
  };
  const problems = forms.flatMap(({ state: { name }, notices, listed }) => [
    ...notices.map(({ message, remedy }) => line(name, NONE, NONE, message, wrapped(remedy))),
    ...listed.map((entry) => {
      const remedy = canBeCorrected(entry) ? wrapped(REJECTED) : NONE;
      return line(name, wrapped(entry.id), timeCell(entry.atMs, time), entry.reason, remedy);
    }),
  ]);
  const seen = `Seen (${time.timeZone})`;
  const titles = ['Needs attention', 'Submission', '', '', seen, 'What happened', 'What to do'];
  section(titles, problems);
  const questions: PageCell[][] = [];
  for (const { state, fields } of forms) {
    questions.push([text(state.name, { textFormat: { bold: true } })]);
    for (const field of fields.toSorted((one, two) => one.position - two.position)) {
      const note = field.isInForm ? NONE : wrapped('not in the form any more');
      questions.push(line(headerText(field), note, NONE, field.id, NONE));
    }
  }
  section(['Questions', '', '', '', '', 'Field ID', ''], questions);
  return page;
}

const REJECTED = 'The forms service has the original. If it is wrong, correct it there.';

/** Not a submission that the source hides, nor one with protected cells, which a notice explains. */
const canBeCorrected = (entry: Entry): boolean =>
  entry.kind === 'rejected' && entry.blocked === undefined;

const isClean = ({ listed, notices }: ShownForm): boolean => listed.length + notices.length === 0;

const titleOf = (form: ShownForm): string => {
  const { state, title } = form.health;
  return state !== 'ok' || isClean(form) ? title : `${title}, but see below`;
};

function formRow(form: ShownForm, row: number, time: SerialTime): PageCell[] {
  const { state, sheetId, health } = form;
  const { asOfMs } = health;
  const title = literal(titleOf(form));
  // Compared with the clock, so that the tab shows by itself that the mirror has stopped.
  const isOver =
    state.goneAtMs !== null ||
    health.state === 'paused' ||
    health.state === 'ended' ||
    asOfMs === null;
  const age = `NOW()-$E${row + 1}>${health.staleAfterMinutes}/1440`;
  const link = sheetId === null ? {} : { textFormat: { link: { uri: `#gid=${sheetId}` } } };
  return [
    text(state.name, { ...WRAPPED, ...link }),
    formula(isOver ? title : `IF(${age};${literal(PROBLEMS.STALE.title)};${title})`, {
      ...WRAPPED,
      ...TONES[STATE_TONES[health.state]],
    }),
    number(liveRows(state.tally)),
    number(state.tally.deleted),
    asOfMs === null ? NONE : timeCell(asOfMs, time),
    wrapped(health.message ?? ''),
    wrapped(health.remedy ?? ''),
  ];
}

/** A text inside a formula. */
const literal = (value: string): string => `"${value.replaceAll('"', '""')}"`;

const STATE_TONES: Readonly<Record<HealthState, keyof typeof TONES>> = {
  failed: 'bad',
  attention: 'warn',
  working: 'fresh',
  waiting: 'warn',
  paused: 'plain',
  ok: 'good',
  ended: 'plain',
};

function timeCell(atMs: number, time: SerialTime): PageCell {
  return number(time.ofClock(atMs), { ...BODY_FORMAT, numberFormat: DATE_FORMAT });
}
