import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { plural } from '../base/format.ts';
import { isLoopback } from '../base/transport.ts';
import type { FormReport, Problem, Report, ShownPause, TargetReport } from '../health/report.ts';
import { type Html, html } from './html.ts';
import type { StatusOptions } from './pages.ts';
import { formPath, sendPage, stateIcon } from './parts.ts';

/*
 * The actions that a person can start: buttons on the pages, and `POST /actions`. Everyone who can open the page may act. Other
 * websites cannot act through that person's browser, by the rule of Go's CrossOriginProtection
 * (https://pkg.go.dev/net/http#CrossOriginProtection):
 *
 * 1. If the browser sends `Sec-Fetch-Site`, which no website can set, it decides: `same-origin` (our own page) or `none` (no page)
 * is required.
 * 2. Otherwise `Origin`, which browsers send with every POST, must name the host of the request.
 * 3. A request with neither does not come from a current browser, and is refused.
 *
 * A foreign name that points here (DNS rebinding) does not have the password; without a password, its Host is refused. Without a
 * password, an `Origin` must also be a loopback one: to a browser behind a proxy that adds no headers, the page is of the same
 * origin.
 */

/**
 * `sync`: brings up to date now what is new, changed or failed. `accept`: held deletions. `pause`, `resume`: a form, a target,
 * everything.
 */
const ACTIONS = ['sync', 'accept', 'pause', 'resume'] as const;

/** An action, its form and target, and the person who wants it. */
export interface ActionOrder {
  readonly do: (typeof ACTIONS)[number];
  /** ID of a form; null: all. */
  readonly form: string | null;
  /** Name of a target; null: all. */
  readonly target: string | null;
  /** For `accept`: how many deletions the person has seen, and accepts at most. */
  readonly count: number | null;
  /** Who and where: `status page, admin at 127.0.0.1`. */
  readonly by: string;
}

/** A result, as a line for people. */
export interface DoneLine {
  readonly ok: boolean;
  readonly text: string;
}

/** Carries out an action. Never rejects: failures are lines. Logs who did what. */
export type Act = (order: ActionOrder) => Promise<readonly DoneLine[]>;

interface Place {
  readonly form?: string;
  readonly target?: string;
}

type Button = Place & { readonly do: (typeof ACTIONS)[number]; readonly count?: string };

const actionButton = (words: string, button: Button): Html =>
  html`<button form="act" name="order" value="${new URLSearchParams({ ...button }).toString()}">
    ${words}
  </button>`;

const actionBar = (about: string, ...buttons: readonly (Html | false)[]): Html =>
  html`<div class="actions" role="group" aria-label="Actions for ${about}">${buttons}</div>`;

/** The form that all buttons of a page belong to. */
export const ACTION_FORM = html`<form id="act" method="post" action="/actions"></form>`;

/** The buttons for everything. */
export function mirrorActions({ targets }: Report): Html {
  const paused = targets.filter(({ pause }) => pause !== null).length;
  return actionBar(
    'all forms',
    actionButton('Sync now', { do: 'sync' }),
    paused < targets.length && actionButton('Pause', { do: 'pause' }),
    paused > 0 && actionButton('Resume', { do: 'resume' }),
  );
}

/** The buttons of a target. */
export const targetActions = ({ name: target, pause }: TargetReport): Html =>
  actionBar(`target ${target}`, ...placeActions({ target }, pause));

/** The buttons of a form in a target; null if there are none. */
export const formActions = ({ form, target, state, pause }: FormReport): Html | null =>
  state === 'ended'
    ? null
    : actionBar(`this form in ${target}`, ...placeActions({ form: form.id, target }, pause));

function placeActions(
  place: Place & { readonly target: string },
  pause: ShownPause | null,
): readonly Html[] {
  const { target } = place;
  if (pause?.formId === null)
    return [actionButton(`Resume target ${target}`, { do: 'resume', target })];
  if (pause !== null) return [actionButton('Resume', { do: 'resume', ...place })];
  return [
    actionButton('Sync now', { do: 'sync', ...place }),
    actionButton('Pause', { do: 'pause', ...place }),
  ];
}

/** The button that accepts the held deletions of a form in a target; null for any other problem. */
export function acceptButton({ code }: Problem, { form, target, claim }: FormReport): Html | null {
  if (code !== 'DELETIONS_HELD') return null;
  const order = { do: 'accept', form: form.id, target, count: String(claim.held) } as const;
  return actionButton(`Accept ${plural(claim.held, 'deletion')}`, order);
}

/** Long names take room in a form. */
const BODY_LIMIT = 4_096;

const name = z.string().min(1).max(300).nullable().default(null);
const ordered = z.object({
  do: z.enum(ACTIONS),
  form: name,
  target: name,
  count: z.coerce.number().int().min(0).max(1_000_000_000).nullable().default(null),
});
const posted = z.object({ order: z.string() });

const REFUSED =
  'This request did not come from the status page, so nothing was done. If a proxy is in front of it, the proxy must pass on Host.';

/** Adds `POST /actions`. */
export function addActions(
  app: FastifyInstance,
  { act, adminPassword, reports }: Pick<StatusOptions, 'act' | 'adminPassword' | 'reports'>,
): void {
  const hasPassword = adminPassword !== undefined;
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: BODY_LIMIT },
    async (_request: FastifyRequest, body: string) => Object.fromEntries(new URLSearchParams(body)),
  );
  app.post('/actions', { bodyLimit: BODY_LIMIT }, async (request, reply) => {
    if (!isOwnRequest(request, hasPassword))
      return reply.code(403).type('text/plain').send(REFUSED);
    const order = posted.safeParse(request.body).data?.order ?? '';
    const { data } = ordered.safeParse(Object.fromEntries(new URLSearchParams(order)));
    if (data === undefined)
      return reply.code(400).type('text/plain').send('There is no such action.');
    const by = `status page, ${hasPassword ? 'admin at ' : ''}${request.ip}`;
    const lines = await act({ ...data, by }).finally(() => reports.expire());
    const main = doneMain(data.form, lines);
    const report = await reports.refresh();
    return sendPage(reply, { title: 'Done', main, report, isStill: true });
  });
}

/** The page with the result. */
function doneMain(form: string | null, lines: readonly DoneLine[]): Html {
  const isDone = lines.every(({ ok }) => ok);
  return html`<section class="card">
    <header><h1>${isDone ? 'Done' : 'Not everything could be done'}</h1></header>
    ${lines.map(({ ok, text }) => {
      const state = ok ? 'ok' : 'failed';
      return html`<p class="problem ${state}">${stateIcon(state)} <span>${text}</span></p>`;
    })}
    <p class="problem">
      <a href="${form === null ? '/' : formPath(form)}"
        >Back to ${form === null ? 'all forms' : 'the form'}</a
      >
    </p>
  </section>`;
}

/** Whether a request that changes something comes from one of our pages; see above. */
function isOwnRequest({ headers }: FastifyRequest, hasPassword: boolean): boolean {
  const { 'sec-fetch-site': site, origin, host } = headers;
  if (!hasPassword && origin !== undefined && !isLoopback(URL.parse(origin)?.hostname ?? ''))
    return false;
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  return origin !== undefined && host !== undefined && URL.parse(origin)?.host === host;
}
