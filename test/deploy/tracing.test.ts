import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const MODULE = pathToFileURL(resolve(import.meta.dirname, '../../deploy/otel/tracing.mjs')).href;

interface Traced {
  readonly ignored: boolean;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The contents of spans for these requests: the module itself, with stand-ins for the packages it patches. */
function traced(requests: readonly object[]): Traced[] {
  const script = `
    import { registerHooks } from 'node:module';
    const stand = {
      '@opentelemetry/instrumentation-undici': 'export class UndiciInstrumentation { constructor(o) { globalThis.hooks = o } }',
      '@opentelemetry/sdk-node': 'export class NodeSDK { start() {} async shutdown() {} }',
      'bullmq-otel': 'export class BullMQOtel {}',
    };
    registerHooks({ resolve: (name, context, next) => name in stand
      ? { url: 'data:text/javascript,' + encodeURIComponent(stand[name]), shortCircuit: true }
      : next(name, context) });
    await import(${JSON.stringify(MODULE)});
    const { ignoreRequestHook, requestHook } = globalThis.hooks;
    const told = ${JSON.stringify(requests)}.map((request) => {
      const attributes = {};
      requestHook({ setAttributes: (some) => Object.assign(attributes, some) }, request);
      return { ignored: ignoreRequestHook(request), attributes };
    });
    console.log(JSON.stringify(told));`;
  const args = ['--input-type=module', '--eval', script];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Traced[];
}

describe('traces by OpenTelemetry', () => {
  it('L11: hold no query, and nothing of an address that is a secret itself', () => {
    const source = { origin: 'https://forms.example.com', path: '/v1/submissions?search=Jan' };
    const agent = ['user-agent', 'forms-mirror'];
    const requests = [
      { ...source, headers: [...agent, 'authorization', 'Bearer fk_0123456789'] },
      { ...source, headers: [...agent, 'X-API-Key', 'fk_0123456789'] },
      { ...source, headers: 'x-api-key: fk_0123456789\r\n' },
      { origin: 'https://hooks.slack.com', path: '/services/T0/B0/secret', headers: agent },
      { origin: 'https://hc-ping.com', path: '/secret', headers: [] },
    ];
    const told = traced(requests);
    expect(told.map(({ ignored }) => ignored)).toEqual([false, false, false, true, true]);
    expect(told[0]?.attributes).toEqual({
      'url.full': 'https://forms.example.com/v1/submissions',
      'url.query': '',
    });
  });
});
