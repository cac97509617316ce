import { ApiError, errorInfo } from './api-error.ts';

/** Requests a minute. A batch counts as one, whatever it holds. */
export interface QuotaLimits {
  readonly readsPerUser: number;
  readonly writesPerUser: number;
  readonly readsPerProject: number;
  readonly writesPerProject: number;
}

/** Google's published limits. */
export const GOOGLE_LIMITS: QuotaLimits = {
  readsPerUser: 60,
  writesPerUser: 60,
  readsPerProject: 300,
  writesPerProject: 300,
};

const MINUTE_MS = 60_000;

/** Counts requests by minute, as Google's quotas do ("refilled each minute"). Off until {@link enabled} is set. */
export class Quotas {
  enabled: boolean;
  limits: QuotaLimits;
  readonly #used = new Map<string, { minute: number; count: number }>();

  constructor(enabled: boolean, limits: QuotaLimits) {
    this.enabled = enabled;
    this.limits = limits;
  }

  /** Counts a request. Throws Google's 429, naming the quota that is used up. A refused request counts against nothing. */
  take(kind: 'read' | 'write', email: string, project: string, nowMs: number): void {
    if (!this.enabled) return;
    const reads = kind === 'read';
    const { limits } = this;
    const buckets = [
      {
        key: `${kind} ${project} ${email}`,
        limit: reads ? limits.readsPerUser : limits.writesPerUser,
        name: `${reads ? 'Read' : 'Write'}RequestsPerMinutePerUser`,
        unit: 'per minute per user',
      },
      {
        key: `${kind} ${project}`,
        limit: reads ? limits.readsPerProject : limits.writesPerProject,
        name: `${reads ? 'Read' : 'Write'}RequestsPerMinutePerProject`,
        unit: 'per minute',
      },
    ];
    const minute = Math.floor(nowMs / MINUTE_MS);
    for (const bucket of buckets) {
      if (this.#count(bucket.key, minute) >= bucket.limit) {
        throw exhausted(kind, bucket.name, bucket.unit, bucket.limit, project);
      }
    }
    for (const { key } of buckets) {
      this.#used.set(key, { minute, count: this.#count(key, minute) + 1 });
    }
  }

  #count(key: string, minute: number): number {
    const used = this.#used.get(key);
    return used?.minute === minute ? used.count : 0;
  }
}

function exhausted(
  kind: 'read' | 'write',
  name: string,
  unit: string,
  limit: number,
  project: string,
): ApiError {
  const title = kind === 'read' ? 'Read requests' : 'Write requests';
  return new ApiError(
    'RESOURCE_EXHAUSTED',
    `Quota exceeded for quota metric '${title}' and limit '${title} ${unit}' of service 'sheets.googleapis.com' for consumer 'project_number:${projectNumber(project)}'.`,
    [
      errorInfo('RATE_LIMIT_EXCEEDED', {
        consumer: `projects/${projectNumber(project)}`,
        quota_limit: name,
        quota_limit_value: String(limit),
        quota_location: 'global',
        quota_metric: `sheets.googleapis.com/${kind}_requests`,
        service: 'sheets.googleapis.com',
      }),
    ],
  );
}

/** A project's number: made up from its name, always the same. */
export function projectNumber(project: string): number {
  let number = 100_000_000_000;
  for (const char of project) number = (number * 31 + char.charCodeAt(0)) % 900_000_000_000;
  return number;
}
