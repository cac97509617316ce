import { choosesForm } from '../sync/planned-forms.ts';
import { type Explanation, explainSubmission, type TargetStory } from '../sync/explain.ts';
import { requirePicks } from './chosen-plan.ts';
import type { CommandSpec } from './command-spec.ts';
import { openApp } from './session.ts';
import type { Terminal } from './terminal.ts';
import { plural } from './words.ts';

/** `explain`: where one submission stands. */
export const explainCommand: CommandSpec = {
  name: 'explain',
  summary: 'Tells where one submission stands: at the source, in each target, with marking.',
  examples: ['forms-mirror explain sub_0123456789', 'forms-mirror explain sub_0123456789 --json'],
  configure(command) {
    command
      .argument('<submission-id>', 'ID of the submission')
      .option('--json', 'print one JSON document');
  },
  async run({ host, args: [id = ''], flag }) {
    const { signal } = host.stop;
    await using app = await openApp(host, { source: true });
    const { targets, hashKey, marking } = app.config;
    await requirePicks(
      host,
      app,
      targets.map(({ name }) => name),
    );
    const asked = targets.map(async ({ name, forms }) => ({
      target: await app.target(name),
      picks: app.picksOf(name),
      hashKey,
      mirrors: (form: { id: string; slug: string }) => choosesForm(forms, form),
    }));
    const story = await explainSubmission(
      app.context,
      await Promise.all(asked),
      id,
      marking,
      signal,
    );
    if (flag('json')) host.terminal.printJson(story);
    else printStory(host.terminal, story);
    // A submission that nobody knows is most likely a typing error.
    return story.source === null && story.form === null ? 1 : 0;
  },
};

function printStory(
  terminal: Terminal,
  { submissionId, source, form, targets, marking }: Explanation,
): void {
  terminal.print(
    `${terminal.style('bold', submissionId)}${form ? ` of ${form.name} (${form.id})` : ''}`,
  );
  terminal.print(
    source === null
      ? 'source: answers 404, so it was deleted, or never was'
      : `source: ${source.status}, created ${source.createdAt}, ${plural(source.answers, 'answer')}`,
  );
  for (const defect of source?.defects ?? []) terminal.print(`    ! ${defect}`);
  for (const story of targets) printTarget(terminal, story);
  terminal.print(`marking: ${marking}`);
}

const STATES = {
  current: 'stored, the same as the source',
  different: 'stored, but not as the source has it now',
  deleted: 'marked deleted',
  absent: 'not stored',
  'not-mirrored': 'its form is not mirrored here',
} as const satisfies Record<TargetStory['state'], string>;

function printTarget(terminal: Terminal, story: TargetStory): void {
  const status = story.status === null ? '' : `, status ${story.status}`;
  const since = story.deletedAt === null ? '' : ` since ${story.deletedAt}`;
  terminal.print(`${story.target}: ${STATES[story.state]}${since}${status}`);
  if (story.differing.length > 0) terminal.print(`    differs in: ${story.differing.join(', ')}`);
  for (const reason of story.rejected) terminal.print(`    listed as rejected: ${reason}`);
  for (const { wanted, status: from, reason, at } of story.refusals) {
    terminal.print(`    the source refused ${wanted} from ${from} at ${at}: ${reason}`);
  }
  if (story.provenAt !== null)
    terminal.print(`    its form was last proven complete here at ${story.provenAt}`);
}
