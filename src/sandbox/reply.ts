import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './faults.ts';

/** An answer of a stand-in service, before it goes on the wire. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8 text; empty for no body. */
  readonly body: string;
}

/** A JSON answer from text that is JSON already. */
export function jsonReply(status: number, json: string): Reply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: json };
}

/** An answer as gateways and crashed servers give it. */
export function htmlReply(status: number, html: string): Reply {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body: html };
}

/** The answer that a fault shows instead of the real one; undefined when it only spoils the delivery. */
function faultReply(fault: Fault): Reply | undefined {
  if (fault.status === undefined) return undefined;
  const { status } = fault;
  const text = fault.body ?? JSON.stringify({ error: 'injected', message: `Injected ${status}` });
  const reply = text === '' || !isJson(text) ? htmlReply(status, text) : jsonReply(status, text);
  if (fault.retryAfter === undefined) return reply;
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(fault.retryAfter) } };
}

/**
 * Answers one request as the fault wants it: waits, serves (or not), spoils the delivery. `serve` is called at most
 * once, right before the answer is sent. Resolves with the status shown, 0 when the connection was dropped
 * or `signal` ended the wait; never rejects on behalf of a client that went away.
 */
export async function answer(
  response: ServerResponse,
  fault: Fault | undefined,
  serve: () => Reply | Promise<Reply>,
  signal: AbortSignal,
): Promise<number> {
  const applied = fault?.applied === true ? await serve() : undefined;
  if (fault?.delayMs !== undefined && !(await waited(fault.delayMs, signal))) return 0;
  if (fault?.dropConnection === true) {
    response.destroy();
    return 0;
  }
  const reply = (fault && faultReply(fault)) ?? applied ?? (await serve());
  send(response, reply, fault);
  return reply.status;
}

async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

/** Puts a reply on the wire; with `cutBodyAt` or `hang` only a part of it. */
function send(response: ServerResponse, reply: Reply, fault: Fault | undefined): void {
  if (response.destroyed) return;
  const body = Buffer.from(reply.body);
  const hasBody = reply.status !== 204 && reply.status !== 304;
  response.writeHead(reply.status, {
    ...reply.headers,
    ...(hasBody ? { 'content-length': body.byteLength } : {}),
  });
  const bytes = fault?.cutBodyAt ?? (fault?.hang === true ? body.byteLength >> 1 : undefined);
  if (bytes === undefined) {
    response.end(hasBody ? body : undefined);
    return;
  }
  response.write(body.subarray(0, bytes), () => {
    if (fault?.hang !== true) response.destroy();
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
