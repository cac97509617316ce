import type { FastifyInstance } from 'fastify';
import { errorCode, MirrorError } from '../base/errors.ts';
import { plainHost } from '../base/transport.ts';

/** Where to listen. */
export interface ListenPlace {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The setting of `port`. Default: PORT. */
  readonly variable?: 'PORT' | 'WORKER_PORT';
}

/** A server that is listening. */
export interface Listening {
  /** Its URL in a browser on this machine, without a slash at the end. */
  readonly url: string;
  /** Never rejects; may be called twice. */
  stop(): Promise<void>;
}

/** Listens. Rejects with SETTINGS and the remedy if it cannot. */
export async function listen(app: FastifyInstance, place: ListenPlace): Promise<Listening> {
  const host = plainHost(place.host);
  await app.listen({ host, port: place.port }).catch((error: unknown) => {
    throw cannotListen(error, place);
  });
  const [address] = app.addresses();
  const port = typeof address === 'object' ? address.port : 0;
  // An address that listens everywhere can be reached by a loopback one.
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const url = `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
  return { url, stop: () => app.close().catch(() => undefined) };
}

function cannotListen(error: unknown, place: ListenPlace): MirrorError {
  const { host, port, variable = 'PORT' } = place;
  const code = errorCode(error);
  const message =
    code === 'EADDRINUSE'
      ? `${variable} ${port} of HOST ${host} is taken by another program, perhaps another forms-mirror. Stop it, or choose another port: ${variable}=${port < 65_535 ? port + 1 : 8_080}`
      : `HOST ${host} with ${variable} ${port} does not open (${code ?? 'no reason was given'}). HOST has to be an address of this machine (HOST=127.0.0.1 for this machine only, HOST=0.0.0.0 for all its addresses), and ${variable} 1024 or more.`;
  return new MirrorError('SETTINGS', message, { cause: error });
}
