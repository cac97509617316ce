import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { FormHistories } from './form-histories.ts';
import { readListQuery } from './form-list.ts';
import { type FormHistory, formMain } from './form-page.ts';
import type { Actor } from './action-order.ts';
import { mayAct } from './action-guard.ts';
import { addActions } from './actions.ts';
import { type Html, html } from './html.ts';
import type { Metrics } from './metrics.ts';
import { overviewMain } from './overview-page.ts';
import { pageFrame } from './page-frame.ts';
import { pageFooter } from './page-parts.ts';
import { type JobBoard, addQueueRoute } from './queue-route.ts';
import { headline } from '../health/headline.ts';
import { type FormReport, type StatusReport, reportOf, stateOfAll } from '../health/report.ts';
import { type Readiness, readinessOf } from '../health/shared-problems.ts';
import type { HealthSource } from '../health/facts.ts';
import type { HealthMonitor } from '../health/monitor.ts';

/** See {@link addRoutes}. */
export interface RouteOptions {
  readonly monitor: HealthMonitor;
  readonly metrics: Metrics;
  readonly source: HealthSource;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Why alerts are not delivered, as a sentence. */
  readonly deliveryProblem: () => string | null;
  /** Carries out what people ask for; undefined: nothing can be asked for. */
  readonly actor?: Actor | undefined;
  readonly hasPassword: boolean;
  /** Shows the jobs of the queue; undefined: nothing does. */
  readonly board: JobBoard | undefined;
  /** Alerts go somewhere. */
  readonly hasAlerts: boolean;
}

/** All addresses: pages, JSON, metrics and health. */
export function addRoutes(app: FastifyInstance, options: RouteOptions): void {
  addHealthRoutes(app, options.monitor);
  addReportRoutes(app, options);
  addFormRoutes(app, options);
  if (options.actor !== undefined) addActionRoutes(app, options, options.actor);
  addQueueRoute(app, options);
  app.get('/favicon.ico', async (_request, reply) => reply.code(204).send());
  app.setNotFoundHandler(async (request, reply) => sendNotFound(request, reply, options));
  app.setErrorHandler((error, _request, reply) => {
    const status = statusOf(error);
    if (status < 500) return reply.code(status).type('text/plain').send('That is not possible.');
    options.logger.error({ err: error }, 'A request to the status page failed.');
    return reply.code(500).type('text/plain').send('This failed; the log says more.');
  });
}

/** `/live`: this process answers; a restart mends no more than that. `/health`: it does its work. `/ready`: it has looked, too. */
function addHealthRoutes(app: FastifyInstance, monitor: HealthMonitor): void {
  app.get('/live', async () => ({ ok: true }));
  app.get('/health', async (_request, reply) =>
    answerHealth(reply, readinessOf(await monitor.refreshQueue()), monitor),
  );
  app.get('/ready', async (_request, reply) => {
    const starting: Readiness = { ok: false, reason: 'Starting.' };
    return answerHealth(
      reply,
      monitor.hasRead ? readinessOf(await monitor.refreshQueue()) : starting,
      monitor,
    );
  });
}

/** `ok` is about this process; `mirror` is the state of the copy, which a restart would not mend. */
function answerHealth(
  reply: FastifyReply,
  health: Readiness,
  monitor: HealthMonitor,
): FastifyReply {
  return reply.code(health.ok ? 200 : 503).send({ ...health, mirror: monitor.current().state });
}

function addReportRoutes(app: FastifyInstance, options: RouteOptions): void {
  const { monitor, metrics } = options;
  app.get('/metrics', async (_request, reply) => {
    const text = await metrics.text(await monitor.refresh());
    return reply.type(metrics.contentType).send(text);
  });
  app.get('/api/status', async () => lookUp(options));
  app.get('/', async (request, reply) => {
    const report = await lookUp(options);
    const actions = mayOffer(request, options);
    const query = readListQuery(request.query);
    const main = overviewMain(report, { query, actions, alerts: options.hasAlerts });
    return sendPage(reply, { title: headline(report), state: report.state, main, report });
  });
}

