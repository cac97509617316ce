import type { TriedDataset } from './bigquery-points.ts';
import { type Point, see } from './points.ts';

/** Rights, and what Google keeps. */
export function rightPoints({ jobs, calls, prefix }: TriedDataset): Point[] {
  return [
    {
      says: 'BigQuery tells which rights the account has at a table.',
      look: async () => {
        const asked = ['bigquery.tables.getData', 'bigquery.tables.updateData'];
        const granted = await jobs.permissionsOf(`${prefix}rows`, asked);
        see(granted.length === asked.length, `It names ${granted.join(', ') || 'none'}.`);
        return undefined;
      },
    },
    {
      says: 'A dry run of CREATE TABLE tells whether it would be allowed, and makes nothing.',
      look: async () => {
        await jobs.dryRun(`CREATE TABLE \`${prefix}dry\` (id STRING)`);
        see((await jobs.table(`${prefix}dry`)) === undefined, 'The table is there.');
        return undefined;
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
        const isShown = JSON.stringify(job.configuration ?? {}).includes('forms-mirror-seen');
        return isShown
          ? 'It shows them: docs/bigquery.md says what that means for erasure.'
          : 'It does not.';
      },
    },
    {
      says: 'How long former states of tables stay readable (time travel) is known.',
      look: async () => {
        const hours = (await jobs.heldDataset())?.maxTimeTravelHours ?? '168';
        return `${hours} hours, and seven days more for Google's support (fail-safe).`;
      },
    },
  ];
}
