import type { ServerResponse } from 'node:http';

/** A response of a stand-in service, before it is sent. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8 text; empty for no body. */
  readonly body: string;
}

const replyOf = (status: number, type: string, body: string): Reply => {
  return { status, headers: { 'content-type': `${type}; charset=utf-8` }, body };
};

/** A JSON response from text that is already JSON. */
export const jsonReply = (status: number, json: string): Reply =>
  replyOf(status, 'application/json', json);

/** A response like those of gateways and crashed servers. */
export const htmlReply = (status: number, html: string): Reply =>
  replyOf(status, 'text/html', html);

/** Sends the head of a reply, and returns its body: undefined if its status allows none. */
export function sendHead(response: ServerResponse, reply: Reply): Buffer | undefined {
  const hasBody = reply.status !== 204 && reply.status !== 304;
  const body = hasBody ? Buffer.from(reply.body) : undefined;
  const length = body === undefined ? {} : { 'content-length': body.byteLength };
  response.writeHead(reply.status, { ...reply.headers, ...length });
  return body;
}

/** Sends a whole reply. */
export const send = (response: ServerResponse, reply: Reply): void => {
  response.end(sendHead(response, reply));
};
