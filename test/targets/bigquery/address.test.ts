import { describe, expect, it } from 'vitest';
import { parseBigQueryUrl } from '../../../src/targets/sql/bigquery/bigquery-address.ts';

const problemOf = (url: string): string => {
  try {
    parseBigQueryUrl(url);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('the address of a BigQuery dataset', () => {
  it('names project, dataset and location', () => {
    expect(parseBigQueryUrl(' bigquery://my-project-1/forms_copy?location=eu ')).toEqual({
      project: 'my-project-1',
      dataset: 'forms_copy',
      location: 'EU',
      shown: 'bigquery://my-project-1/forms_copy?location=EU',
      place: 'bigquery://my-project-1/forms_copy',
    });
  });

  it.each([
    ['bigquery://my-project/Forms', { dataset: 'Forms', location: undefined }],
    ['bigquery://my-project/forms/', { dataset: 'forms' }],
    ['BIGQUERY://my-project/forms?location=Europe-West3', { location: 'europe-west3' }],
    ['bigquery://my-project/forms?location=us-east5', { location: 'us-east5' }],
    [
      'bigquery://my-project/forms?location=northamerica-northeast1',
      { location: 'northamerica-northeast1' },
    ],
    ['bigquery://example.com:my-project/forms', { project: 'example.com:my-project' }],
  ])('may be %s', (url, parts) => {
    expect(parseBigQueryUrl(url)).toMatchObject(parts);
  });

  it('is one place wherever it is said to be, and another one in other letters', () => {
    const place = (url: string): string => parseBigQueryUrl(url).place;
    expect(place('bigquery://my-project/forms?location=EU')).toBe(
      place('bigquery://my-project/forms'),
    );
    expect(place('bigquery://my-project/Forms')).not.toBe(place('bigquery://my-project/forms'));
  });

  it.each([
    ['bigquery://', /names no project\b/],
    ['bigquery:my-project', /names no project\b/],
    ['bigquery://my-project', /names no dataset/],
    ['bigquery://my-project/', /names no dataset/],
    ['bigquery://My Project/forms', /no project by its ID/],
    ['bigquery://mp/forms', /no project by its ID/],
    ['bigquery://my-project/forms/table', /no table after it/],
    ['bigquery://my-project/my-forms', /letters, digits and underscores/],
    [
      'bigquery://my-project/forms?locaton=EU',
      /unknown parameter "locaton": did you mean location/,
    ],
    ['bigquery://my-project/forms?region=EU', /unknown parameter "region": did you mean location/],
    [
      'bigquery://my-project/forms?schema=x',
      /unknown parameter "schema": it takes \?location= alone/,
    ],
    ['bigquery://my-project/forms?location=', /is none/],
    ['bigquery://my-project/forms?location=Frankfurt am Main', /is none/],
    ['bigquery://my-project/forms?location=EU&location=US', /more than once/],
  ])('is refused as %s, with how to write it', (url, problem) => {
    expect(problemOf(url)).toMatch(problem);
    expect(problemOf(url)).toContain('bigquery://<project>/<dataset>?location=EU');
  });

  it('L15: takes no password, and quotes none', () => {
    const problem = problemOf('bigquery://user:hunter2@my-project/forms');
    expect(problem).toMatch(/GOOGLE_APPLICATION_CREDENTIALS/);
    expect(problem).not.toContain('hunter2');
    expect(problemOf('bigquery://my-project/forms?hunter2 hunter2=x')).not.toContain('hunter2 ');
  });
});
