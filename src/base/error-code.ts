/** Error codes of Node, drivers and servers are constants: they may be shown where a foreign message may not (L11, L15). */
const CODE = /^[A-Z0-9_]{2,60}$/;

/** More causes than any library chains. There is a limit because an error may be its own cause. */
const MAX_DEPTH = 5;

/**
 * The code of a foreign error (`ECONNREFUSED`, `28P01`, `ERR_TLS_CERT_ALTNAME_INVALID`): its own, or that of the first
 * error behind it (one of several addresses tried, a cause). Undefined when none has a textual code.
 */
export function errorCode(error: unknown): string | undefined {
  return codeOf(error, MAX_DEPTH);
}

function codeOf(error: unknown, depth: number): string | undefined {
  if (!(error instanceof Error) || depth === 0) return undefined;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && CODE.test(code)) return code;
  const behind: unknown[] = error instanceof AggregateError ? error.errors : [];
  for (const next of [...behind, error.cause]) {
    const found = codeOf(next, depth - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
