import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The body. */
export interface PostedMessage {
  readonly text: string;
}

/** A chat's webhook: takes messages, and answers as a test wants it. */
export interface Webhook extends AsyncDisposable {
  readonly url: string;
  /** The requests that came, refused ones included. */
  readonly bodies: PostedMessage[];
  /** How many requests came. */
  readonly requests: number;
  /** Answers the next request; the last one stays. Default: 200. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** Resolves when so many requests have come. */
  came(count: number): Promise<void>;
}

export async function startWebhook(): Promise<Webhook> {
  const waiting: { count: number; done: () => void }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      webhook.bodies.push(JSON.parse(text === '' ? 'null' : text) as PostedMessage);
      webhook.answer(request, response);
      for (const { count, done } of waiting) if (webhook.bodies.length >= count) done();
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
    came(count: number): Promise<void> {
      if (webhook.bodies.length >= count) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ count, done: resolve });
      return promise;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return webhook;
}
