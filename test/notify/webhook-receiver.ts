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
