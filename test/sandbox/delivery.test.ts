import { expect, it } from 'vitest';
import { startSandbox } from '../support/sandbox.ts';
import { get } from './caller.ts';

it('the sandbox listens on loopback, on the requested port; a port in use is reported', async () => {
  const sandbox = await startSandbox();
  expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  const port = Number(new URL(sandbox.url).port);
  await expect(startSandbox({ port })).rejects.toThrow(`cannot listen on port ${port}`);
  await sandbox.stop();
  const again = await startSandbox({ port, apiKey: 'mine_1' });
  expect([again.url, again.apiKey]).toEqual([`http://127.0.0.1:${port}/v1`, 'mine_1']);
  expect((await get(again, '/forms')).total).toBe(0);
  await again.stop();
  await again.stop();
});
