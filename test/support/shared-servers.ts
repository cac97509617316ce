import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { makeQueue } from './queue-template.ts';
import { startMariadb, startPostgres } from './servers.ts';

// vitest's global setup of the integration tests: resources that all files of a run share, each started or made when
// the first file asks for it (lent-server.ts).

/** A lent resource; `url` is its address. */
export interface Lent {
  readonly url: string;
  stop(): Promise<void>;
}

/** What can be lent, by name. */
const START: Readonly<Record<string, () => Promise<Lent>>> = {
  postgres: startPostgres,
  mariadb: startMariadb,
  queue: makeQueue,
};

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers `/<name>` with the address of that server. */
    lender: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<Lent>>();
  const lend = async (name: string): Promise<string> => {
    const start = START[name];
    if (start === undefined) throw new Error(`no server called ${name}`);
    const server = started.get(name) ?? start();
    started.set(name, server);
    return (await server).url;
  };
  const lender = createServer((request, response) => {
    // A connection that stays open could end just as the next request is sent.
    response.shouldKeepAlive = false;
    lend(request.url?.slice(1) ?? '').then(
      (url) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((done) => lender.listen(0, '127.0.0.1', done));
  project.provide('lender', `http://127.0.0.1:${(lender.address() as AddressInfo).port}`);
  return async () => {
    lender.close();
    lender.closeAllConnections();
    const servers = await Promise.allSettled(started.values());
    for (const server of servers) if (server.status === 'fulfilled') await server.value.stop();
  };
}
