import Tokens from '@fastify/csrf';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { PROBLEMS } from '../base/catalogue.ts';
import { plural } from '../base/format.ts';
import { isLoopback } from '../base/transport.ts';
import type { FormReport, Problem, Report, ShownPause, TargetReport } from '../health/report.ts';
import { type Html, html } from './html.ts';
import { formPath, type Page, stateIcon } from './parts.ts';

/*
 * The actions that a person can start: buttons on the pages, and `POST /actions`. All buttons of a page belong to
 * one form, which has a token. Other websites cannot act through the browser of a permitted person: a request must
 * come from one of our pages, according to the browser (Sec-Fetch-Site, Origin), with a token that only our page
 * could show. A foreign name that points here (DNS rebinding) has no password, and without one its Host is refused.
 */

/** `sync`: bring up to date now what is new, changed or failed. `accept`: held deletions. `pause`, `resume`: a form, a target, everything. */
const ACTIONS = ['sync', 'accept', 'pause', 'resume'] as const;

/** An action, its place, and the person who wants it. */
export interface ActionOrder {
  readonly do: (typeof ACTIONS)[number];
  /** ID of a form; null: all. */
  readonly form: string | null;
  /** Name of a target; null: all. */
  readonly target: string | null;
  /** Of `accept`: how many deletions the person has seen, and accepts at most. */
  readonly count: number | null;
  /** Who and where: `status page, admin at 127.0.0.1`. */
  readonly by: string;
}

/** A result, as a line for people. */
export interface DoneLine {
  readonly ok: boolean;
  readonly text: string;
}

/** Carries actions out; the composition root provides it. */
export interface Actor {
  /** Never rejects: failures are lines. Logs who did what. */
  act(order: ActionOrder): Promise<readonly DoneLine[]>;
}

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
export const actionForm = (token: string): Html =>
  html`<form id="act" method="post" action="/actions">
    <input type="hidden" name="token" value="${token}" />
  </form>`;

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

/** The buttons of a form in a target; null for none. */
export const formActions = ({ form, target, state, pause }: FormReport): Html | null =>
  state === 'ended'
    ? null
    : actionBar(`this form in ${target}`, ...placeActions({ form: form.id, target }, pause));

function placeActions(
  place: Place & { readonly target: string },
  pause: ShownPause | null,
): readonly Html[] {
  const { target } = place;
  if (pause?.ofTarget === true)
    return [actionButton(`Resume target ${target}`, { do: 'resume', target })];
  if (pause !== null) return [actionButton('Resume', { do: 'resume', ...place })];
  return [
    actionButton('Sync now', { do: 'sync', ...place }),
    actionButton('Pause', { do: 'pause', ...place }),
  ];
}

/**
 * The button that remedies a problem of a form in a target, or of a target as a whole; null where there is none. A new attempt
 * can succeed by itself, or once a person has made room or granted a right.
 */
export function remedyButton({ code }: Problem, place: Place, held = 0): Html | null {
  if (code === 'DELETIONS_HELD' && held > 0) {
    const count = String(held);
    return actionButton(`Accept ${plural(held, 'deletion')}`, { do: 'accept', ...place, count });
  }
  const canRetry = PROBLEMS[code].retryable || PROBLEMS[code].scope === 'target';
  return canRetry ? actionButton('Sync now', { do: 'sync', ...place }) : null;
}

/** How long the buttons of an open page serve. */
const TOKEN_LASTS_MS = 3_600_000;
/** Long names take room in a form. */
const BODY_LIMIT = 4_096;

const name = z.string().min(1).max(300).nullable().default(null);
const ordered = z.object({
  do: z.enum(ACTIONS),
  form: name,
  target: name,
  count: z.coerce.number().int().min(0).max(1_000_000_000).nullable().default(null),
});
const posted = z.object({ token: z.string(), order: z.string() });

const REFUSED = {
  password: 'Set ADMIN_PASSWORD to use the actions of this page through a proxy.',
  site: 'This request did not come from the status page, so nothing was done. If a proxy is in front of it, the proxy must pass on Host.',
  token:
    'The page was open for too long, or the program was restarted, so nothing was done. Go back, reload the page and try again.',
  order: 'There is no such action.',
} as const;

const refuse = (reply: FastifyReply, status: number, why: keyof typeof REFUSED): FastifyReply =>
  reply.code(status).type('text/plain').send(REFUSED[why]);

/** See {@link addActions}. */
export interface ActionOptions {
  readonly actor: Actor;
  readonly hasPassword: boolean;
  readonly report: () => Promise<Report>;
  readonly send: (reply: FastifyReply, page: Page) => FastifyReply;
}

/** Adds `POST /actions`. Returns what makes the token of a page: null where the person may not act. */
export function addActions(
  app: FastifyInstance,
  { actor, hasPassword, report, send }: ActionOptions,
): (request: FastifyRequest) => string | null {
  const tokens = Tokens.Tokens({ validity: TOKEN_LASTS_MS });
  const secret = tokens.secretSync();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: BODY_LIMIT },
    async (_request: FastifyRequest, body: string) => Object.fromEntries(new URLSearchParams(body)),
  );
  app.post('/actions', { bodyLimit: BODY_LIMIT }, async (request, reply) => {
    if (!mayAct(request, hasPassword)) return refuse(reply, 403, 'password');
    if (!isOwnRequest(request)) return refuse(reply, 403, 'site');
    const { data: form } = posted.safeParse(request.body);
    if (form === undefined || !tokens.verify(secret, form.token))
      return refuse(reply, 403, 'token');
    const { data } = ordered.safeParse(Object.fromEntries(new URLSearchParams(form.order)));
    if (data === undefined) return refuse(reply, 400, 'order');
    const by = `status page, ${hasPassword ? 'admin at ' : ''}${request.ip}`;
    const lines = await actor.act({ ...data, by });
    const main = doneMain(data.form, lines);
    return send(reply, { title: 'Done', main, report: await report(), isStill: true });
  });
  return (request) => (mayAct(request, hasPassword) ? tokens.create(secret) : null);
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

/** Whether a request that changes something may come from one of our pages, or from no page. */
function isOwnRequest({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  // Browsers send it with every POST.
  return origin === undefined || (host !== undefined && URL.parse(origin)?.host === host);
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Whether the page accepts actions: with a password; without one only on the machine itself, and not through a
 * proxy, which would admit others under a loopback name. A proxy that hides itself is noticed by the page's name in
 * the browser, and by HTTP/1.0, the default of nginx.
 */
function mayAct({ headers, raw }: FastifyRequest, hasPassword: boolean): boolean {
  if (hasPassword) return true;
  const { origin } = headers;
  const isHere = origin === undefined || isLoopback(URL.parse(origin)?.hostname ?? '');
  const isProxied =
    raw.httpVersion === '1.0' || FORWARDED.some((header) => headers[header] !== undefined);
  return isHere && !isProxied;
}
