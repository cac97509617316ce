import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  LightMyRequestResponse,
} from 'fastify';
import { type Clock, withinTime } from '../base/clock.ts';
import type { FormReport } from '../health/report.ts';
import { type Act, ACTION_FORM, addActions } from './actions.ts';
import { type FormDetails, formMain } from './form-page.ts';
import { html } from './html.ts';
import { overviewMain } from './overview.ts';
import { type Page, sendPage } from './parts.ts';
import { type Listening, type Reports, type ServerOptions, startServer } from './server.ts';

/** A page or a file of the board of jobs. */
export type BoardAnswer = Pick<LightMyRequestResponse, 'statusCode' | 'headers' | 'rawPayload'>;

/** See {@link startStatus}. */
export interface StatusOptions extends ServerOptions {
  readonly clock: Clock;
  readonly reports: Reports;
  /** What a target stores about a form. May be slow or reject. */
  readonly details: (target: string, formId: string) => Promise<FormDetails>;
  readonly act: Act;
  /** Shows the jobs of the queue: responds to a GET of an address that begins with `/queue`. */
  readonly board: (path: string) => Promise<BoardAnswer>;
  /** Why notifications are not delivered, as a sentence; null: they are. */
  readonly deliveryProblem: () => string | null;
}

/** Starts the status page, with probes and metrics. Throws as {@link startServer} does. */
export const startStatus = (options: StatusOptions): Promise<Listening> =>
  startServer(options, (app) => {
    addActions(app, options);
    addPages(app, options);
    addBoard(app, options);
  });

function addPages(app: FastifyInstance, options: StatusOptions): void {
  const { reports, logger, clock } = options;
  /** L12: a target that is slower, or fails, leaves its part of the page empty. */
  const detailsOf = async ({ form, target }: FormReport): Promise<FormDetails | null> => {
    const details = withinTime(options.details(target, form.id), DETAILS_LIMIT_MS, clock);
    return (await details.catch(() => null)) ?? null;
  };
  const notFound = async (_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    sendPage(reply.code(404), { ...NOT_FOUND, report: await reports.refresh() });
  app.get('/api/status', async () => reports.refresh());
  app.get('/', async (_request, reply) => {
    const report = await reports.refresh();
    const main = html`${ACTION_FORM} ${overviewMain(report, options.deliveryProblem())}`;
    return sendPage(reply, { title: report.title, main, report });
  });
  app.get<{ Params: { id: string } }>('/forms/:id', async (request, reply) => {
    const report = await reports.refresh();
    const copies = report.forms.filter(({ form }) => form.id === request.params.id);
    const [first] = copies;
    if (first === undefined) return notFound(request, reply);
    const forms = await Promise.all(
      copies.map(async (one) => ({ report: one, details: await detailsOf(one) })),
    );
    const main = html`${ACTION_FORM} ${formMain(report, forms)}`;
    // It reads the targets, which may use a quota that runs need: once, not every ten seconds.
    const isStill = true;
    return sendPage(reply, { title: first.form.name, main, report, isStill });
  });
  app.get('/favicon.ico', async (_request, reply) => reply.code(204).send());
  app.setNotFoundHandler(notFound);
  app.setErrorHandler((error, _request, reply) => {
    const status = (error as { statusCode?: number }).statusCode ?? 500;
    if (status < 500) return reply.code(status).type('text/plain').send('That is not possible.');
    logger.error({ err: error }, 'A request to the status page failed.');
    return reply.code(500).type('text/plain').send('This failed; the log has the reason.');
  });
}

const NOT_FOUND: Omit<Page, 'report'> = {
  title: 'Not found',
  main: html`<section class="card empty">
    <h1>There is nothing at this address</h1>
    <p>Maybe a form that is not mirrored. <a href="/">All forms</a></p>
  </section>`,
};

/** How long the page waits for a target. */
const DETAILS_LIMIT_MS = 3_000;

/** A store that is away may leave a request waiting forever. */
const BOARD_LIMIT_MS = 5_000;

/** The board needs scripts and styles of this address, and nothing from elsewhere, such as the fonts that it names. */
const BOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';');

/** The jobs of the queue, read-only, behind the same rules as the pages. Only GET works. */
function addBoard(app: FastifyInstance, { board, clock, logger }: StatusOptions): void {
  for (const url of ['/queue', '/queue/*']) {
    app.get(url, async (request, reply) => {
      reply.header('content-security-policy', BOARD_POLICY);
      const found = await withinTime(board(request.url), BOARD_LIMIT_MS, clock).catch(
        (error: unknown) => {
          logger.warn({ err: error }, 'The page of the queue cannot be shown.');
        },
      );
      // Its own message would quote the error.
      if (found && found.statusCode < 500)
        return reply
          .code(found.statusCode)
          .type(found.headers['content-type'] ?? 'application/octet-stream')
          .send(found.rawPayload);
      const text = 'The queue does not answer. The status page has more.';
      return reply.code(503).type('text/plain').send(text);
    });
  }
}
