import { MirrorError } from '../base/errors.ts';

/** The parts of FORMS_API_URL, which the settings have checked. */
export interface BaseUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Host and port, for messages. */
  readonly host: string;
  /** The path with its version prefix, without a slash at its end; empty if there is none. */
  readonly path: string;
}

/** A request to an endpoint, with what retries and error messages need to know about it. */
export interface FormsRequest {
  /** Either may be sent twice without harm. */
  readonly method: 'GET' | 'PATCH';
  /** Path and query, encoded, below the base address. */
  readonly path: string;
  /** For messages: method, path and query. */
  readonly name: string;
  /** JSON text. */
  readonly body?: string;
}

/** A response. */
export interface HttpResponse {
  readonly status: number;
  /** A header's first value, by lower-case name. */
  header(name: string): string | undefined;
  /** The body if a GET succeeded; otherwise it is not read, and is empty. */
  readonly body: Buffer;
}

/** A GET of `path`, which is already encoded. Undefined values of the query are left out. */
export function getRequest(
  path: string,
  query: Readonly<Record<string, string | number | undefined>> = {},
): FormsRequest {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) given.set(name, String(value));
  const withQuery = given.size === 0 ? path : `${path}?${given.toString()}`;
  return { method: 'GET', path: withQuery, name: `GET ${withQuery}` };
}

/**
 * An ID or slug as one segment of a path. Throws FORMS_REFUSED for one that no address can contain (empty, a dot segment, or broken
 * Unicode). Otherwise the request would address something else, and a 404 for it would prove a deletion that never happened.
 */
export function pathSegment(id: string): string {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) {
    throw new MirrorError(
      'FORMS_REFUSED',
      'The Forms API cannot be asked for an empty or broken ID.',
    );
  }
  return encodeURIComponent(id);
}
