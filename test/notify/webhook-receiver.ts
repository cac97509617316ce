import { OddServer } from '../support/odd-server.ts';

/** The body. */
export interface PostedMessage {
  readonly text: string;
}

/** A chat's webhook: accepts messages, or responds as a test requires (`handler`). */
export class Webhook extends OddServer {
  override get url(): string {
    return `http://127.0.0.1:${this.port}/hooks/T0P-S3CRET`;
  }

  /** All messages, including refused ones. */
  get bodies(): PostedMessage[] {
    return this.requests.map(({ body }) => JSON.parse(body) as PostedMessage);
  }
}

export const startWebhook = (): Promise<Webhook> =>
  new Webhook((_request, response) => response.end('ok')).listen();
