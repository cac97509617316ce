/** What of a failed call can be trusted. Nothing of it but numbers and the checked words may be shown (L11). */
export interface CallFacts {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** Google's `error.status`. */
  readonly rpc: string;
  /** Google's message, or the error's own: to be searched, never to be shown. */
  readonly text: string;
  /** The first `details[].reason` or `errors[].reason`. */
  readonly reason: string;
  /** `quota_limit` of a 429. */
  readonly quota: string;
  /** The system's or library's error code; a word. */
  readonly code: string;
  /** OAuth's `error` from the token endpoint; a word. */
  readonly oauth: string;
  readonly retryAfter: string | undefined;
}

/** Reads them off whatever Google's client threw. */
export function factsOf(error: unknown): CallFacts {
  const outer = asRecord(error);
  const response = asRecord(outer['response']);
  const body = asRecord(parsed(response['data']));
  const inner = asRecord(body['error']);
  const details = listOf(inner['details']).map(asRecord);
  const reasons = [...details, ...listOf(inner['errors']).map(asRecord)].map((one) =>
    textOf(one['reason']),
  );
  const quotas = details.map((one) => textOf(asRecord(one['metadata'])['quota_limit']));
  const status = outer['status'] ?? response['status'];
  return {
    status: typeof status === 'number' ? status : 0,
    rpc: textOf(inner['status']),
    text: textOf(inner['message']) || textOf(outer['message']),
    reason: reasons.find((reason) => reason !== '') ?? '',
    quota: quotas.find((quota) => quota !== '') ?? '',
    code: systemCode(outer),
    oauth: /^[\w-]{1,60}$/.exec(textOf(body['error']))?.[0] ?? '',
    retryAfter: retryAfterOf(response['headers']),
  };
}

/** The first code along the chain of causes that looks like one. */
function systemCode(error: Record<string, unknown>): string {
  let link = error;
  for (let depth = 0; depth < 5; depth++) {
    for (const word of [textOf(link['code']), textOf(link['name'])]) {
      if (/^(E[A-Z_]{3,40}|[A-Z][A-Z0-9]*_[A-Z0-9_]{3,60}|TimeoutError)$/.test(word)) return word;
    }
    link = asRecord(link['cause'] ?? link['error']);
  }
  return '';
}

function retryAfterOf(headers: unknown): string | undefined {
  const { get } = asRecord(headers);
  const value: unknown =
    typeof get === 'function' ? get.call(headers, 'retry-after') : asRecord(headers)['retry-after'];
  return textOf(value) || undefined;
}

/** A body that came as text is read as JSON when it is some. */
function parsed(data: unknown): unknown {
  if (typeof data !== 'string') return data;
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
