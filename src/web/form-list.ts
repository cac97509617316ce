import { HEALTH_STATES, type HealthState } from '../mirror/health-text.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { type FormReport, type StatusReport, stateOfAll } from '../health/report.ts';

/** What the address of the page asks for: `/?q=…&state=…&page=…`. */
export interface ListQuery {
  /** Part of a form's name, slug or ID; empty: all. */
  readonly q: string;
  /** Only forms that are in this state in some target; null: all. */
  readonly state: HealthState | null;
  /** From 1; one that is too high is the last. */
  readonly page: number;
}

/** All forms, from the first. */
export const WHOLE_LIST: ListQuery = { q: '', state: null, page: 1 };

/** A form with its report of each target, in the order of the targets; undefined where it is not mirrored. */
export interface ListedForm {
  readonly form: FormIdentity;
  readonly state: HealthState;
  readonly cells: readonly (FormReport | undefined)[];
}

/** The part of all forms that a page shows. */
export interface FormList {
  readonly shown: readonly ListedForm[];
  /** How many there are, and how many of these match. */
  readonly all: number;
  readonly matching: number;
  /** The place of the first that is shown, from 1. */
  readonly first: number;
  readonly page: number;
  readonly pages: number;
  /** How many of those that match the search are in each state in some target; none for states that do not occur. */
  readonly inState: ReadonlyMap<HealthState, number>;
}

/** So many fields of the matrix are on a page, whatever the number of targets, so that it stays small; but some forms at least. */
const CELLS_PER_PAGE = 60;
const LEAST_FORMS = 8;
const LONGEST_SEARCH = 200;

/** Reads what was asked for; what makes no sense asks for everything. Pure. */
export function readListQuery(query: unknown): ListQuery {
  const given = (query ?? {}) as Readonly<Record<string, unknown>>;
  const textOf = (name: string): string => {
    const value: unknown = [given[name]].flat()[0];
    return typeof value === 'string' ? value : '';
  };
  const page = /^[1-9]\d{0,6}$/.test(textOf('page')) ? Number(textOf('page')) : 1;
  const state = HEALTH_STATES.find((one) => one === textOf('state')) ?? null;
  return { q: textOf('q').trim().slice(0, LONGEST_SEARCH), state, page };
}

/** The address of a list. */
export function listPath({ q, state, page }: ListQuery): string {
  const params = new URLSearchParams();
  if (q !== '') params.set('q', q);
  if (state !== null) params.set('state', state);
  if (page > 1) params.set('page', String(page));
  return params.size === 0 ? '/' : `/?${params.toString()}`;
}

/** The forms of a page, worst first. Pure. */
export function listForms(report: StatusReport, query: ListQuery): FormList {
  const all = withCells(report);
  const wanted = plain(query.q);
  const found = all.filter(({ form: { id, slug, name } }) =>
    [id, slug, name].some((text) => plain(text).includes(wanted)),
  );
  const { state } = query;
  const matching = found
    .filter(({ cells }) => state === null || cells.some((cell) => cell?.state === state))
    .toSorted((a, b) => rank(a.state) - rank(b.state) || compareNames(a.form, b.form));
  const targets = Math.max(1, report.targets.length);
  const size = Math.max(LEAST_FORMS, Math.floor(CELLS_PER_PAGE / targets));
  const pages = Math.max(1, Math.ceil(matching.length / size));
  const page = Math.min(query.page, pages);
  const from = (page - 1) * size;
  return {
    shown: matching.slice(from, from + size),
    all: all.length,
    matching: matching.length,
    first: from + 1,
    page,
    pages,
    inState: new Map(HEALTH_STATES.map((one) => [one, countIn(found, one)])),
  };
}

function withCells({ forms, targets }: StatusReport): ListedForm[] {
  const places = new Map(targets.map(({ name }, at) => [name, at]));
  const listed = new Map<string, { form: FormIdentity; cells: (FormReport | undefined)[] }>();
  for (const report of forms) {
    const { form, target } = report;
    const entry = listed.get(form.id) ?? { form, cells: targets.map(() => undefined) };
    listed.set(form.id, entry);
    entry.cells[places.get(target) ?? 0] = report;
  }
  return [...listed.values()].map(({ form, cells }) => {
    const known = cells.filter((cell) => cell !== undefined);
    return { form, cells, state: stateOfAll(known) };
  });
}

const countIn = (forms: readonly ListedForm[], state: HealthState): number =>
  forms.filter(({ cells }) => cells.some((cell) => cell?.state === state)).length;

const rank = (state: HealthState): number => HEALTH_STATES.indexOf(state);

const compareNames = (a: FormIdentity, b: FormIdentity): number =>
  COLLATOR.compare(a.name, b.name) || (a.id < b.id ? -1 : 1);

/** One for all comparisons: a locale is looked up once. */
const COLLATOR = new Intl.Collator('en', { numeric: true });

/** Without case and marks, so that `prihlaska` finds `Přihláška`. */
const plain = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
