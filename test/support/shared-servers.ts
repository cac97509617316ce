import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { startPostgres, type TestServer } from './servers.ts';

// vitest's global setup of the integration tests: servers that all files of a run share, each started when the first
// file asks for it (lent-server.ts).

/** What can be lent, by name. */
const START: Readonly<Record<string, () => Promise<TestServer>>> = { postgres: startPostgres };

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers `/<name>` with the address of that server. */
    lender: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<TestServer>>();
  const lend = async (name: string): Promise<string> => {
    const start = START[name];
    if (start === undefined) throw new Error(`no server called ${name}`);
    const server = started.get(name) ?? start();
    started.set(name, server);
    return (await server).url;
  };
  const lender = createServer((request, response) => {
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
