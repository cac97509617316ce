import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { ADMIN_USER, type Access, type Verdict } from './access.ts';
import { isLocalHostHeader } from './host-guard.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** For this answer's style and script. */
    nonce: string;
  }
}

/** What {@link guardRequests} needs. */
export interface GuardOptions {
  readonly access: Access;
  readonly adminPassword: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** For load balancers and container health checks: they tell nothing, and ask for nothing. */
const OPEN_PATHS = new Set(['/health', '/ready']);

/** A wrong password costs whoever tries this long. */
const WRONG_DELAY_MS = 400;

/** Puts security headers on every answer, and lets only those in who may see the pages. */
export function guardRequests(app: FastifyInstance, options: GuardOptions): void {
  app.decorateRequest('nonce', '');
  app.addHook('onRequest', async (request, reply) => {
    request.nonce = randomBytes(16).toString('base64');
    reply.headers(securityHeaders(request.nonce));
    if (OPEN_PATHS.has(pathOf(request))) return undefined;
    return admit(request, reply, options);
  });
}

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? '';

function securityHeaders(nonce: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-robots-tag': 'noindex, nofollow',
    'cache-control': 'no-store',
  };
}

/** Answers those who may not come in; undefined lets the request go on. */
async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  { access, adminPassword, clock, logger }: GuardOptions,
): Promise<FastifyReply | undefined> {
  if (adminPassword === undefined && !isLocalHostHeader(request.headers.host)) {
    const text = 'This page answers to localhost only. Set ADMIN_PASSWORD to reach it by a name.';
    return reply.code(421).type('text/plain').send(text);
  }
  const verdict = access.judge(request.headers.authorization, request.ip);
  if (verdict.outcome === 'granted') return undefined;
  if (verdict.outcome === 'wrong') {
    logger.warn({ from: request.ip }, 'A wrong password was given to the status page.');
    await clock.sleep(WRONG_DELAY_MS);
  }
  return refuse(reply, verdict);
}

function refuse(reply: FastifyReply, verdict: Verdict): FastifyReply {
  if (verdict.outcome === 'limited') {
    return reply
      .code(429)
      .header('retry-after', String(verdict.retryAfterSeconds))
      .type('text/plain')
      .send('Too many wrong passwords came from there. Wait a little.');
  }
  return reply
    .code(401)
    .header('www-authenticate', 'Basic realm="forms-mirror", charset="UTF-8"')
    .type('text/plain')
    .send(`The status page needs ADMIN_PASSWORD, with the user name ${ADMIN_USER}.`);
}
