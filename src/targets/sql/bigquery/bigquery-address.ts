import { nearestName } from '../../../base/nearest-name.ts';
import { TargetUrlError } from '../../target-url-error.ts';

/** A parsed BigQuery target URL. */
export interface BigQueryAddress {
  readonly project: string;
  readonly dataset: string;
  /** Where the dataset is, or is made: `EU`, `europe-west3`. Undefined: where it is, and `US` when it has to be made. */
  readonly location: string | undefined;
  /** For people. */
  readonly shown: string;
  /** Equal for two addresses of one dataset. */
  readonly place: string;
}

/** How a BigQuery target is written, for messages. */
export const BIGQUERY_FORM = 'bigquery://<project>/<dataset>?location=EU';

const PARAMETERS = ['location'];
const PROJECT = /^(?:[a-z][a-z0-9.-]{0,61}[a-z0-9]:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/;
const DATASET = /^\w{1,1024}$/;
const LOCATION = /^[a-z]{2}(?:-?[a-z]+)*(?:-?[a-z]+\d{1,2})?$/i;
/** `bigquery://`, a project that may hold a colon, a dataset, parameters. */
const PARTS = /^bigquery:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i;

/**
 * Reads `bigquery://<project>/<dataset>?location=EU`. Throws {@link TargetUrlError}, whose text quotes names of parameters
 * alone.
 */
export function parseBigQueryUrl(url: string): BigQueryAddress {
  const [, project = '', path = '', query = ''] = PARTS.exec(url.trim()) ?? [];
  if (project === '') throw wrong('names no project');
  if (project.includes('@')) {
    throw wrong(
      'holds a user or a password, which it takes none of: the account comes from GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_CREDENTIALS_JSON',
    );
  }
  if (!PROJECT.test(project)) {
    throw wrong(
      'names no project by its ID: 6 to 30 small letters, digits and hyphens, as the Cloud console shows it beside the name',
    );
  }
  const dataset = path.replace(/\/$/, '');
  if (dataset === '') throw wrong('names no dataset');
  if (!DATASET.test(dataset)) {
    throw wrong('names no dataset: letters, digits and underscores, and no table after it');
  }
  const location = readLocation(new URLSearchParams(query));
  const shown = `bigquery://${project}/${dataset}${location === undefined ? '' : `?location=${location}`}`;
  // The names of datasets are case-sensitive.
  return { project, dataset, location, shown, place: `bigquery://${project}/${dataset}` };
}

function readLocation(parameters: URLSearchParams): string | undefined {
  for (const name of parameters.keys()) {
    if (PARAMETERS.includes(name)) continue;
    const meant = nearestName(
      name,
      PARAMETERS.map((one) => ({ name: one, aliases: ['region'] })),
    );
    const hint = meant === undefined ? 'it takes ?location= alone' : `did you mean ${meant}`;
    throw wrong(`has an unknown parameter "${/^[\w-]{1,40}/.exec(name)?.[0] ?? ''}": ${hint}`);
  }
  const given = parameters.getAll('location');
  if (given.length > 1) throw wrong('has ?location= more than once');
  const location = given[0]?.trim();
  if (location === undefined) return undefined;
  if (!LOCATION.test(location)) {
    throw wrong('has a ?location= that is none: EU, US, or a region such as europe-west3');
  }
  // Google writes the two multi-regions in capitals, and regions in small letters.
  return location.length === 2 ? location.toUpperCase() : location.toLowerCase();
}

const wrong = (what: string): TargetUrlError => new TargetUrlError(what, BIGQUERY_FORM);
