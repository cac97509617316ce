import { MirrorError } from '../../base/errors.ts';

/** The code of a driver's error (`ECONNREFUSED`, `28P01`), or an empty string. Messages may quote passwords; codes don't. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : '';
}

/** `server` (its name and address, no password) does not answer, or shows a certificate that nobody here trusts. */
export function unreachable(server: string, error: unknown): MirrorError {
  const code = codeOf(error);
  if (/CERT|SELF_SIGNED/.test(code)) {
    return new MirrorError(
      'QUEUE_UNREACHABLE',
      `${server} shows a certificate that is not trusted here (${code}): name its authority's file in NODE_EXTRA_CA_CERTS, or correct the host in QUEUE_URL.`,
      { cause: error, retryable: false },
    );
  }
  return new MirrorError(
    'QUEUE_UNREACHABLE',
    `${server} does not answer${code === '' ? '' : ` (${code})`}: is it running, and is QUEUE_URL right?`,
    { cause: error },
  );
}
