// Says point by point whether what the BigQuery target counts on holds for the real service:
// `npm run try:bigquery -- <project> [--dataset <name>] [--location EU]`. Works in a dataset of its own, or in tables of its
// own in the one that is named, and takes them away again.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/clock.ts';
import { MirrorError, toMirrorError } from '../src/base/errors.ts';
import { bytes } from '../src/base/format.ts';
import { loadProcessConfig } from '../src/config.ts';
import { openAccount } from '../src/targets/google/credentials.ts';
import { parseBigQueryUrl } from '../src/targets/sql/bigquery/bigquery-address.ts';
import { BIGQUERY_SCOPE } from '../src/targets/sql/bigquery/bigquery-errors.ts';
import { newDataset, openDataset } from './try/bigquery-dataset.ts';
import { bigQueryPoints } from './try/bigquery-points.ts';
import { listenForEnd, lookAndRemove } from './try/trial.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { dataset: { type: 'string' }, location: { type: 'string' } },
  });
  const [project] = positionals;
  if (project === undefined) {
    const usage = 'npm run try:bigquery -- <project> [--dataset <name>] [--location EU]';
    throw new MirrorError('USAGE', `Which project? ${usage}`);
  }
  const { google, proxy } = loadProcessConfig();
  const where = values.location === undefined ? '' : `?location=${values.location}`;
  const address = parseBigQueryUrl(`bigquery://${project}/${values.dataset ?? 'new'}${where}`);
  const { bigQueryEmulatorUrl: emulatorUrl } = google;
  const account = await openAccount({ ...google, emulatorUrl, proxy }, BIGQUERY_SCOPE);
  const nonce = randomBytes(4).toString('hex');
  const made =
    values.dataset === undefined
      ? `the dataset ${newDataset(nonce)}`
      : `the tables ${newDataset(nonce)}_… of the dataset ${values.dataset}`;
  const stop = listenForEnd(process, made, print);
  const open = await openDataset({
    project: address.project,
    dataset: values.dataset,
    location: address.location,
    account,
    clock: systemClock,
    rootUrl: emulatorUrl === undefined ? undefined : `${emulatorUrl}/`,
    nonce,
  });
  print(
    `In tables ${open.tried.prefix}… of the dataset ${open.tried.jobs.dataset}, which are removed at the end.`,
  );
  return lookAndRemove({
    points: bigQueryPoints(open.tried),
    print,
    stop,
    made,
    remove: () => open.remove(),
    end: () => `${bytes(open.spent())} were billed.`,
  });
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`✗ ${toMirrorError(error).message}\n`);
  process.exitCode = 2;
}
