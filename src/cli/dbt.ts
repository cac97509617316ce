import type { App } from '../app.ts';
import { MirrorError } from '../base/errors.ts';
import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import type { TargetRelations } from '../mirror/port.ts';
import type { Copy } from '../mirror/target.ts';
import type { CommandCall } from './command-spec.ts';
import { dbtSources } from './dbt-sources.ts';
import { openApp } from './open-app.ts';

/** `export --dbt`: a `sources.yml` with the tables of a SQL target. Asks the source nothing. */
export async function printDbtSources(call: CommandCall): Promise<ExitCode> {
  const { host, text } = call;
  await using app = await openApp(host);
  const { target, found } = await findRelations(call, app);
  const options = {
    name: text('name') ?? 'forms',
    address: target.address,
    comparedEveryMs: app.config.schedule.fullEveryMs,
  };
  host.terminal.printText(dbtSources(found, options).trimEnd());
  return EXIT_CODES.DONE.code;
}

interface Found {
  readonly target: Copy;
  readonly found: TargetRelations;
}

/** The one SQL target that is meant. Throws USAGE where there is none, or several and none was named. */
async function findRelations({ text }: CommandCall, app: App): Promise<Found> {
  const only = text('target');
  const names = app.config.targets.map(({ name }) => name);
  const sql: Found[] = [];
  for (const name of only === undefined ? names : [app.settingsOf(only).name]) {
    const target = await app.target(name);
    const found = await target.relations();
    if (found !== undefined) sql.push({ target, found });
  }
  const [first, ...others] = sql;
  if (first === undefined) {
    throw new MirrorError(
      'USAGE',
      'dbt reads tables of a database. No target here is one; set TARGET_URL or --target.',
    );
  }
  if (others.length > 0) {
    const which = sql.map(({ target }) => target.name).join(', ');
    throw new MirrorError(
      'USAGE',
      `Several targets have tables. Name one with --target (${which}).`,
    );
  }
  const { target, found } = first;
  if (found.relations.length > 0) return first;
  throw new MirrorError(
    'USAGE',
    `Target ${target.name} (${target.address}) holds no form yet. Run forms-mirror sync, or start, first.`,
  );
}
