import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Child, type ChildEnd, type ChildEnv } from '../child.ts';
import { MirrorView } from '../mirror-view.ts';
import type { LargeSubmission, WorkspaceSize } from './large-workspace.ts';
import { LargeSource, type LoggedRequest } from './large-source.ts';

/** The checkout whose program is measured: this one, or another for a comparison. */
const CHECKOUT = process.env['BENCH_CHECKOUT'] ?? join(import.meta.dirname, '../../..');

/** A run of `sync --json`, as far as figures need it. */
export interface RunFigures {
  readonly form: string;
  readonly target: string;
  readonly outcome: string;
  readonly requests: number;
  readonly error: string | null;
}

/** The requests and the output of a command. */
export interface Asked extends ChildEnd {
  readonly log: readonly LoggedRequest[];
  readonly runs: readonly RunFigures[];
  readonly stderr: string;
  readonly ms: number;
}

/** A large source, and processes of the program that mirror it. */
export class CostPlace implements AsyncDisposable {
  readonly source: LargeSource;
  readonly folder = mkdtempSync(join(tmpdir(), 'forms-mirror-costs-'));
  /** Processes that were started, dead or alive. */
  readonly children: Child[] = [];
  /** The settings that every process gets. */
  env: ChildEnv;

  private constructor(source: LargeSource) {
    this.source = source;
    this.env = {
      ...source.env,
      TARGET_FIELDS: '*',
      TARGET_URL: this.targetUrl,
      DATA_DIR: this.folder,
      PORT: '0',
    };
  }

  static async open(size: WorkspaceSize, env: ChildEnv = {}): Promise<CostPlace> {
    const place = new CostPlace(await LargeSource.start(size));
    place.env = { ...place.env, ...env };
    return place;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.children.map((child) => child.end('SIGKILL')));
    await this.source[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The SQLite file that is the target unless the settings name others. */
  get targetUrl(): string {
    return this.fileUrl('copy');
  }

  fileUrl(name: string): string {
    return `sqlite:${join(this.folder, `${name}.sqlite`)}`;
  }

  start(args: readonly string[], env: ChildEnv = {}): Child {
    const program = resolve(CHECKOUT, 'bin/forms-mirror.js');
    const child = new Child(program, args, { ...this.env, ...env }, this.folder);
    this.children.push(child);
    return child;
  }

  /** Runs `sync` to its end; earlier requests are not counted. */
  async sync(args: readonly string[] = [], env: ChildEnv = {}): Promise<Asked> {
    await this.source.takeLog();
    const began = performance.now();
    const child = this.start(['sync', '--json', ...args], env);
    const end = await child.ended;
    const ms = Math.round(performance.now() - began);
    const document = child.stdout === '' ? { runs: [] } : JSON.parse(child.stdout);
    const { runs } = document as { runs: RunFigures[] };
    return { ...end, log: await this.source.takeLog(), runs, stderr: child.stderr, ms };
  }

  /** A first copy of everything. Throws when it fails. */
  async copyAll(): Promise<Asked> {
    const asked = await this.sync();
    if (asked.code !== 0) throw new Error(`the first copy failed: ${failureOf(asked)}`);
    return asked;
  }

  /** Some submissions of a form, far apart in age, the same ones each time. */
  async oldOnes(formId: string, many: number, offset = 0): Promise<LargeSubmission[]> {
    const total = await this.source.count({ formId });
    const ids: string[] = [];
    for (let nth = 0; nth < many; nth++) {
      const share = ((nth + 1 + offset) * 0.618_033_988_7) % 1;
      const skip = Math.min(total - 1, 200 + Math.floor(share * (total - 200)));
      ids.push(...(await this.source.ids({ formId }, skip, 1)));
    }
    const found = await this.source.get(ids);
    return found.filter((submission) => submission !== null);
  }

  /** The status of some rows in a target: `null` where there is none, `deleted` where it is marked so. */
  async held(formId: string, ids: readonly string[], url = this.targetUrl): Promise<string[]> {
    const view = new MirrorView(url);
    const table = await view.tableOf(formId);
    const list = ids.map((id) => `'${id}'`).join(',');
    const rows = await view.ask(
      `SELECT id, status, _deleted_at FROM "${table}" WHERE id IN (${list})`,
    );
    const byId = new Map(rows.map((row) => [row['id'], row]));
    return ids.map((id) => {
      const row = byId.get(id);
      if (row === undefined) return 'null';
      return row['_deleted_at'] === null ? String(row['status']) : 'deleted';
    });
  }

  /** How many rows of a target differ from the source, by presence and status, as counted without any code of the program. */
  async differences(url = this.targetUrl): Promise<number> {
    const view = new MirrorView(url);
    let differences = 0;
    for (const formId of this.source.formIds) {
      const table = await view.tableOf(formId);
      const rows = await view.ask(`SELECT id, status FROM "${table}" WHERE _deleted_at IS NULL`);
      const held = new Map(rows.map((row) => [String(row['id']), String(row['status'])]));
      const there = await this.source.statuses(formId);
      for (const [id, status] of there) if (held.get(id) !== status) differences++;
      for (const id of held.keys()) if (!there.has(id)) differences++;
    }
    return differences;
  }
}

/** Why a command failed, for people. */
export function failureOf({ code, signal, runs, stderr }: Asked): string {
  const errors = runs.flatMap(({ error }) => (error === null ? [] : [error]));
  return `exit ${code ?? signal}; ${errors.slice(0, 3).join('; ')} ${stderr.slice(-1_000)}`;
}
