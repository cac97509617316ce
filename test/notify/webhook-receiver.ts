import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The body. */
export interface PostedMessage {
  readonly text: string;
}

/** A chat's webhook: accepts messages, and responds as a test requires. */
export interface Webhook extends AsyncDisposable {
  readonly url: string;
  /** All requests, including refused ones. */
  readonly bodies: PostedMessage[];
  /** The number of requests. */
  readonly requests: number;
  /** Sets the response to the next request; the last one stays. Default: 200. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
}

export async function startWebhook(): Promise<Webhook> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      webhook.bodies.push(JSON.parse(text === '' ? 'null' : text) as PostedMessage);
      webhook.answer(request, response);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const webhook = {
    url: `http://127.0.0.1:${port}/hooks/T0P-S3CRET`,
    bodies: [] as PostedMessage[],
    get requests() {
      return webhook.bodies.length;
    },
    answer: ((_request, response) => response.end('ok')) as Webhook['answer'],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return webhook;
}
