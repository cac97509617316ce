import { join } from 'node:path';
import type * as AppModule from '../../../src/app.ts';
import type * as ClockModule from '../../../src/base/clock.ts';
import type * as LoggerModule from '../../../src/base/logger.ts';
import type * as ConfigModule from '../../../src/settings/config.ts';
import type * as HttpModule from '../../../src/forms/http.ts';
import type * as SourceModule from '../../../src/forms/source.ts';
import type { Page } from '../../../src/forms/source.ts';
import type * as RowModule from '../../../src/mirror/row.ts';
import type * as SelectionModule from '../../../src/mirror/selection.ts';
import type * as TargetsModule from '../../../src/targets/target-kinds.ts';
import type { Store } from '../../../src/mirror/port.ts';
import type { Form, SelectedField, Row } from '../../../src/mirror/types.ts';
import { FORM_ID } from '../source/canned-source.ts';
import type { StageCall } from './stage.ts';

/** A page of the source contains this many. */
export const PAGE_ROWS = 100;

/** The parts of a checkout of the program, this one or another, which must have the same structure. */
export class Program {
  readonly #call: StageCall;

  constructor(call: StageCall) {
    this.#call = call;
  }

  /** A reader of the source, with this many concurrent requests. */
  async reader(): Promise<FormReader> {
    const { env, inFlight } = this.#call;
    const { FORMS_API_URL: baseUrl, FORMS_API_KEY: apiKey } = env;
    const { FormsHttp } = await this.#load<typeof HttpModule>('forms/http.ts');
    const { Source } = await this.#load<typeof SourceModule>('forms/source.ts');
    const http = new FormsHttp({ baseUrl, apiKey, auth: 'bearer', concurrency: inFlight });
    const source = new Source(http, new AbortController().signal);
    return {
      form: () => source.form(FORM_ID),
      page: (page) => source.page({ formId: FORM_ID }, page),
      [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
    };
  }

  async store(): Promise<Store> {
    const { parseTargetUrl } = await this.#load<typeof TargetsModule>('targets/target-kinds.ts');
    return parseTargetUrl(this.#call.targetUrl).open('bench');
  }

  /** The rows of the first pages, joined, with the fields of the join. */
  async rows(many: number): Promise<{ rows: Row[]; fields: readonly SelectedField[] }> {
    const { Join } = await this.#load<typeof RowModule>('mirror/row.ts');
    const { parseSelection } = await this.#load<typeof SelectionModule>('mirror/selection.ts');
    await using reader = await this.reader();
    const form = await reader.form();
    const join = new Join({ selection: parseSelection(['*']), hashKey: undefined }, form, []);
    const rows: Row[] = [];
    await eachPage(many, 1, async (page) => {
      const { items } = await reader.page(page);
      for (const item of items)
        rows.push(...[join.item(item, 0).row].filter((row) => row !== null));
    });
    return { rows, fields: join.fields };
  }

  /** Full runs, one after another, over forms of the source. Throws if one is not proven. */
  async runs(): Promise<Runs> {
    const { App } = await this.#load<typeof AppModule>('app.ts');
    const { loadConfig } = await this.#load<typeof ConfigModule>('settings/config.ts');
    const { systemClock } = await this.#load<typeof ClockModule>('base/clock.ts');
    const { createLogger } = await this.#load<typeof LoggerModule>('base/logger.ts');
    const { env, targetUrl, inFlight, folder } = this.#call;
    const settings = {
      ...env,
      TARGET_URL: targetUrl,
      TARGET_FIELDS: '*',
      FORMS_API_CONCURRENCY: String(inFlight),
      DATA_DIR: folder,
    };
    const config = loadConfig(settings, noFile, { source: true });
    const app = new App(config, {
      clock: systemClock,
      logger: createLogger('warn', process.stderr),
    });
    // As a scheduled run finds it: the poll before it listed the forms.
    await app.plan(new AbortController().signal);
    return {
      async run(formId) {
        const place = { formId, target: 'default' };
        const report = await app.run(place, { isFull: true }, new AbortController().signal);
        if (report.outcome !== 'ok') {
          throw new Error(`the run ended ${report.outcome}: ${report.error}`);
        }
      },
      [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
    };
  }

  async #load<T>(path: string): Promise<T> {
    return (await import(join(this.#call.checkout, 'src', path))) as T;
  }
}

/** Reads the measured form. */
export interface FormReader extends AsyncDisposable {
  form(): Promise<Form>;
  page(page: number): Promise<Pick<Page, 'items'>>;
}

/** Runs in one process. */
export interface Runs extends AsyncDisposable {
  run(formId: string): Promise<void>;
}

function noFile(path: string): never {
  throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
}

/** Requests pages from 1 on, several at once, until at least this many rows must have come. */
export async function eachPage(
  rows: number,
  inFlight: number,
  read: (page: number) => Promise<void>,
): Promise<void> {
  const pages = Math.ceil(rows / PAGE_ROWS);
  let next = 1;
  const reader = async (): Promise<void> => {
    while (next <= pages) await read(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, reader));
}
