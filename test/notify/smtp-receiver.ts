import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

const TLS = join(import.meta.dirname, '../fixtures/tls');

/** A received mail. */
export interface ReceivedMail {
  readonly to: readonly string[];
  /** Whether it was sent over TLS. */
  readonly secure: boolean;
  /** The user who signed in; undefined: nobody. */
  readonly user: string | undefined;
  /** The headers by their names in lower case, unfolded. */
  readonly heads: ReadonlyMap<string, string>;
  /** The text, decoded. */
  readonly text: string;
}

/** A mail server on this machine, at all of its loopback addresses; its certificate names only 127.0.0.1 and localhost. */
export interface SmtpReceiver extends AsyncDisposable {
  readonly port: number;
  readonly mails: ReceivedMail[];
}

/** The password that it accepts. */
export const SMTP_PASSWORD = 'T0P-S3CRET@smtp';

/** Starts a server with the user `mirror@example.com`; `options` are those of smtp-server. */
export async function startSmtp(options: SMTPServerOptions = {}): Promise<SmtpReceiver> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    key: readFileSync(join(TLS, 'key.pem')),
    cert: readFileSync(join(TLS, 'certificate.pem')),
    authOptional: true,
    logger: false,
    closeTimeout: 100,
    onAuth({ username, password }, _session, done) {
      const isRight = username === 'mirror@example.com' && password === SMTP_PASSWORD;
      done(
        isRight ? null : new Error('Invalid user or password'),
        isRight ? { user: username } : undefined,
      );
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString('utf8');
        mails.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          secure: session.secure,
          user: typeof session.user === 'string' ? session.user : undefined,
          ...partsOf(raw),
        });
        done();
      });
    },
    ...options,
  });
  // Errors of a client that does not trust the certificate, or disconnects, are ignored.
  server.on('error', () => undefined);
  await new Promise<void>((done) => server.listen(0, '0.0.0.0', done));
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    mails,
    [Symbol.asyncDispose]: () => new Promise((done) => server.close(() => done())),
  };
}

function partsOf(raw: string): Pick<ReceivedMail, 'heads' | 'text'> {
  const [head = '', ...body] = raw.split('\r\n\r\n');
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  const heads = new Map(
    lines.map((line): [string, string] => {
      const at = line.indexOf(':');
      return [line.slice(0, at).toLowerCase(), wordsOf(line.slice(at + 1).trim())];
    }),
  );
  const encoding = heads.get('content-transfer-encoding');
  return { heads, text: decoded(body.join('\r\n\r\n'), encoding).replaceAll('\r\n', '\n') };
}

/** RFC 2047: `=?UTF-8?Q?…?=` and `=?UTF-8?B?…?=`, without the blanks between two of them. */
const wordsOf = (text: string): string =>
  text
    .replaceAll(/(\?=) +(?==\?)/g, '$1')
    .replaceAll(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_all, kind: string, content: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(content, 'base64').toString('utf8')
        : quotedPrintable(content.replaceAll('_', ' ')),
    );

function decoded(body: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  return encoding === 'quoted-printable' ? quotedPrintable(body.replaceAll(/=\r\n/g, '')) : body;
}

const quotedPrintable = (text: string): string =>
  Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    ),
    'latin1',
  ).toString('utf8');
