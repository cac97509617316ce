import { count, exact, plural } from '../base/format.ts';
import type { FormReport, StatusReport } from '../health/report.ts';
import { actPath } from './action-menu.ts';
import type { ActionName, DoneLine } from './action-order.ts';
import { type Html, html } from './html.ts';
import { stateIcon } from './page-icons.ts';
import { formPath } from './page-parts.ts';

/** What `GET /act` asks about. */
export interface AskedAction {
  readonly do: ActionName;
  /** ID, or slug. */
  readonly form: string | null;
  readonly target: string | null;
}

/** What an action would do. */
export interface ActionText {
  /** As a question. */
  readonly title: string;
  readonly button: string;
  readonly paragraphs: readonly string[];
  /** Of `accept`: how many deletions. */
  readonly count: number | null;
  /** The places that it is about, as far as they are known. */
  readonly forms: readonly FormReport[];
}

/** Submissions of a page of the source's list. */
const PAGE = 100;

/** Says what an action would do; undefined for a form or target that nobody knows. Pure. */
export function describeAction(asked: AskedAction, report: StatusReport): ActionText | undefined {
  const { form, target } = asked;
  if (target !== null && !report.targets.some(({ name }) => name === target)) return undefined;
  const ofForm = report.forms.filter(
    (each) => form === null || each.form.id === form || each.form.slug === form,
  );
  if (form !== null && ofForm.length === 0) return undefined;
  const forms = ofForm.filter(
    (each) => each.state !== 'ended' && (target === null || each.target === target),
  );
  const where = placeText(asked, ofForm[0]?.form.name ?? null);
  return { count: null, forms, ...TEXTS[asked.do]({ asked, where, forms }) };
}

function placeText({ form, target }: AskedAction, name: string | null): string {
  const what = form === null ? 'everything' : `“${name ?? form}”`;
  if (target === null) return form === null ? what : `${what} in every target`;
  return form === null ? `target ${target}` : `${what} in target ${target}`;
}

interface Facts {
  readonly asked: AskedAction;
  readonly where: string;
  readonly forms: readonly FormReport[];
}

type Said = Pick<ActionText, 'title' | 'button' | 'paragraphs'> & { readonly count?: number };

const PAUSED_STAYS = (forms: readonly FormReport[]): string[] => {
  const paused = forms.filter(({ pause }) => pause !== null).length;
  return paused === 0 ? [] : [`Paused forms are not included (${plural(paused, 'form')}).`];
};

const TEXTS: Readonly<Record<ActionName, (facts: Facts) => Said>> = {
  look: ({ asked, where, forms }) => ({
    title: asked.form === null ? 'Look for changes now?' : `Look at ${where} now?`,
    button: 'Look now',
    paragraphs: [
      asked.form === null
        ? 'The source is asked how much there is of each form, as at every tick, at some eight requests; changes are read into its targets. A look always asks about all targets.'
        : 'What is new of it is read, and its statuses are counted and compared. Nothing else is interrupted.',
      ...PAUSED_STAYS(forms),
    ],
  }),
  compare: ({ where, forms }) => {
    const rows = forms.reduce((sum, each) => sum + (each.pause === null ? (each.rows ?? 0) : 0), 0);
    return {
      title: `Compare ${where} now?`,
      button: 'Compare now',
      paragraphs: [
        `Every submission is read from the source and compared row by row: edited answers and deletions are found. That is ${plural(rows, 'row')}, at some ${count(Math.ceil(rows / PAGE) + forms.length)} requests. New submissions keep arriving.`,
        ...PAUSED_STAYS(forms),
      ],
    };
  },
  retry: ({ where, forms }) => ({
    title: `Try ${where} again now?`,
    button: 'Try again',
    paragraphs: [
      'What failed is tried at once, instead of when its turn comes. If the cause is still there it fails again, and nothing is lost by that.',
      ...PAUSED_STAYS(forms),
    ],
  }),
  accept: ({ where, forms }) => {
    const withheld = forms.reduce((sum, each) => sum + (each.withheld ?? 0), 0);
    return {
      title: `Accept ${plural(withheld, 'withheld deletion')} of ${where}?`,
      button: `Mark up to ${plural(withheld, 'row')} deleted`,
      count: withheld,
      paragraphs:
        withheld === 0
          ? []
          : [
              `${plural(withheld, 'row is', 'rows are')} absent from the source, more than MAX_DELETE_FRACTION allows at once, so nothing was marked deleted. Check the form in the dashboard first.`,
              `A full pass begins. Each absent row is asked for by its ID, and marked deleted only if the source answers that it does not exist; a submission that is there again stays. If more than ${plural(withheld, 'row is', 'rows are')} absent by then, nothing is marked.`,
              'This is for once: the next time so many vanish, a person is asked again. Rows are marked, not removed.',
              ...PAUSED_STAYS(forms),
            ],
    };
  },
  pause: ({ where }) => ({
    title: `Pause ${where}?`,
    button: 'Pause',
    paragraphs: [
      'No process writes there any more until a person resumes it, also after a restart. Nothing is marked at the source on its account. Other forms and targets go on.',
      'A pass that runs ends before its next batch, within some seconds (of a sheet within a minute); what it stored stays. Erasures on request still happen.',
      'New submissions arrive after it is resumed.',
    ],
  }),
  resume: ({ asked, where, forms }) => ({
    title: `Resume ${where}?`,
    button: 'Resume',
    paragraphs: [
      'The next look finds new, changed and deleted submissions, and brings the copy up to date.',
      ...(asked.form === null
        ? [
            'Forms that were paused by themselves stay paused, until they are resumed by themselves.',
          ]
        : []),
      ...new Set(forms.flatMap(({ pause }) => (pause === null ? [] : [pausedBy(pause)]))),
    ],
  }),
  alert: () => ({
    title: 'Send a test alert?',
    button: 'Send',
    paragraphs: [
      'A message that says it is a test goes through each channel that alerts go to, and this page shows the result of each. It may take a minute.',
    ],
  }),
};

