import { z } from 'zod';
import type { SettingsReader } from './settings-reader.ts';
import { apiAddress, oneOf, wholeNumber } from './value-schemas.ts';

/** The two ways of sending the key. */
export type FormsAuth = 'bearer' | 'x-api-key';

/** How to reach the Forms API. */
export interface SourceSettings {
  /** With its version prefix, without a slash at its end. */
  readonly url: string;
  readonly key: string;
  readonly auth: FormsAuth;
  /** Requests in flight at once. */
  readonly concurrency: number;
}

/** What an HTTP header can carry (RFC 9110, 5.5), white space aside. */
const headerToken = z
  .string()
  .regex(
    /^[\u0021-\u007e]+$/,
    'holds spaces or characters no key has: copy it again, whole and alone',
  );

/** The source; undefined when it is not set up or wrong. Complains about what is missing when `required`. */
export function readSource(reader: SettingsReader, required: boolean): SourceSettings | undefined {
  const url = required
    ? reader.readRequired(
        'FORMS_API_URL',
        apiAddress,
        'the base address of the Forms API, with its version prefix',
      )
    : reader.read('FORMS_API_URL', apiAddress);
  const key = required
    ? reader.readRequired(
        'FORMS_API_KEY',
        headerToken,
        'the dashboard makes one under Settings, API keys',
      )
    : reader.read('FORMS_API_KEY', headerToken);
  const auth = reader.readWithDefault('FORMS_API_AUTH', oneOf(['bearer', 'x-api-key']));
  const concurrency = reader.readWithDefault('FORMS_API_CONCURRENCY', wholeNumber(1, 32));
  return url === undefined || key === undefined ? undefined : { url, key, auth, concurrency };
}
