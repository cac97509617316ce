import type { MessagePort } from 'node:worker_threads';
import { workerData } from 'node:worker_threads';
import { createConnection } from 'mysql2/promise';

// Asks a server of MariaDB for a thread that stands still meanwhile: see law-places.ts.

interface Data {
  readonly url: string;
  readonly port: MessagePort;
  readonly turn: Int32Array;
}

const { url, port, turn } = workerData as Data;
const connecting = createConnection({ uri: url, dateStrings: true, multipleStatements: true });

async function answer(sql: string, params: string[]): Promise<unknown> {
  try {
    const client = await connecting;
    await client.query("set sql_mode = 'ANSI_QUOTES'");
    const [rows] = await client.query(sql, params);
    return { rows: Array.isArray(rows) ? rows : [] };
  } catch (error) {
    return { error: String(error) };
  }
}

async function reply({ sql, params }: { sql: string; params: string[] }): Promise<void> {
  port.postMessage(await answer(sql, params), []);
  Atomics.store(turn, 0, 1);
  Atomics.notify(turn, 0);
}

port.on('message', (question) => void reply(question));
