import { type Point, see } from './points.ts';
import type { TriedDataset } from './tried-dataset.ts';

/** Rights, and what Google keeps. */
export function rightPoints({ jobs, calls, prefix }: TriedDataset): Point[] {
  return [
    {
      says: 'BigQuery tells which rights the account has at a table.',
      look: async () => {
        const asked = ['bigquery.tables.getData', 'bigquery.tables.updateData'];
        const granted = await jobs.permissionsOf(`${prefix}rows`, asked);
        see(
          asked.every((right) => granted.includes(right)),
          `It names ${granted.join(', ') || 'none'}.`,
        );
        return undefined;
      },
    },
    {
      says: 'A dry run of CREATE TABLE is taken from whom the statement would be, and makes nothing.',
      look: async () => {
        await jobs.dryRun(`CREATE TABLE \`${prefix}dry\` (id STRING)`);
        see((await jobs.table(`${prefix}dry`)) === undefined, 'The table is there.');
        return 'Whether it is refused to others was not looked at: that takes an account of fewer rights.';
      },
    },
    {
      says: 'Whether Google shows the parameters of a job to who ran it, for as long as it keeps jobs, is known.',
      look: async () => {
        const { project } = jobs;
        const location = (await jobs.heldDataset())?.location ?? undefined;
        const place = location === undefined ? {} : { location };
        const { jobReference } = await calls.repeated((client, options) =>
          client.jobs.query(
            {
              projectId: project,
              requestBody: {
                query: 'SELECT @word AS word',
                useLegacySql: false,
                parameterMode: 'NAMED',
                queryParameters: [
                  {
                    name: 'word',
                    parameterType: { type: 'STRING' },
                    parameterValue: { value: 'forms-mirror-seen' },
                  },
                ],
                ...place,
              },
            },
            options,
          ),
        );
        const jobId = jobReference?.jobId ?? '';
        const job = await calls.repeated((client, options) =>
          client.jobs.get({ projectId: project, jobId, ...place }, options),
        );
        const asked = job.configuration?.query?.query;
        see(asked !== undefined, 'The service shows nothing of what a job was asked.');
        const isShown = JSON.stringify(job.configuration ?? {}).includes('forms-mirror-seen');
        return isShown
          ? 'It shows them: docs/bigquery.md says what that means for erasure.'
          : 'It does not.';
      },
    },
    {
      says: 'How long former states of tables stay readable (time travel) is known.',
      look: async () => {
        const hours = (await jobs.heldDataset())?.maxTimeTravelHours ?? '';
        see(hours !== '', 'The service does not tell; its documentation says 168 hours.');
        return `${hours} hours; by the documentation, seven days more for Google's support (fail-safe).`;
      },
    },
  ];
}
