import { expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import type { FormWriter, Target } from '../../src/mirror/target.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { lifeOf } from '../soak/quiet-life.ts';

/**
 * A target whose writer is billed a statement, of 10 bytes, for each batch and for the end of the pass. `failure`: what each batch
 * fails with.
 */
function billing(target: Target, recorded: object[], failure?: Error): Target {
  const bound = (value: unknown, owner: object): unknown =>
    typeof value === 'function' ? value.bind(owner) : value;
  const counted = (writer: FormWriter): FormWriter => {
    let statements = 0;
    return new Proxy(writer, {
      get: (all, name) => {
        if (name === 'spent') return () => ({ billedBytes: statements * 10, statements });
        if (name === 'apply' || name === 'finish') statements++;
        if (name === 'apply' && failure !== undefined) return () => Promise.reject(failure);
        const value: unknown = Reflect.get(all, name);
        if (name !== 'finish') return bound(value, all);
        return (...[pass, end]: Parameters<FormWriter['finish']>) => {
          recorded.push(pass);
          return all.finish(pass, end);
        };
      },
    });
  };
  return new Proxy(target, {
    get: (all, name) =>
      name === 'openWriter'
        ? async (...call: Parameters<Target['openWriter']>) =>
            counted(await all.openWriter(...call))
        : bound(Reflect.get(all, name), all),
  });
}

it('what a writer was billed stands in the record of the pass, and with its end in the report', async () => {
  await using target = openSqlite('a', ':memory:');
  const recorded: object[] = [];
  const life = lifeOf(3);
  const report = await life.pass(billing(target, recorded), 'full');
  expect(recorded).toMatchObject([{ billedBytes: 10, statements: 1 }]);
  expect(report).toMatchObject({ outcome: 'ok', billedBytes: 20, statements: 2 });
  // Of a target that bills nothing there is nothing to tell.
  expect(await life.pass(target, 'full')).not.toHaveProperty('billedBytes');
});

it('of a pass that the target lets fail the report says it as well', async () => {
  await using target = openSqlite('a', ':memory:');
  const failure = new MirrorError('TARGET_UNREACHABLE', 'Nobody answers.');
  const report = await lifeOf(3).pass(billing(target, [], failure), 'full');
  expect(report).toMatchObject({ outcome: 'failed', billedBytes: 10, statements: 1 });
});
