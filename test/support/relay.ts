import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { freePort } from './servers.ts';

/** A network between us and a server. */
export interface Relay {
  readonly port: number;
  /** Goes silent without hanging up. */
  freeze(): void;
  /** Hangs up once so many more bytes of questions or of answers have passed. */
  cutAfter(what: 'questions' | 'answers', bytes: number): void;
  close(): void;
}

/** Stands between us and a server on this machine. */
export async function startRelay(serverPort: number): Promise<Relay> {
  const sockets: Socket[] = [];
  const left = { questions: Infinity, answers: Infinity };
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const cut = (what: keyof typeof left): Transform =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        const passed = chunk.subarray(0, Math.max(0, left[what]));
        left[what] -= chunk.length;
        done(null, passed);
        if (left[what] < 0) setImmediate(hangUp);
      },
    });
  const relay = createServer((near) => {
    const far = connect(serverPort, '127.0.0.1');
    near.on('error', () => {});
    far.on('error', () => {});
    near.pipe(cut('questions')).pipe(far);
    far.pipe(cut('answers')).pipe(near);
    sockets.push(near, far);
  });
  const port = await freePort();
  await new Promise<void>((done) => relay.listen(port, '127.0.0.1', done));
  return {
    port,
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    cutAfter(what, bytes) {
      left[what] = bytes;
    },
    close() {
      hangUp();
      relay.close();
    },
  };
}
