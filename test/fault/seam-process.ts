import { writeSync } from 'node:fs';
import { App } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { loadProcessConfig } from '../../src/config.ts';
import type { FormWriter, Target } from '../../src/mirror/target.ts';

// One full pass of one form, then marking, as the program does them; stands still before its n-th write of a kind.
// Run with: node test/fault/seam-process.ts <form-id> <kind> <n>

const [formId = '', kind = '', nth = '1'] = process.argv.slice(2);
/** Small, so that a pass has several writes. */
const BATCH_ROWS = 100;
const WRITES = new Set([
  'prepare',
  'apply',
  'markDeleted',
  'setStatuses',
  'recordRefusals',
  'finish',
]);

let written = 0;
async function beforeWrite(name: string): Promise<void> {
  if (name !== kind || ++written !== Number(nth)) return;
  writeSync(1, 'the seam is reached\n');
  // A promise that nothing could ever settle is garbage, and so is the pass behind it, with the connection that holds its lock.
  await new Promise((resolve) => setInterval(() => resolve, 60_000));
}

function haltingTarget(target: Target): Target {
  return new Proxy(target, {
    get(inner, name) {
      if (name === 'batchRows') return BATCH_ROWS;
      const value: unknown = Reflect.get(inner, name);
      if (typeof value !== 'function') return value;
      if (name !== 'openWriter') return (...args: unknown[]): unknown => value.apply(inner, args);
      return async (...args: Parameters<Target['openWriter']>) => {
        await beforeWrite('openWriter');
        return haltingWriter(await inner.openWriter(...args));
      };
    },
  });
}

function haltingWriter(writer: FormWriter): FormWriter {
  return new Proxy(writer, {
    get(inner, name) {
      const value: unknown = Reflect.get(inner, name);
      if (typeof value !== 'function') return value;
      // Not bound functions: `await using` of Node 24 does not take one for a function.
      const call = (...args: unknown[]): unknown => value.apply(inner, args);
      if (!WRITES.has(String(name))) return call;
      return async (...args: unknown[]) => {
        await beforeWrite(String(name));
        return call(...args);
      };
    },
  });
}

class HaltingApp extends App {
  override async target(name: string): Promise<Target> {
    return haltingTarget(await super.target(name));
  }
}

const config = loadProcessConfig({ source: true });
await using app = new HaltingApp(config, { clock: systemClock, logger: silentLogger });
const { signal } = new AbortController();
const report = await app.pass({ formId, target: 'default', kind: 'full' }, signal);
const marks = await app.mark(formId, signal);
writeSync(1, `end: ${report.outcome}, ${marks?.marked} marked; ${report.error}\n`);
