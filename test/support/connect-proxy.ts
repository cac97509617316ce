import { readFileSync } from 'node:fs';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

const TLS = join(import.meta.dirname, '../fixtures/tls');

/** The certificate file of the authority that signed {@link startTlsOrigin}'s, for NODE_EXTRA_CA_CERTS. */
export const TEST_AUTHORITY = join(TLS, 'authority.pem');

/** How the proxy treats a client that wants to connect to a host. */
export type ProxyAnswer =
  /** Connects it to this port of the machine. */
  | { readonly port: number }
  /** Writes this, and closes. */
  | { readonly text: string };

/** An HTTP proxy that records everything. */
export interface ConnectProxy extends AsyncDisposable {
  /** `127.0.0.1:<port>` */
  readonly host: string;
  /** The first lines of all requests: `CONNECT forms.test:443 HTTP/1.1`. */
  readonly requests: string[];
  /** The bytes that clients sent, heads and tunnels. */
  seen(): string;
}

/** Starts one; `answer` is called with host and port, and the client's `Proxy-Authorization`. */
export async function startProxy(
  answer: (target: string, authorization: string | undefined) => ProxyAnswer,
): Promise<ConnectProxy> {
  const sockets = new Set<Socket>();
  const chunks: Buffer[] = [];
  const requests: string[] = [];
  const server = createServer((client) => {
    keep(sockets, client);
    client.on('data', (chunk) => chunks.push(chunk));
    let head = '';
    const readHead = (chunk: Buffer): void => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      client.off('data', readHead);
      requests.push(head.slice(0, head.indexOf('\r\n')));
      const [, target = ''] = head.split(' ');
      const authorization = /^proxy-authorization: *(.*)\r$/im.exec(head)?.[1];
      serve(client, answer(target, authorization), sockets);
    };
    client.on('data', readHead);
  });
  const port = await listen(server);
  return {
    host: `127.0.0.1:${port}`,
    requests,
    seen: () => Buffer.concat(chunks).toString('latin1'),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

function serve(client: Socket, answer: ProxyAnswer, sockets: Set<Socket>): void {
  if ('text' in answer) {
    client.end(answer.text);
  } else {
    const origin = connect(answer.port, '127.0.0.1');
    keep(sockets, origin);
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    client.pipe(origin).pipe(client);
  }
}

/** A server with TLS in front of a plain one of this machine. */
export interface TlsOrigin extends AsyncDisposable {
  readonly port: number;
}

/** Starts one, with a certificate for `forms.test`, `hooks.test`, `sheets.googleapis.com` and others. */
export async function startTlsOrigin(plainPort: number): Promise<TlsOrigin> {
  const sockets = new Set<Socket>();
  const key = readFileSync(join(TLS, 'key.pem'));
  const cert = readFileSync(join(TLS, 'certificate.pem'));
  const server = createTlsServer({ key, cert }, (client) => {
    const origin = connect(plainPort, '127.0.0.1');
    keep(sockets, client);
    keep(sockets, origin);
    client.pipe(origin).pipe(client);
  });
  // A client that does not trust such a certificate disconnects.
  server.on('tlsClientError', () => undefined);
  const port = await listen(server);
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Until it closes; if one side breaks, the other ends. */
function keep(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => sockets.delete(socket));
}

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}
