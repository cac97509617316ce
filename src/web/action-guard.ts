import Tokens from '@fastify/csrf';
import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../base/transport.ts';
import type { ActionName } from './action-order.ts';

/*
 * Keeps web pages elsewhere from acting through the browser of somebody who may: a request that changes something has to come
 * from a page of ours, by what the browser says of it (Sec-Fetch-Site, Origin), and a form carries a token that only our page
 * could show. A name that somebody points here (DNS rebinding) has no password, and without one is refused by its Host.
 */

/** How long a confirmation page serves. */
const TOKEN_LASTS_MS = 3_600_000;

/** Tokens of this process, each for one action at one place. */
export class ActionTokens {
  readonly #tokens = Tokens.Tokens({ validity: TOKEN_LASTS_MS, userInfo: true });
  readonly #secret = this.#tokens.secretSync();

  create(subject: readonly (string | null)[]): string {
    return this.#tokens.create(this.#secret, JSON.stringify(subject));
  }

  isRight(token: string, subject: readonly (string | null)[]): boolean {
    return token !== '' && this.#tokens.verify(this.#secret, token, JSON.stringify(subject));
  }
}

/** What a token is for. */
export const tokenSubject = (order: {
  readonly do: ActionName;
  readonly form: string | null;
  readonly target: string | null;
}): readonly (string | null)[] => [order.do, order.form, order.target];

/** Whether a request that changes something may come from a page of ours, or from no page at all. */
export function isOwnRequest({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  // Browsers send it with every POST.
  if (origin === undefined) return true;
  return host !== undefined && URL.parse(origin)?.host === host;
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Whether people may act here at all: with a password; without one only on the machine itself, and not through a proxy, which
 * would let others in by the name that they may not use. One that says nothing of itself shows by the page's own name in the
 * browser, and by HTTP/1.0, which nginx speaks unless it is told otherwise.
 */
export function mayAct(
  { headers, raw }: Pick<FastifyRequest, 'headers' | 'raw'>,
  hasPassword: boolean,
): boolean {
  if (hasPassword) return true;
  const { origin } = headers;
  const isHere = origin === undefined || isLoopback(URL.parse(origin)?.hostname ?? '');
  return (
    isHere && raw.httpVersion !== '1.0' && FORWARDED.every((name) => headers[name] === undefined)
  );
}
