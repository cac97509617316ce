import { join } from 'node:path';
import { Child, type ChildEnv } from '../child.ts';
import type { LargeSubmission, Narrowing, WorkspaceSize } from './large-workspace.ts';

const SCRIPT = join(import.meta.dirname, 'large-source-process.ts');

/** A request that the server got. */
export interface LoggedRequest {
  readonly atMs: number;
  /** Method, path without the prefix, and query. */
  readonly request: string;
  /** 0: not answered yet. */
  readonly status: number;
}

/** Orders to the server between requests. */
export type ControlCall =
  | { readonly do: 'takeLog' | 'untilHeld' | 'letGo' }
  | { readonly do: 'setLatency'; readonly latencyMs: number }
  | { readonly do: 'setStatus'; readonly ids: readonly string[]; readonly status: string }
  | { readonly do: 'remove' | 'get'; readonly ids: readonly string[] }
  | { readonly do: 'statuses'; readonly formId: string }
  | { readonly do: 'count'; readonly narrowing: Narrowing }
  | { readonly do: 'holdAfter'; readonly lists: number }
  | InsertCall
  | IdsCall;

interface InsertCall {
  readonly do: 'insert';
  readonly formId: string;
  readonly status: string;
  /** A submission each. */
  readonly atMs: readonly number[];
}

interface IdsCall {
  readonly do: 'ids';
  readonly narrowing: Narrowing;
  readonly skip: number;
  readonly most: number;
}

/** A Forms API that is not ours, over a large workspace, in a process of its own, with a log of its requests. */
export class LargeSource implements AsyncDisposable {
  readonly #child: Child;
  readonly #origin: string;
  readonly size: WorkspaceSize;
  /** The settings that lead to it. */
  readonly env: ChildEnv;

  private constructor(child: Child, size: WorkspaceSize, address: Record<string, string>) {
    this.#child = child;
    this.#origin = address['origin'] ?? '';
    this.size = size;
    this.env = { FORMS_API_URL: address['url'], FORMS_API_KEY: address['apiKey'] };
  }

  /** The IDs of its forms. */
  get formIds(): string[] {
    return Array.from({ length: this.size.forms }, (_, place) => `frm-${place + 1}`);
  }

  static async start(size: WorkspaceSize): Promise<LargeSource> {
    const child = new Child(SCRIPT, [JSON.stringify(size)]);
    const [line] = await child.shows(/^\{.*\}$/m);
    return new LargeSource(child, size, JSON.parse(line) as Record<string, string>);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.end('SIGKILL');
  }

  /** The requests since the last time, in order of arrival. */
  takeLog(): Promise<LoggedRequest[]> {
    return this.#control({ do: 'takeLog' });
  }

  async setLatency(latencyMs: number): Promise<void> {
    await this.#control({ do: 'setLatency', latencyMs });
  }

  async setStatus(ids: readonly string[], status: string): Promise<void> {
    await this.#control({ do: 'setStatus', ids, status });
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.#control({ do: 'remove', ids });
  }

  /** Submissions of these dates; returns their IDs. */
  insert(formId: string, atMs: readonly number[], status = 'NEW'): Promise<string[]> {
    return this.#control({ do: 'insert', formId, status, atMs });
  }

  /** IDs, newest first. */
  ids(narrowing: Narrowing, skip: number, most: number): Promise<string[]> {
    return this.#control({ do: 'ids', narrowing, skip, most });
  }

  /** Null in the place of what is not there. */
  get(ids: readonly string[]): Promise<(LargeSubmission | null)[]> {
    return this.#control({ do: 'get', ids });
  }

  count(narrowing: Narrowing = {}): Promise<number> {
    return this.#control({ do: 'count', narrowing });
  }

  /** The status of each submission of a form, by ID. */
  async statuses(formId: string): Promise<Map<string, string>> {
    return new Map(await this.#control<[string, string][]>({ do: 'statuses', formId }));
  }

  /** So many lists are answered; those after them wait for {@link letGo}. */
  async holdAfter(lists: number): Promise<void> {
    await this.#control({ do: 'holdAfter', lists });
  }

  /** Resolves when a request waits. */
  async untilHeld(): Promise<void> {
    await this.#control({ do: 'untilHeld' });
  }

  async letGo(): Promise<void> {
    await this.#control({ do: 'letGo' });
  }

  async #control<T>(call: ControlCall): Promise<T> {
    const response = await fetch(`${this.#origin}/control`, {
      method: 'POST',
      body: JSON.stringify(call),
    });
    if (!response.ok) throw new Error(`the server of the test answered ${response.status}`);
    return (await response.json()) as T;
  }
}
