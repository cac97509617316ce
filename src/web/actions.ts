import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toMirrorError } from '../base/errors.ts';
import type { StatusReport } from '../health/report.ts';
import { ActionTokens, isOwnRequest, mayAct, tokenSubject } from './action-guard.ts';
import { type ActionOrder, actForm, actQuery, type Actor, type DoneLine } from './action-order.ts';
import { type AskedAction, confirmationMain, describeAction, doneMain } from './action-pages.ts';
import type { Html } from './html.ts';

/** See {@link addActions}. */
export interface ActionOptions {
  readonly actor: Actor;
  readonly hasPassword: boolean;
  readonly report: () => Promise<StatusReport>;
  /** Answers with a page that does not change by itself. */
  readonly send: (
    reply: FastifyReply,
    page: { readonly title: string; readonly main: Html; readonly report: StatusReport },
  ) => FastifyReply;
  readonly notFound: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
}

/** What was done is told once more to whoever reloads; so many are remembered. */
const MAX_REMEMBERED = 100;
/** Long names take room in a form. */
const BODY_LIMIT = 4_096;

const REFUSED = {
  password:
    'Set ADMIN_PASSWORD to act from here: without it, nothing that came through a proxy may change anything.',
  site: 'This did not come from the status page itself, so nothing was done. Behind a proxy it has to pass on Host as the browser sent it.',
  token:
    'This page was open for too long, or the program was restarted, so nothing was done. Go back and try again.',
  order: 'There is no such action.',
} as const;

/** `GET /act` asks, `POST /actions` acts with the form of that page, `GET /acted` shows the result. */
export function addActions(app: FastifyInstance, options: ActionOptions): void {
  const tokens = new ActionTokens();
  const done = new Map<string, { asked: AskedAction; lines: readonly DoneLine[] }>();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: BODY_LIMIT },
    async (_request: FastifyRequest, body: string) => Object.fromEntries(new URLSearchParams(body)),
  );
  app.get('/act', async (request, reply) => {
    if (!mayAct(request, options.hasPassword)) return refuse(reply, 403, 'password');
    const asked = actQuery.safeParse(request.query).data;
    const report = await options.report();
    const text = asked && describeAction(asked, report);
    if (asked === undefined || text === undefined) return options.notFound(request, reply);
    const token = tokens.create(tokenSubject(asked));
    const main = confirmationMain(asked, text, { token, by: byOf(request, options) });
    return options.send(reply, { title: text.title, main, report });
  });
  app.post('/actions', { bodyLimit: BODY_LIMIT }, async (request, reply) => {
    if (!mayAct(request, options.hasPassword)) return refuse(reply, 403, 'password');
    if (!isOwnRequest(request)) return refuse(reply, 403, 'site');
    const asked = actForm.safeParse(request.body).data;
    if (asked === undefined) return refuse(reply, 400, 'order');
    if (!tokens.isRight(asked.token, tokenSubject(asked))) return refuse(reply, 403, 'token');
    const lines = await act(options.actor, { ...asked, by: byOf(request, options) });
    const id = tokens.create(['acted']);
    for (const old of [...done.keys()].slice(0, Math.max(0, done.size - MAX_REMEMBERED + 1)))
      done.delete(old);
    done.set(id, { asked, lines });
    return reply.redirect(`/acted?id=${encodeURIComponent(id)}`, 303);
  });
  app.get<{ Querystring: { id?: string } }>('/acted', async (request, reply) => {
    const found = done.get(String(request.query.id));
    if (found === undefined) return options.notFound(request, reply);
    const main = doneMain(found.asked, found.lines);
    return options.send(reply, { title: 'Done', main, report: await options.report() });
  });
}

const byOf = ({ ip }: FastifyRequest, { hasPassword }: ActionOptions): string =>
  `status page, ${hasPassword ? 'admin at ' : ''}${ip}`;

async function act(actor: Actor, order: ActionOrder): Promise<readonly DoneLine[]> {
  try {
    return await actor.act(order);
  } catch (error) {
    return [{ ok: false, text: toMirrorError(error).message }];
  }
}

const refuse = (reply: FastifyReply, status: number, why: keyof typeof REFUSED): FastifyReply =>
  reply.code(status).type('text/plain').send(REFUSED[why]);
