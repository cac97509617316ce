import type { SendMailOptions, Transporter } from 'nodemailer';
import { errorCode } from '../base/error-code.ts';
import { isAbort } from '../base/errors.ts';
import { exact, plural } from '../base/format.ts';
import type { RetryDecision } from '../base/retry.ts';
import type { Transport } from './delivery-queue.ts';
import { clean, cut } from './fitting.ts';
import type { Notice } from './notice.ts';

/** A mail server, as ALERT_SMTP_URL names it. */
export interface SmtpServer {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS, which is insisted on unless `isTrusted`. */
  readonly secure: boolean;
  /** Both or none. */
  readonly login: { readonly user: string; readonly password: string } | undefined;
  /** On this machine, or in a network that ALLOW_PLAINTEXT names: it may go without TLS, and no certificate is checked. */
  readonly isTrusted: boolean;
}

/** Who is written to, and by what. */
export interface EmailSettings {
  readonly server: SmtpServer;
  readonly from: string;
  /** At least one. */
  readonly to: readonly string[];
}

/** For each step of it: a connection, the greeting, an answer. */
const TIMEOUT_MS = 15_000;
/** RFC 5322, 2.1.1: a line has 998 characters at most; what is shown of a subject are the first of them. */
const MAX_SUBJECT = 200;

interface SmtpFailure {
  /** The status of the server's answer. */
  readonly responseCode?: number;
  /** The command that it answered. */
  readonly command?: string;
}

/** Mail by SMTP, one for all recipients, in plain text. */
export class Email implements Transport {
  readonly #settings: EmailSettings;
  #transporter: Promise<Transporter> | undefined;

  constructor(settings: EmailSettings) {
    this.#settings = settings;
  }

  get name(): string {
    const { server, to } = this.#settings;
    return `e-mail (${server.host}, to ${plural(to.length, 'address', 'addresses')})`;
  }

  readonly worksAgain = 'E-mail takes alerts again.';

  async send(notice: Notice, signal: AbortSignal): Promise<string | undefined> {
    const transporter = await (this.#transporter ??= this.#open());
    const mail = mailOf(notice, this.#settings);
    const { rejected = [] } = (await transporter.sendMail({ ...mail, signal })) as {
      readonly rejected?: readonly unknown[];
    };
    if (rejected.length === 0) return undefined;
    const { server, to } = this.#settings;
    return `Alerts do not reach everybody by e-mail: ${server.host} refuses ${rejected.length} of ${plural(to.length, 'address', 'addresses')}. Check ALERT_EMAIL_TO.`;
  }

  /** Loaded by those who mail alone. */
  async #open(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    const { host, port, secure, login, isTrusted } = this.#settings.server;
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
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  /** RFC 5321, 4.2.1: 4yz may be taken later, 5yz may not. */
  decide(error: unknown): RetryDecision {
    if (isAbort(error)) return { retry: false };
    if (isUnsafe(error)) return { retry: false };
    const { responseCode } = error as SmtpFailure;
    return { retry: responseCode === undefined || responseCode < 500 };
  }

  whyNot(error: unknown): string {
    const { why, check } = this.#reason(error);
    return `Alerts are not delivered by e-mail: ${this.#settings.server.host} ${why}. Check ${check}.`;
  }

  #reason(error: unknown): { readonly why: string; readonly check: string } {
    const check = 'ALERT_SMTP_URL';
    const code = errorCode(error) ?? '';
    const { responseCode, command = '' } = error as SmtpFailure;
    const said = responseCode === undefined ? '' : ` (${responseCode})`;
    if (code === 'EAUTH') return { why: `refuses the user name or password${said}`, check };
    if (code === 'ENOAUTH') return { why: 'wants a user name and a password', check };
    if (code === 'EENVELOPE' && command.startsWith('RCPT')) {
      return { why: `refuses every address${said}`, check: 'ALERT_EMAIL_TO' };
    }
    if (code === 'EENVELOPE')
      return { why: `refuses the sender${said}`, check: 'ALERT_EMAIL_FROM' };
    if (isUnsafe(error)) {
      const why = 'offers no safe connection: no TLS, or a certificate that is not trusted';
      return { why, check: `${check}; NODE_EXTRA_CA_CERTS trusts an authority of your own` };
    }
    if (responseCode !== undefined) return { why: `answers ${responseCode}`, check };
    return { why: `cannot be reached${code === '' ? '' : ` (${code})`}`, check };
  }

  async close(): Promise<void> {
    const transporter = await this.#transporter?.catch(() => undefined);
    transporter?.close();
  }
}

/** Whether TLS failed, which lasts until somebody changes something. The library has a code of its own for all that a socket says. */
const isUnsafe = (error: unknown): boolean =>
  errorCode(error) === 'ETLS' ||
  (error instanceof Error &&
    /certificate|altnames|SSL routines|wrong version/i.test(error.message));

/** A notice as a mail. Those of one incident are one thread (RFC 5322, 3.6.4). */
export function mailOf(notice: Notice, { from, to }: EmailSettings): SendMailOptions {
  const domain = /@([^@>\s]+)>?$/.exec(from)?.[1] ?? 'forms-mirror.invalid';
  const first = `<${notice.thread}@${domain}>`;
  const isFirst = notice.opens;
  const own = `<${notice.thread}.${notice.atMs}.${notice.code}@${domain}>`;
  return {
    from,
    to: [...to],
    subject: cut(subjectOf(notice), MAX_SUBJECT),
    messageId: isFirst ? first : own,
    ...(!isFirst && { inReplyTo: first, references: first }),
    date: new Date(notice.atMs),
    text: textOf(notice),
    // RFC 3834, 5: nobody's holiday notice answers it.
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  };
}

const MARKS = { error: 'Failed', warning: 'Attention', ok: 'OK' } as const;

function subjectOf({ level, code, headline }: Notice): string {
  const told = clean(headline).replace(/^forms-mirror[,:] /, '');
  const mark = code === 'TEST' ? '' : `${MARKS[level]}: `;
  return `[forms-mirror] ${mark}${told}`;
}

function textOf({ headline, body, lines, remedy, command, link, atMs }: Notice): string {
  const list = lines.map((line) => `- ${clean(line)}`).join('\n');
  const todo = [remedy, command === null ? null : `    ${command}`];
  const parts = [
    `${clean(headline)}.`,
    clean(body),
    list,
    todo.filter((text) => text !== null).join('\n\n'),
    link === null ? '' : `Status page: ${link}`,
    `-- \nforms-mirror, ${exact(new Date(atMs).toISOString())}`,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}
