import { createHash, timingSafeEqual } from 'node:crypto';
import basicAuth from '@fastify/basic-auth';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { isLoopback } from '../base/transport.ts';

/** See {@link guardAccess}. */
export interface AccessOptions {
  /** ADMIN_PASSWORD; undefined: open to whoever types a loopback address. */
  readonly adminPassword: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** For load balancers and container health checks: they reveal nothing, and need no password. */
const OPEN_PATHS = new Set(['/live', '/health', '/ready']);

/** The user's name for HTTP Basic. */
const ADMIN_USER = 'admin';

/**
 * Wrong passwords that an address may send in a minute; for more it has to wait. The address is that of the connection, whatever the
 * request says: all people behind a proxy share it. IPv6 counts by its network of 64 bits.
 */
const WRONG_PASSWORDS = { max: 10, timeWindow: 60_000 };
/** Addresses remembered; beyond that the least recently used one is forgotten. */
const MAX_ADDRESSES = 10_000;
/** How long the answer to a wrong password takes, and how many such answers wait at one time: beyond that it comes at once. */
const WRONG_DELAY_MS = 400;
const MAX_DELAYED = 100;

/**
 * Sets security headers on every answer, and admits only who may see the pages: with a password HTTP Basic as `admin`, or
 * `Authorization: Bearer <password>`, compared in constant time; without one local names only. Wrong ones are slowed by
 * address, the right one never: behind a proxy all people may share an address, and one who guesses must not lock out the
 * others. What withstands guessing is the password itself, which the settings want long where others reach the page.
 */
export async function guardAccess(app: FastifyInstance, options: AccessOptions): Promise<void> {
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
        // The search of the page, and the forms of the pages that ask whether an action is meant.
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
    xFrameOptions: { action: 'deny' },
    // Whether there is HTTPS is for the proxy in front to say.
    strictTransportSecurity: false,
  });
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'x-robots-tag': 'noindex, nofollow', 'cache-control': 'no-store' });
  });
  const { adminPassword } = options;
  if (adminPassword === undefined) guardByHost(app);
  else await guardByPassword(app, adminPassword, options);
}

const isOpen = ({ url }: FastifyRequest): boolean => OPEN_PATHS.has(url.split('?', 1)[0] ?? '');

function guardByHost(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (isOpen(request) || isLocalHostHeader(request.headers.host)) return undefined;
    const text = 'This page answers to localhost only. Set ADMIN_PASSWORD to reach it by a name.';
    return reply.code(421).type('text/plain').send(text);
  });
}

/**
 * Whether a `Host` header can come from a browser in which a loopback address was typed: without a password a web page
 * elsewhere could otherwise have its own name point here and read along (DNS rebinding).
 */
export function isLocalHostHeader(header: string | undefined): boolean {
  if (header === undefined) return false;
  const url = URL.parse(`http://${header}`);
  return url !== null && url.host !== '' && url.pathname === '/' && isLoopback(url.hostname);
}

async function guardByPassword(
  app: FastifyInstance,
  adminPassword: string,
  { clock, logger }: AccessOptions,
): Promise<void> {
  const expected = digest(adminPassword);
  const isRight = (password: string): boolean => timingSafeEqual(digest(password), expected);
  await app.register(basicAuth, {
    authenticate: { realm: 'forms-mirror' },
    strictCredentials: false,
    validate(user, password, _request, _reply, done) {
      // Both are looked at, whatever the first one is.
      const [isUser, isPassword] = [user === ADMIN_USER, isRight(password)];
      done(isUser && isPassword ? undefined : new Error('wrong password'));
    },
  });
  await app.register(rateLimit, { global: false, cache: MAX_ADDRESSES, ...WRONG_PASSWORDS });
  const limit = app.createRateLimit();
  let delayed = 0;
  const slowDown = async (): Promise<void> => {
    if (delayed >= MAX_DELAYED) return;
    delayed++;
    await clock.sleep(WRONG_DELAY_MS).finally(() => delayed--);
  };
  app.addHook('onRequest', async (request, reply) => {
    if (isOpen(request)) return undefined;
    if (hasBearer(request, isRight) || hasBasic(app, request, reply)) return undefined;
    // What a browser sends before it has asked for a password is no guess.
    if (request.headers.authorization === undefined) return refuse(reply);
    const wrong = await limit(request);
    const isLimited = !wrong.isAllowed && wrong.isExceeded;
    if (!isLimited)
      logger.warn({ from: request.ip }, 'A wrong password was sent to the status page.');
    await slowDown();
    return isLimited ? refuseForNow(reply, wrong.ttlInSeconds) : refuse(reply);
  });
}

/** Of equal length, so that a comparison in constant time is possible and reveals no length. */
const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

function hasBearer({ headers }: FastifyRequest, isRight: (password: string) => boolean): boolean {
  const [, password] = /^bearer +(.*)$/i.exec(headers.authorization ?? '') ?? [];
  return password !== undefined && isRight(password);
}

/** Asks the plugin, which answers at once, and sets `WWW-Authenticate` when there is something wrong. */
function hasBasic(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): boolean {
  let isAdmitted = false;
  app.basicAuth(request, reply, (error) => (isAdmitted = error === undefined));
  return isAdmitted;
}

function refuse(reply: FastifyReply): FastifyReply {
  const text = `The status page needs ADMIN_PASSWORD, with the user name ${ADMIN_USER}.`;
  return reply.code(401).type('text/plain').send(text);
}

function refuseForNow(reply: FastifyReply, seconds: number): FastifyReply {
  const text =
    'Too many wrong passwords came from there. Wait a little; the right one is let in at once.';
  reply.removeHeader('www-authenticate');
  // Each further guess costs a connection.
  const headers = { 'retry-after': String(seconds), connection: 'close' };
  return reply.code(429).headers(headers).type('text/plain').send(text);
}
