import { throwIfAborted } from '../../../base/clock.ts';
import { toMirrorError } from '../../../base/errors.ts';
import { span } from '../../../base/format.ts';
import type { CheckResult } from '../../../mirror/target.ts';
import type { BigQueryAddress } from './bigquery-address.ts';
import { BigQueryError } from './bigquery-errors.ts';
import type { BigQueryJobs } from './bigquery-jobs.ts';
import { elsewhere } from './bigquery-tables.ts';

/** The table that every pass changes. */
const STATE_TABLE = 'mirror_state';
/** What passes do with tables of theirs. */
const NEEDED = [
  'bigquery.tables.get',
  'bigquery.tables.getData',
  'bigquery.tables.updateData',
  'bigquery.tables.update',
];
/** What BigQuery's sandbox, a project without billing, makes of every dataset. */
const SANDBOX_EXPIRATION_MS = 60 * 86_400_000;

/** What is checked, and for whom. */
export interface CheckedDataset {
  readonly jobs: BigQueryJobs;
  readonly address: BigQueryAddress;
  /** The account's e-mail address, when it is known. */
  readonly email: string | undefined;
}

/**
 * Tries credentials, project, API, the right to run jobs, the dataset and the right to write, one result for each, by calls
 * and dry runs that change and cost nothing. Never rejects but with CANCELLED: a failed try is the last result.
 */
export async function checkBigQuery(
  checked: CheckedDataset,
  signal?: AbortSignal,
): Promise<CheckResult[]> {
  const { jobs, email } = checked;
  const { project } = checked.address;
  const results: CheckResult[] = [
    {
      ok: true,
      message:
        email === undefined
          ? 'Google is asked with the account that you signed in with.'
          : `Google is asked as ${email}.`,
    },
  ];
  try {
    throwIfAborted(signal);
    await jobs.dryRun('SELECT 1', signal);
    results.push({ ok: true, message: `Jobs can be run in the project ${project}.` });
    const dataset = await jobs.heldDataset(signal);
    if (dataset === undefined) results.push(...(await missingDataset(checked, signal)));
    else await heldDataset(checked, dataset, { results, signal });
  } catch (error) {
    results.push(failedResult(error));
  }
  return results;
}

/** No dataset: fine where one may be made. */
async function missingDataset(
  { jobs, address, email }: CheckedDataset,
  signal: AbortSignal | undefined,
): Promise<CheckResult[]> {
  const { project, dataset, location = 'US' } = address;
  const name = `${project}.${dataset}`;
  try {
    await jobs.dryRun(`CREATE SCHEMA \`${project}\`.\`${dataset}\``, signal);
  } catch (error) {
    if (!(error instanceof BigQueryError) || error.status !== 403) throw error;
    if (error.reason !== 'accessDenied') throw error;
    const whom = email ?? 'the account of the credentials';
    return [
      {
        ok: false,
        message: `There is no dataset ${name}, and the account may not make one.`,
        remedy: `Make it in the Cloud console, in the location that you want, and give ${whom} the role BigQuery Data Editor in it.`,
      },
    ];
  }
  const unsaid =
    address.location === undefined ? ' Write ?location=EU in the address for another place.' : '';
  return [
    {
      ok: true,
      message: `There is no dataset ${name} yet: the first pass makes it, in ${location}.${unsaid} Whether the project has a billing account, which changing rows needs, shows then.`,
    },
  ];
}

async function heldDataset(
  { jobs, address, email }: CheckedDataset,
  held: NonNullable<Awaited<ReturnType<BigQueryJobs['heldDataset']>>>,
  {
    results,
    signal,
  }: { readonly results: CheckResult[]; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const name = `${address.project}.${address.dataset}`;
  const location = held.location ?? '';
  const { location: wanted } = address;
  if (wanted !== undefined && wanted.toLowerCase() !== location.toLowerCase()) {
    throw elsewhere(address, location, wanted);
  }
  results.push({ ok: true, message: `The dataset ${name} is in ${location}.` });
  results.push(...expirations(name, held));
  const whom = email ?? 'the account of the credentials';
  const table = await jobs.table(STATE_TABLE);
  if (table === undefined) {
    await jobs.dryRun(`CREATE TABLE \`${STATE_TABLE}\` (form_id STRING)`, signal);
    results.push({ ok: true, message: 'Tables can be made in it.' });
    return;
  }
  const missing = await missingRights(jobs, signal);
  if (missing.length > 0) {
    const message = `The account lacks rights to the tables in ${name}: ${missing.join(', ')}.`;
    const remedy = `Give ${whom} the role BigQuery Data Editor in ${address.dataset}.`;
    results.push({ ok: false, message, remedy });
    return;
  }
  await jobs.dryRun(`UPDATE \`${STATE_TABLE}\` SET form_id = form_id WHERE FALSE`, signal);
  results.push({ ok: true, message: 'Its tables can be changed.' });
}

/** The rights that the account lacks, as far as that can be asked; the dry run after it tries them. */
async function missingRights(
  jobs: BigQueryJobs,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  try {
    const granted = new Set(await jobs.permissionsOf(STATE_TABLE, NEEDED, signal));
    return NEEDED.filter((permission) => !granted.has(permission));
  } catch (error) {
    if (error instanceof BigQueryError && error.fault === 'absent') return [];
    throw error;
  }
}

/** What makes tables or months of rows vanish by themselves. */
function expirations(
  name: string,
  {
    defaultTableExpirationMs,
    defaultPartitionExpirationMs,
  }: {
    readonly defaultTableExpirationMs?: string | null;
    readonly defaultPartitionExpirationMs?: string | null;
  },
): CheckResult[] {
  const times = [defaultTableExpirationMs, defaultPartitionExpirationMs].map(Number);
  const shortestMs = Math.min(...times.filter((ms) => ms > 0));
  if (!Number.isFinite(shortestMs)) return [];
  const sandbox =
    shortestMs === SANDBOX_EXPIRATION_MS
      ? ' That is what BigQuery makes of datasets of a project without billing, which may not change rows either: link a billing account first.'
      : '';
  return [
    {
      ok: false,
      message: `The dataset ${name} lets its tables or their months expire after ${span(shortestMs)}: rows would vanish.`,
      remedy: `Remove the expiration of tables and partitions in the details of the dataset; tables that were made before keep theirs.${sandbox}`,
    },
  ];
}

function failedResult(error: unknown): CheckResult {
  const failure = toMirrorError(error);
  if (failure.code === 'CANCELLED') throw failure;
  return failure instanceof BigQueryError
    ? { ok: false, message: failure.what, remedy: failure.remedy }
    : { ok: false, message: failure.message };
}
