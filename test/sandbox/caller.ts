import type { TestSandbox } from '../support/sandbox.ts';

/** The parts of a body that tests read; which ones exist depends on the request. */
export interface Body {
  id: string;
  name: string;
  status: string;
  error: string;
  total: number;
  page: number;
  limit: number;
  totalPages: number;
  items: Body[];
  data: Record<string, unknown>;
  submission: Body;
  fields: { field: string; message: string }[];
  schema: { sections: { fields: { id: string; label: string }[] }[]; logic: unknown[] };
}

/** A response of the sandbox, read whole. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; an empty object if it is not JSON. */
  json: Body;
}

/** Calls a sandbox with its own key over real HTTP; `headers` replace the key if they contain one. */
export async function call(
  sandbox: Pick<TestSandbox, 'url' | 'apiKey'>,
  method: string,
  path: string,
  options: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { body, headers = {} } = options;
  const response = await fetch(sandbox.url + path, {
    method,
    headers: {
      ...((headers['authorization'] ?? headers['x-api-key'] ?? headers['anonymous'])
        ? {}
        : { authorization: `Bearer ${sandbox.apiKey}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

/** GET; returns the response's JSON. */
export async function get(sandbox: TestSandbox, path: string): Promise<Body> {
  const answer = await call(sandbox, 'GET', path);
  if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}`);
  return answer.json;
}

/** The IDs on one page of a list. */
export const idsOf = (page: { items: { id: string }[] }): string[] =>
  page.items.map((item) => item.id);

function parsed(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {} as Body;
  }
}
