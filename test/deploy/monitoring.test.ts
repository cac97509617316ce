import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { registeredMetrics } from '../support/registered-metrics.ts';
import { scratchFolder } from '../support/scratch.ts';
import { promtoolMissing } from '../support/servers.ts';

const DEPLOY = resolve(import.meta.dirname, '../../deploy');
const TESTS = ['prometheus/alerts.test.yaml', 'prometheus/alerts.days.test.yaml'];
const read = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8');

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
}

const dashboard = JSON.parse(read('grafana/forms-mirror.json')) as Dashboard;
const rules = (parse(read('prometheus/alerts.yaml')) as Rules).groups.flatMap(
  (group) => group.rules,
);
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** As promtool reads them, without the variables that Grafana replaces. */
const filledIn = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '5m').replaceAll('$target', '.*');

/** The labels of every metric that start and workers have, by name. */
function registered(): Map<string, ReadonlySet<string>> {
  return new Map(
    registeredMetrics().flatMap(({ name, type, labels }) => {
      const all = new Set([...labels, 'job', 'instance']);
      if (type !== 'histogram') return [[name, all] as const];
      all.add('le');
      return ['_bucket', '_sum', '_count'].map((part) => [`${name}${part}`, all] as const);
    }),
  );
}

/** Every metric in an expression, with the labels that the expression uses. */
const metricsIn = (expr: string): [name: string, labels: string[]][] =>
  [...expr.matchAll(/\b((?:forms_mirror|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', labels = '']) => [
      name,
      [...labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map((match) => match[1] ?? ''),
    ],
  );

describe('dashboard and alert rules', () => {
  const known = registered();
  const scratch = scratchFolder('promtool');
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  it('use only existing metrics and labels', () => {
    const definitions = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
    const used = [...expressions, ...rules.map(({ expr }) => expr), ...definitions].flatMap(
      metricsIn,
    );
    expect(used.length).toBeGreaterThan(40);
    expect(used.filter(([name]) => !known.has(name))).toEqual([]);
    const odd = used.filter(([name, labels]) =>
      labels.some((label) => !known.get(name)?.has(label)),
    );
    expect(odd).toEqual([]);
    expect(metricsIn('forms_mirror_no_such{x="1"}')).toEqual([['forms_mirror_no_such', ['x']]]);
  });

  const promtool = (...args: string[]): string =>
    execFileSync(process.env['TEST_PROMTOOL'] ?? 'promtool', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  it.skipIf(promtoolMissing())(
    'alert when they should, and only then, according to Prometheus',
    () => {
      const told = promtool('test', 'rules', ...TESTS.map((name) => join(DEPLOY, name)));
      expect(told.match(/SUCCESS/g)?.length).toBe(TESTS.length);
    },
  );

  it.skipIf(promtoolMissing())('show expressions that Prometheus can evaluate', () => {
    const file = join(scratch, 'dashboard.yaml');
    const recorded = expressions.map((expr, index) => ({
      record: `x:${index}`,
      expr: filledIn(expr),
    }));
    writeFileSync(file, stringify({ groups: [{ name: 'x', rules: recorded }] }));
    expect(promtool('check', 'rules', file)).toContain(
      `SUCCESS: ${expressions.length} rules found`,
    );
  });
});
