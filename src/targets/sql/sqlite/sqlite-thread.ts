import { parentPort, workerData } from 'node:worker_threads';
import { SqliteEngine } from './sqlite-engine.ts';
import { plainError, type ThreadAnswer, type ThreadRequest } from './sqlite-thread-messages.ts';

// What runs in the thread of a SqliteThread: an engine that does what it is told, one after the other.

const engine = new SqliteEngine(String(workerData), 'rewrite');
/** What a statement failed with whose answer nobody waits for: all that follows in its transaction fails with it. */
let failure: { readonly error: unknown } | undefined;

function doOne(request: ThreadRequest): unknown {
  if (request.what === 'rollBack' || request.what === 'close') failure = undefined;
  if (failure !== undefined) throw failure.error;
  switch (request.what) {
    case 'send':
      return engine.send(request.sql, request.params);
    case 'all':
      return engine.all(request.sql, request.params, request.asArrays);
    case 'exec':
      return engine.exec(request.sql);
    case 'store':
      return engine.store(request.plan, request.rows);
    case 'rollBack':
      return engine.rollBack();
    case 'close':
      engine.close();
      return parentPort?.unref();
  }
}

parentPort?.on('message', (request: ThreadRequest) => {
  let answer: ThreadAnswer;
  try {
    answer = { value: doOne(request) };
  } catch (error) {
    answer = { error: plainError(error) };
    if (request.what === 'send') failure ??= { error };
  }
  if (request.what === 'send') return;
  parentPort?.postMessage(answer, []);
});
