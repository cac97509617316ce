// Checks point by point whether BigQuery fulfills the assumptions of the target: `npm run try:bigquery -- <project> [location]`.
// Works in its own dataset, and removes it at the end. It runs about 100 small jobs, which are billed about 2 GB: within the free
// allowance of 1 TiB a month. The project needs a billing account, and the account the role BigQuery User.
import { randomBytes } from 'node:crypto';
import { BigQueryApi } from '../packages/target-bigquery/src/api.ts';
import { systemClock } from '../src/base/clock.ts';
import { MirrorError, toMirrorError } from '../src/base/errors.ts';
import { loadProcessConfig } from '../src/settings/config.ts';
import { parseBigQueryUrl } from '../src/targets/bigquery.ts';
import { bigQueryPoints } from './try/bigquery-points.ts';
import { listenForEnd, lookAndRemove } from './try/trial.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(
  project: string | undefined,
  location = 'US',
  endpoint?: string,
): Promise<number> {
  if (project === undefined)
    throw new MirrorError('USAGE', 'Which project? npm run try:bigquery -- <project> [location]');
  const { google, proxy } = loadProcessConfig();
  const dataset = `forms_mirror_try_${randomBytes(4).toString('hex')}`;
  const at = endpoint === undefined ? '' : `&endpoint=${endpoint}`;
  const address = parseBigQueryUrl(`bigquery://${project}/${dataset}?location=${location}${at}`);
  const access = { ...google, proxy };
  const api = new BigQueryApi(await address.connection(access, systemClock));
  const open = () => address.open('try', { google: access, history: 'full' });
  const made = `the dataset ${dataset} of ${project}`;
  const stop = listenForEnd(process, made, print);
  print(`In ${made}, which is removed at the end.`);
  return lookAndRemove({
    points: bigQueryPoints(api, open),
    print,
    stop,
    made,
    remove: () => api.call('DELETE', api.datasetPath(), { query: { deleteContents: 'true' } }),
  });
}

try {
  process.exitCode = await run(...(process.argv.slice(2) as [string?, string?, string?]));
} catch (error) {
  process.stderr.write(`✗ ${toMirrorError(error).message}\n`);
  process.exitCode = 2;
}
