import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './servers.ts';

/** A network between us and the server, which can go silent without hanging up. */
export async function startRelay(
  serverPort: number,
): Promise<{ port: number; freeze(): void; close(): void }> {
  const sockets: Socket[] = [];
  const relay = createServer((near) => {
    const far = connect(serverPort, '127.0.0.1');
    near.on('error', () => {});
    far.on('error', () => {});
    near.pipe(far);
    far.pipe(near);
    sockets.push(near, far);
  });
  const port = await freePort();
  await new Promise<void>((done) => relay.listen(port, '127.0.0.1', done));
  return {
    port,
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      relay.close();
    },
  };
}
