import type { CommandSpec } from './command-spec.ts';
import { showProgress } from './progress.ts';
import { choosePlan } from './chosen-plan.ts';
import { openApp } from './session.ts';
import { passDocument, printSync, syncExitCode } from './sync-report.ts';
import { runSync } from './sync-run.ts';

/** `sync`: one pass now, in this process, without the queue. */
export const syncCommand: CommandSpec = {
  name: 'sync',
  summary: 'Brings the copy up to date once, now; safe beside running workers.',
  examples: [
    'forms-mirror sync',
    'forms-mirror sync --full --form contact',
    'forms-mirror sync --full --dry-run',
  ],
  configure(command) {
    command
      .option('--full', 'read everything: finds changed statuses, edits and deletions')
      .option('--form <form>', 'only this form: ID, slug or name')
      .option('--target <name>', 'only this target')
      .option('--dry-run', 'read and compare, write nothing, mark nothing')
      .option('--accept-deletes', 'release the brake of MAX_DELETE_FRACTION for this pass')
      .option('--restore-columns', 'make columns of a sheet anew that people deleted')
      .option('--json', 'print one JSON document');
  },
  async run(call) {
    const { host, flag } = call;
    const { terminal, clock, stop } = host;
    await using app = await openApp(host, { source: true, reports: !flag('json') });
    const plan = await choosePlan(call, app);
    const dryRun = flag('dryRun');
    const wishes = {
      kind: flag('full') || flag('acceptDeletes') ? ('full' as const) : ('incremental' as const),
      acceptDeletes: flag('acceptDeletes'),
      restoreColumns: flag('restoreColumns'),
      dryRun,
    };
    const quiet = flag('json') && !terminal.interactive;
    const progress = quiet ? undefined : showProgress(terminal, app.events, clock);
    const outcome = await runSync(app, plan, wishes, stop.signal).finally(() =>
      progress?.[Symbol.dispose](),
    );
    if (flag('json')) terminal.printJson({ passes: outcome.passes.map(passDocument) });
    else printSync(terminal, outcome, dryRun);
    return stop.exitCode() ?? syncExitCode(outcome);
  },
};
