import { MirrorError } from '../base/errors.ts';

/** Why the status page cannot listen at `host` and `port`, with what to set instead. Code SETTINGS. */
export function listenError(host: string, port: number, error: unknown): MirrorError {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  const message = `The status page cannot listen: ${reasonOf(code, host, port)}`;
  return new MirrorError('SETTINGS', message, { cause: error });
}

function reasonOf(code: string | undefined, host: string, port: number): string {
  const place = `PORT ${port} of HOST ${host}`;
  if (code === 'EADDRINUSE') {
    const other = port < 65_535 ? port + 1 : 8_080;
    return `${place} is taken by another program, maybe another forms-mirror. Stop that one, or choose another port: PORT=${other}`;
  }
  if (code === 'EACCES') {
    return `${place} may not be opened by this user. Choose a port from 1024 on: PORT=8080`;
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `HOST ${host} is no address of this machine. Set HOST=127.0.0.1 for this machine alone, HOST=0.0.0.0 for all that can reach it`;
  }
  return `${place} does not open${code === undefined ? '' : ` (${code})`}. Set HOST and PORT to what is free, for example HOST=127.0.0.1 PORT=8081`;
}
