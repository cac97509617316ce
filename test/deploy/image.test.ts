import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { OddServer } from '../support/odd-server.ts';
import { projectText } from '../support/readme.ts';

/** The image's health check: arguments of `node`. */
function healthCheck(): string[] {
  const found = /^HEALTHCHECK [^\n]*\\\n\s*CMD (\[.*\])$/m.exec(projectText('Dockerfile'));
  const [program, ...args] = JSON.parse(found?.[1] ?? '[]') as string[];
  expect(program).toBe('node');
  return args;
}

it('the health check of the image asks start or worker, because one of them listens', async () => {
  const args = healthCheck();
  await using server = await OddServer.start(({ url }, response) =>
    response.writeHead(url === '/live' ? 200 : 404).end(),
  );
  const port = String(server.port);
  const codeWith = async (settings: Readonly<Record<string, string>>): Promise<unknown> => {
    const child = spawn(process.execPath, args, { env: settings, stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as unknown[];
    return code;
  };
  // Both may be given the same settings. Nothing listens at port 1.
  expect(await codeWith({ PORT: port, WORKER_PORT: '1' })).toBe(0);
  expect(await codeWith({ PORT: '1', WORKER_PORT: port })).toBe(0);
  expect(await codeWith({ PORT: port })).toBe(0);
  expect(await codeWith({ PORT: '1' })).toBe(1);
});
