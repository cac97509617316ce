import { dirname } from 'node:path';
import { onTestFinished } from 'vitest';
import { App } from '../../src/app.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { Environment } from '../../src/settings/settings-reader.ts';
import { expectEnd, runIn } from './cli-host.ts';
import { openPlace } from './cli-sandbox.ts';
import { load } from './settings.ts';

/** The form of the sample workspace that is mirrored. */
export const SLUG = 'customer-feedback';

/**
 * One form, mirrored whole, whose newest submission has these answers to its first fields. `fields`: the IDs of all its fields.
 */
export async function openMirrored(answers: readonly string[], submissions = 40) {
  const place = await openPlace({ submissions });
  const { store } = place.sandbox;
  const { id: formId = '', sections = [] } = store.formBySlug(SLUG) ?? {};
  const fields = sections.flat().map((field) => field.id);
  const data = Object.fromEntries(answers.map((answer, at) => [fields[at] ?? '', answer]));
  const { id } = store.insert({ formId, data });
  const env = { ...place.env, TARGET_FORMS: SLUG };
  const run = runIn(env);
  await expectEnd(run('sync --full'), 0);
  return { place, env, run, id, formId, fields, folder: dirname(place.file) };
}

/** The parts of a process with these settings, for one test. */
export function openParts(env: Environment, clock: Clock = systemClock): App {
  const app = new App(load(env), { clock, logger: silentLogger });
  onTestFinished(() => app[Symbol.asyncDispose]());
  return app;
}
