import type { SendMailOptions, Transporter } from 'nodemailer';
import { errorCode, safeText } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { printable } from '../base/printable.ts';
import type { Receiver } from './channel.ts';
import { type Message, SIGNS } from './message.ts';

/** A mail server, according to ALERT_SMTP_URL. */
export interface SmtpServer {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS, which is required unless `isTrusted`. */
  readonly secure: boolean;
  /** Both or none. */
  readonly login: { readonly user: string; readonly password: string } | undefined;
  /** On this machine, or in a network that ALLOW_PLAINTEXT names: TLS is not required, and no certificate is checked. */
  readonly isTrusted: boolean;
}

/** The recipients of mail, and their server. */
export interface EmailSettings {
  readonly server: SmtpServer;
  readonly from: string;
  /** At least one. */
  readonly to: readonly string[];
}

/** For each step: a connection, the greeting, a response. */
const TIMEOUT_MS = 15_000;
/** RFC 5322, 2.1.1: a line has at most 998 characters; mail programs show the beginning of a subject. */
const MAX_SUBJECT = 200;

/** Mail by SMTP, one message for all recipients, in plain text. */
export function mail(setting: string, settings: EmailSettings): Receiver {
  const { server, to } = settings;
  const { host } = server;
  const addresses = plural(to.length, 'address', 'addresses');
  return {
    setting,
    name: `${setting} (${host}, ${addresses})`,
    async send(message, signal) {
      try {
        const transporter = await open(server);
        const sent = await transporter.sendMail({ ...mailOf(message, settings), signal });
        const { rejected = [] } = sent as { readonly rejected?: readonly unknown[] };
        if (rejected.length === 0) return { taken: true, problem: null };
        const problem = `Notifications do not reach everybody by e-mail: ${host} refuses ${rejected.length} of ${addresses}. Check ${setting}.`;
        return { taken: true, problem };
      } catch (error) {
        const problem = `Notifications are not delivered by e-mail: ${host} ${reasonOf(error)}. Check ALERT_SMTP_URL, ALERT_EMAIL_FROM and ${setting}.`;
        return { taken: false, problem };
      }
    },
  };
}

/** Loads the library only if mail is sent. */
async function open(server: SmtpServer): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  const { host, port, secure, login, isTrusted } = server;
  return createTransport({
    host,
    port,
    secure,
    ...(login && { auth: { user: login.user, pass: login.password } }),
    requireTLS: !secure && !isTrusted,
    opportunisticTLS: isTrusted,
    tls: { rejectUnauthorized: !isTrusted },
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
  });
}

/** What failed, as the end of a sentence after the server's name, without the server's own text. */
function reasonOf(error: unknown): string {
  const code = errorCode(error) ?? 'no code';
  const { responseCode } = error as { responseCode?: number };
  // The library has one code for all errors of a socket.
  const isUnsafe = /certificate|altnames|SSL routines|wrong version/i.test(String(error));
  if (isUnsafe || code === 'ETLS')
    return 'offers no safe connection: no TLS, or a certificate that is not trusted (NODE_EXTRA_CA_CERTS trusts an authority of your own)';
  return responseCode === undefined
    ? `cannot be reached (${code})`
    : `refuses the message (${code}, ${responseCode})`;
}

function mailOf(message: Message, { from, to }: EmailSettings): SendMailOptions {
  const { level, headline, body, link } = message;
  const parts = [
    `${printable(headline)}.`,
    ...body.map(printable),
    ...(link === null ? [] : [`${link.title}: ${link.url}`]),
  ];
  return {
    from,
    to: [...to],
    subject: safeText(`${SIGNS[level]} ${printable(headline)}`, MAX_SUBJECT),
    text: `${parts.join('\n\n')}\n`,
    // RFC 3834, 5: keeps automatic responders from answering.
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}
