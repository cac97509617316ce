import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultRule } from './faults.ts';

/** An answer of a method, before it goes on the wire. */
export interface Reply {
  readonly status: number;
  /** JSON text; empty for no body. */
  readonly body: string;
}

/**
 * Answers one request as the fault wants it: waits, serves or not, spoils the delivery. Resolves with the status shown, 0
 * when the connection was dropped or `signal` ended the wait.
 */
export async function deliver(
  response: ServerResponse,
  fault: FaultRule | undefined,
  serve: () => Promise<Reply>,
  signal: AbortSignal,
): Promise<number> {
  const applied = fault?.applied === true ? await serve() : undefined;
  if (fault?.delayMs !== undefined && !(await waited(fault.delayMs, signal))) return 0;
  if (fault?.dropConnection === true) {
    response.destroy();
    return 0;
  }
  if (fault?.silent === true) return 0;
  const shown =
    fault?.status === undefined ? undefined : { status: fault.status, body: fault.body ?? '' };
  const reply = shown ?? applied ?? (await serve());
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

function send(response: ServerResponse, reply: Reply, fault: FaultRule | undefined): void {
  if (response.destroyed) return;
  const body = Buffer.from(reply.body);
  const headers: Record<string, string | number> = {};
  if (body.byteLength > 0) {
    headers['content-type'] = 'application/json; charset=UTF-8';
    headers['content-length'] = body.byteLength;
  }
  if (fault?.retryAfter !== undefined) headers['retry-after'] = String(fault.retryAfter);
  response.writeHead(reply.status, headers);
  if (fault?.cutBodyAt === undefined) {
    response.end(body);
    return;
  }
  response.write(body.subarray(0, fault.cutBodyAt), () => response.destroy());
}
