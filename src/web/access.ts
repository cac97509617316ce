import { createHash, timingSafeEqual } from 'node:crypto';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { MirrorError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { isLoopback } from '../base/transport.ts';
import type { ServerOptions } from './server.ts';

/** For load balancers and container health checks: they reveal nothing, and need no password. */
const OPEN_PATHS = new Set(['/live', '/health', '/ready']);

/** The user name for HTTP Basic. */
const ADMIN_USER = 'admin';

/**
 * How many wrong passwords an address may send per minute; then it has to wait. The address is the connection's, not one that a
 * header names, so everyone behind a proxy shares it. IPv6 counts by network of 64 bits.
 */
const WRONG_PASSWORDS = { max: 10, timeWindow: 60_000 };
/** How many addresses are remembered; beyond that, the least recently used one is forgotten. */
const MAX_ADDRESSES = 10_000;

/**
 * A server that sets security headers on every response, and admits only people who may read. With a password: HTTP Basic as
 * `admin`, or `Authorization: Bearer <password>`, compared in constant time. Without one: only local names. Wrong passwords are
 * limited by address, the right one never, because everyone behind a proxy may share an address, and a guesser must not lock out
 * the others. The length of the password, which the settings enforce if other machines can reach the page, withstands guessing.
 * Throws SETTINGS if other machines could reach the page without a password.
 */
export async function openGuarded({
  place: { host, variable = 'PORT' },
  adminPassword,
  logger,
}: Pick<ServerOptions, 'place' | 'adminPassword' | 'logger'>): Promise<FastifyInstance> {
  if (adminPassword === undefined && !isLoopback(host)) {
    const text = `HOST ${host} lets other machines reach ${variable}: set ADMIN_PASSWORD, or HOST=127.0.0.1.`;
    throw new MirrorError('SETTINGS', text);
  }
  const app = fastify({
    logger: false,
    // No request has a larger body, except an action.
    bodyLimit: 1_024,
    routerOptions: { maxParamLength: 1_000 },
    requestTimeout: 10_000,
    keepAliveTimeout: 15_000,
    forceCloseConnections: true,
    // Anyone can send X-Forwarded-For.
    trustProxy: false,
  });
  await app.register(helmet, {
    enableCSPNonces: true,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: [],
        scriptSrc: [],
        imgSrc: ['data:'],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        // The actions.
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
    // Not `no-referrer`: with that, browsers send `Origin: null` with our own forms.
    referrerPolicy: { policy: 'same-origin' },
    xFrameOptions: { action: 'deny' },
    // The proxy in front knows whether there is HTTPS.
    strictTransportSecurity: false,
  });
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'x-robots-tag': 'noindex, nofollow', 'cache-control': 'no-store' });
  });
  if (adminPassword === undefined) guardByHost(app);
  else await guardByPassword(app, adminPassword, logger);
  return app;
}

const isOpen = ({ url }: FastifyRequest): boolean => OPEN_PATHS.has(url.split('?', 1)[0] ?? '');

function guardByHost(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (isOpen(request)) return undefined;
    if (isLocalHostHeader(request.headers.host) && !isProxied(request)) return undefined;
    const text =
      'Without ADMIN_PASSWORD, this page answers only at localhost, and not through a proxy. Set ADMIN_PASSWORD to open it in another way.';
    return reply.code(421).type('text/plain').send(text);
  });
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * A proxy would admit others under a loopback name. A proxy that speaks HTTP/1.1 and sends none of these headers is not noticed
 * here. But its pages have another origin, so no browser's action gets through it.
 */
const isProxied = ({ headers, raw }: FastifyRequest): boolean =>
  raw.httpVersion === '1.0' || FORWARDED.some((header) => headers[header] !== undefined);

/**
 * Whether a `Host` header can come from a browser in which a loopback address was typed. Without a password, another website could
 * otherwise point its own name here and read the page (DNS rebinding).
 */
export function isLocalHostHeader(header: string | undefined): boolean {
  if (header === undefined) return false;
  const url = URL.parse(`http://${header}`);
  return url !== null && url.host !== '' && url.pathname === '/' && isLoopback(url.hostname);
}

async function guardByPassword(
  app: FastifyInstance,
  adminPassword: string,
  logger: Logger,
): Promise<void> {
  const expected = digest(`${ADMIN_USER}:${adminPassword}`);
  await app.register(rateLimit, { global: false, cache: MAX_ADDRESSES, ...WRONG_PASSWORDS });
  const limit = app.createRateLimit();
  app.addHook('onRequest', async (request, reply) => {
    if (isOpen(request)) return undefined;
    const { authorization } = request.headers;
    // A browser sends its first request without one; that does not count as a guess.
    if (authorization === undefined) return refuse(reply);
    if (timingSafeEqual(digest(loginOf(authorization)), expected)) return undefined;
    const wrong = await limit(request);
    const isLimited = !wrong.isAllowed && wrong.isExceeded;
    if (!isLimited)
      logger.warn({ from: request.ip }, 'A wrong password was sent to the status page.');
    return isLimited ? refuseForNow(reply, wrong.ttlInSeconds) : refuse(reply);
  });
}

/** Of equal length, so that the comparison takes constant time and reveals no length. */
const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/** `admin:<password>`; empty if the header has no such value. */
function loginOf(authorization: string): string {
  const [, scheme = '', value = ''] = /^(basic|bearer) +(.*)$/i.exec(authorization) ?? [];
  if (scheme === '') return '';
  const isBearer = scheme.toLowerCase() === 'bearer';
  return isBearer ? `${ADMIN_USER}:${value}` : Buffer.from(value, 'base64').toString('utf8');
}

function refuse(reply: FastifyReply): FastifyReply {
  const text = `The status page needs ADMIN_PASSWORD, with the user name ${ADMIN_USER}.`;
  reply.header('www-authenticate', 'Basic realm="forms-mirror", charset="UTF-8"');
  return reply.code(401).type('text/plain').send(text);
}

function refuseForNow(reply: FastifyReply, seconds: number): FastifyReply {
  const text = 'Too many wrong passwords came from this address. The right one is still accepted.';
  // Each further guess costs a connection.
  const headers = { 'retry-after': String(seconds), connection: 'close' };
  return reply.code(429).headers(headers).type('text/plain').send(text);
}