interface FormParams {
  Params: { id: string };
}

function addFormRoutes(app: FastifyInstance, options: RouteOptions): void {
  const kept = new FormHistories(options);
  const historyOf = (form: FormReport, { targets }: StatusReport): Promise<FormHistory> =>
    kept.of(
      form,
      targets.find(({ name }) => name === form.target),
    );
  app.get<FormParams>('/api/forms/:id', async (request, reply) => {
    const { report, forms } = await lookUpForm(options, request.params.id);
    if (forms.length === 0) return sendNotFound(request, reply, options);
    return Promise.all(
      forms.map(async (form) => Object.assign({ ...(await historyOf(form, report)) }, form)),
    );
  });
  app.get<FormParams>('/forms/:id', async (request, reply) => {
    const { report, forms } = await lookUpForm(options, request.params.id);
    const [first] = forms;
    if (first === undefined) return sendNotFound(request, reply, options);
    const histories = await Promise.all(forms.map((form) => historyOf(form, report)));
    const main = formMain(report, forms, histories, { actions: mayOffer(request, options) });
    const page = { title: first.form.name, state: stateOfAll(forms), main };
    return sendPage(reply, { ...page, report });
  });
}

function addActionRoutes(app: FastifyInstance, options: RouteOptions, actor: Actor): void {
  const { monitor } = options;
  addActions(app, {
    actor: { act: (order) => actor.act(order).finally(() => monitor.expire()) },
    hasPassword: options.hasPassword,
    report: () => lookUp(options),
    send: (reply, page) => sendPage(reply, { ...page, state: page.report.state, isStill: true }),
    notFound: (request, reply) => sendNotFound(request, reply, options),
  });
}

async function lookUp({ monitor, version, deliveryProblem }: RouteOptions): Promise<StatusReport> {
  const report = reportOf(await monitor.refresh(), version);
  const problem = deliveryProblem();
  return problem === null ? report : { ...report, notices: [...report.notices, problem] };
}

async function lookUpForm(
  options: RouteOptions,
  id: string,
): Promise<{ report: StatusReport; forms: FormReport[] }> {
  const report = await lookUp(options);
  return { report, forms: report.forms.filter(({ form }) => form.id === id) };
}

/** Actions are offered to whoever may ask for them. */
const mayOffer = (request: FastifyRequest, { actor, hasPassword }: RouteOptions): boolean =>
  actor !== undefined && mayAct(request, hasPassword);

type Page = Pick<Parameters<typeof pageFrame>[0], 'title' | 'state' | 'main' | 'isStill'> & {
  readonly report: StatusReport;
};

function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  const { report, title, state, main, isStill = false } = page;
  const frame = { title: `${title} · forms-mirror`, state, main, isStill, at: report.at };
  const whole = pageFrame({ ...frame, footer: pageFooter(report), nonces: reply.cspNonce });
  return reply.type('text/html; charset=utf-8').send(whole.text);
}

async function sendNotFound(
  request: FastifyRequest,
  reply: FastifyReply,
  options: RouteOptions,
): Promise<FastifyReply> {
  reply.code(404);
  if (!/\bhtml\b/.test(request.headers.accept ?? '') || request.url.startsWith('/api/')) {
    return reply.send({ error: 'There is nothing at this address.' });
  }
  const report = await lookUp(options);
  return sendPage(reply, {
    title: 'Not found',
    state: 'waiting',
    main: NOT_FOUND,
    report,
  });
}

const NOT_FOUND: Html = html`<main id="main" tabindex="-1">
  <section class="card empty">
    <h1>There is nothing at this address</h1>
    <p>Maybe a form that is not mirrored. <a href="/">All forms</a></p>
  </section>
</main>`;

function statusOf(error: unknown): number {
  const status = (error as { statusCode?: unknown }).statusCode;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500;
}