const pausedBy = ({ since, by, reason }: NonNullable<FormReport['pause']>): string =>
  `Paused since ${exact(since)} by ${by}${reason === null ? '.' : `: ${reason}`}`;

/** The page that asks whether an action is meant. */
export function confirmationMain(
  asked: AskedAction,
  text: ActionText,
  { token, by }: { readonly token: string; readonly by: string },
): Html {
  const nothing = text.count === 0;
  return html`<main>
    <section class="card act">
      <header><h1>${text.title}</h1></header>
      <div class="problem">
        <div>
          ${text.paragraphs.map((each) => html`<p>${each}</p>`)}
          ${nothing && html`<p><strong>Nothing is withheld there: there is nothing to accept.</strong></p>`}
          <form method="post" action="/actions">
            ${Object.entries({
              do: asked.do,
              form: asked.form,
              target: asked.target,
              count: text.count,
              token,
            }).map(
              ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
            )}
            ${
              asked.do === 'pause' &&
              html`<p>
                <label
                  >Why, for those who wonder (optional)<br /><input
                    name="reason"
                    maxlength="200"
                    size="50"
                    autocomplete="off"
                /></label>
              </p>`
            }
            <p>
              ${!nothing && html`<button>${text.button}</button> `}<a href="${backTo(asked)}"
                >Back</a
              >
            </p>
          </form>
          <p class="small quiet">It is logged as done by ${by}.</p>
        </div>
      </div>
    </section>
  </main>`;
}

const backTo = ({ form }: AskedAction): string => (form === null ? '/' : formPath(form));

/** The page that says what was done. */
export function doneMain(asked: AskedAction, lines: readonly DoneLine[]): Html {
  const failed = lines.some(({ ok }) => !ok);
  return html`<main>
    <section class="card act">
      <header><h1>${failed ? 'Not everything could be done' : 'Done'}</h1></header>
      ${lines.map(
        ({ ok, text }) =>
          html`<div class="problem ${ok ? 'ok' : 'failed'}" role="note">
            ${stateIcon(ok ? 'ok' : 'failed')}
            <p>${text}</p>
          </div>`,
      )}
      <p class="problem">
        <a href="${backTo(asked)}">${asked.form === null ? 'All forms' : 'The form'}</a
        >${failed && html` · <a href="${actPath(asked.do, placeOf(asked))}">Try again</a>`}
      </p>
    </section>
  </main>`;
}

const placeOf = ({ form, target }: AskedAction): { form?: string; target?: string } => ({
  ...(form !== null && { form }),
  ...(target !== null && { target }),
});
