import { once } from 'node:events';
import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { errorCode } from '../base/error-code.ts';
import { MirrorError } from '../base/errors.ts';

/** Where to listen. */
export interface ListenPlace {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The setting that `port` comes from. */
  readonly variable: 'PORT' | 'WORKER_PORT';
  /** What is to listen, for the message: `The status page`. */
  readonly what: string;
}

/**
 * Listens, and resolves to where a browser on this machine finds it, without a slash at the end. Rejects with SETTINGS when it
 * cannot, with the remedy.
 */
export async function listen(app: FastifyInstance, place: ListenPlace): Promise<string> {
  const { host, port } = place;
  try {
    await app.listen({ host: withoutBrackets(host), port });
  } catch (error) {
    throw cannotListen(error, place);
  }
  return addressOf(app, host);
}

/**
 * Opens the port and closes it again, to find out whether {@link listen} could. Rejects as that does; any port is free where 0 is
 * asked for.
 */
export async function requireFreePort(place: ListenPlace): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host: withoutBrackets(place.host), port: place.port });
    await once(server, 'listening');
  } catch (error) {
    throw cannotListen(error, place);
  }
  server.close();
  await once(server, 'close');
}

const cannotListen = (error: unknown, place: ListenPlace): MirrorError =>
  new MirrorError('SETTINGS', `${place.what} cannot listen: ${reasonOf(errorCode(error), place)}`, {
    cause: error,
  });

/** An address that listens everywhere is reached by a loopback one. */
function addressOf(app: FastifyInstance, host: string): string {
  const [address] = app.addresses();
  const port = typeof address === 'object' ? address.port : 0;
  const everywhere = host === '0.0.0.0' || host === '::' || host === '[::]';
  const name = everywhere ? 'localhost' : withoutBrackets(host);
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** `[::1]`, as an address in a URL is written, is `::1` to a socket. */
const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/** Why nothing can listen there, with what to set instead. */
function reasonOf(code: string | undefined, { host, port, variable }: ListenPlace): string {
  const place = `${variable} ${port} of HOST ${host}`;
  if (code === 'EADDRINUSE') {
    const other = port < 65_535 ? port + 1 : 8_080;
    return `${place} is taken by another program, maybe another forms-mirror. Stop that one, or choose another port: ${variable}=${other}`;
  }
  if (code === 'EACCES') {
    return `${place} may not be opened by this user. Choose a port from 1024 on: ${variable}=8080`;
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `HOST ${host} is not an address of this machine. Set HOST=127.0.0.1 for this machine only, HOST=0.0.0.0 for all that can reach it`;
  }
  return `${place} does not open${code === undefined ? '' : ` (${code})`}. Set HOST and ${variable} to a free address, for example HOST=127.0.0.1 ${variable}=8081`;
}
