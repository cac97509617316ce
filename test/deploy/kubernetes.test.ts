import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/settings/config.ts';
import { scratchFolder } from '../support/scratch.ts';
import { disk } from '../support/settings.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'deploy/kubernetes');
const TSC_OPTIONS = [
  '--noEmit',
  '--strict',
  '--skipLibCheck',
  '--module',
  'nodenext',
  '--types',
  '',
];

interface Manifest {
  readonly file: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly body: never;
}

const manifests = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
  .flatMap((file) => parseAllDocuments(read(file)).map((document) => ({ file, document })))
  .map(({ file, document }): Manifest => {
    const body = document.toJS() as never;
    const { kind, apiVersion } = body as Pick<Manifest, 'kind' | 'apiVersion'>;
    return { file, kind, apiVersion, body };
  });

function read(file: string): string {
  return readFileSync(join(FOLDER, file), 'utf8');
}

const deployments = manifests
  .filter(({ kind }) => kind === 'Deployment')
  .map(({ body }) => body as IDeployment);

const containerOf = (name: string) =>
  deployments
    .find(({ metadata }) => metadata?.name === `forms-mirror-${name}`)
    ?.spec?.template.spec?.containers.at(0);

describe('the Kubernetes manifests', () => {
  const scratch = scratchFolder('kubernetes');
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  it('conform to their types, and name no property that does not exist', () => {
    symlinkSync(join(ROOT, 'node_modules'), join(scratch, 'node_modules'));
    const lines = manifests.map(({ kind, apiVersion, body }, index) => {
      const from = `import type { I${kind} as T${index} } from 'kubernetes-models/${apiVersion}';`;
      return `${from}\nexport const m${index}: T${index} = ${JSON.stringify(body)};`;
    });
    const file = join(scratch, 'manifests.mts');
    const check = (text: string): string => {
      writeFileSync(file, text);
      const tsc = join(ROOT, 'node_modules/.bin/tsc');
      try {
        return execFileSync(tsc, [...TSC_OPTIONS, file], { cwd: scratch, encoding: 'utf8' });
      } catch (error) {
        return (error as { stdout: string }).stdout;
      }
    };
    const text = lines.join('\n');
    expect(check(text)).toBe('');
    expect(check(text.replace('"livenessProbe"', '"livenesProbe"'))).toContain('livenesProbe');
  });

  it('are all listed in kustomization.yaml', () => {
    const { resources } = parse(read('kustomization.yaml')) as { resources: string[] };
    expect(resources.toSorted()).toEqual(
      [...new Set(manifests.map(({ file }) => file))].toSorted(),
    );
  });

  it.each(['start', 'worker'])('probe only what a restart or a wait can correct, in %s', (name) => {
    const container = containerOf(name);
    const path = (probe: 'startupProbe' | 'livenessProbe' | 'readinessProbe') =>
      container?.[probe]?.httpGet?.path;
    // A queue or source that does not answer must not cause a restart.
    expect([path('startupProbe'), path('livenessProbe'), path('readinessProbe')]).toEqual([
      '/live',
      '/live',
      '/ready',
    ]);
  });

  it.each(deployments)('restrict what runs: $metadata.name', ({ spec }) => {
    const pod = spec?.template.spec;
    expect(pod?.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(pod?.automountServiceAccountToken).toBe(false);
    // Variables that Kubernetes derives from Services would be taken for misspelled settings.
    expect(pod?.enableServiceLinks).toBe(false);
    expect(pod?.containers[0]?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod?.containers[0]?.resources?.limits?.['memory']).toBeDefined();
  });

  it('set the variables that the program reads, secrets only as files of the secret', () => {
    const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.body as unknown as {
      data: Record<string, string>;
    };
    const files: Record<string, string> = {
      forms_api_key: 'fk_0123456789',
      target_url: 'sqlite:/data/x.sqlite',
      queue_url: 'rediss://:kZ4vQ1mW@redis.example.com',
      admin_password: 'open sesame, please',
    };
    const paths = Object.entries(files).map(([name, text]) => [
      `/run/secrets/forms-mirror/${name}`,
      text,
    ]);
    const readFile = disk(Object.fromEntries(paths) as Record<string, string>);
    for (const [name, needs] of [
      ['start', { source: true, serves: 'PORT' }],
      ['worker', { source: true, serves: 'WORKER_PORT' }],
    ] as const) {
      const own = containerOf(name)?.env?.map(({ name: key, value }) => [key, value]) ?? [];
      const env = { ...settings.data, ...Object.fromEntries(own) };
      const config = loadConfig(env, readFile, needs);
      const { queueUrl, dataDir } = config;
      const port = name === 'start' ? config.port : config.workerPort;
      expect(containerOf(name)?.ports?.map(({ containerPort }) => containerPort)).toEqual([port]);
      expect(config.adminPassword).toBe(files['admin_password']);
      // The root of a volume belongs to root and is open to its group: answers must not be there.
      const mounts = containerOf(name)?.volumeMounts?.map(({ mountPath }) => mountPath) ?? [];
      expect(mounts).not.toContain(dataDir);
      expect(mounts.filter((path) => dataDir.startsWith(`${path}/`))).toEqual(['/data']);
      expect(queueUrl?.hostname).toBe('redis.example.com');
    }
  });
});
