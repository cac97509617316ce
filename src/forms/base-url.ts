import { MirrorError } from '../base/errors.ts';
import { isLoopback } from '../base/transport.ts';

/** The parts of FORMS_API_URL. */
export interface BaseUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Host and port, for messages. */
  readonly host: string;
  /** The path with its version prefix, without a slash at its end; empty when there is none. */
  readonly path: string;
}

const EXAMPLE = 'Example: FORMS_API_URL=https://forms.example.com/api/v1';

/**
 * Reads FORMS_API_URL: https, or http to a loopback host (the key would travel readable otherwise); no credentials, no
 * query, no fragment. Throws SETTINGS with an example; the message never repeats the value, which may hold a password.
 */
export function parseBaseUrl(text: string): BaseUrl {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw wrong('must be a whole address that begins with https:// (http:// only for localhost)');
  }
  if (url.username !== '' || url.password !== '') {
    throw wrong('must not hold a user name or password; the key belongs in FORMS_API_KEY');
  }
  // Not url.search and url.hash, which are empty for a bare `?` or `#`.
  if (/[?#]/.test(text)) throw wrong('must end with the path: no "?" and no "#"');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw wrong(
      `must begin with https://: over http:// the key would travel readable to ${url.host}`,
    );
  }
  return { origin: url.origin, host: url.host, path: url.pathname.replace(/\/+$/, '') };
}

const wrong = (problem: string): MirrorError =>
  new MirrorError('SETTINGS', `FORMS_API_URL ${problem}. ${EXAMPLE}`);
