import type { ProblemCode } from '../../base/catalogue.ts';
import type { Dialect } from './dialect.ts';

/*
 * Errors of databases in words for people. Each dialect maps its codes to these meanings, and adds its own remedies.
 */

/** An error in words for people. Never contains a value from a row, a password, or the driver's own text. */
export interface ErrorDescription {
  readonly code: ProblemCode;
  /** What happened: half a sentence, without a full stop. */
  readonly what: string;
  /** What to do now: sentences. */
  readonly remedy: string;
  /** The database refused a statement: because of a row, or for an unknown reason, such as a person's constraint. */
  readonly refused?: 'row' | 'statement';
}

/** The errors of servers: code, message, and the remedy if a dialect has no better one. */
const MEANINGS = {
  login: ['TARGET_DENIED', 'the server refuses the user, the password or how they are sent', ''],
  right: ['TARGET_DENIED', 'the user may not do this there', ''],
  noDatabase: ['TARGET_DENIED', 'there is no database of that name on the server', ''],
  certificate: ['TARGET_DENIED', "the server's TLS certificate cannot be trusted", ''],
  noTls: ['TARGET_DENIED', 'the server does not speak TLS, which the target URL asks for', ''],
  readOnly: [
    'TARGET_DENIED',
    'the server accepts no writes: it is a replica or was set to read only',
    'Put the address of the primary into the target URL.',
  ],
  full: [
    'TARGET_FULL',
    'the disk is full, or a table',
    'Make room. The next run continues where this one ended.',
  ],
  changed: [
    'TARGET_FAILED',
    'a table or column was dropped, renamed or given another type: a mirrored one, or one that a trigger uses',
    'Change a mirrored one back, as mirror_fields says, or drop it: the next run makes it again. Remove or correct the trigger.',
  ],
  locked: ['TARGET_FAILED', 'another session keeps a mirrored table or row locked', ''],
  ended: [
    'TARGET_FAILED',
    'the server ended a statement that took too long or was in the way of another one',
    'The next run tries again. If this lasts, raise the limit for statements of this user.',
  ],
  lost: [
    'TARGET_UNREACHABLE',
    'the server ended the connection, or has none left',
    'The last batch was stored completely or not at all, and the next run continues. If this lasts, check that the server runs and allows enough connections.',
  ],
  silent: [
    'TARGET_UNREACHABLE',
    'the server does not answer',
    'Check host and port, that the server runs, and that a firewall lets us through.',
  ],
  unknownHost: [
    'TARGET_UNREACHABLE',
    'the host name is not known',
    'Check the spelling of the host in the target URL, and the DNS of this machine.',
  ],
} as const satisfies Readonly<Record<string, Words>>;

/** The code of the problem, its message and its remedy. */
type Words = readonly [ProblemCode, what: string, remedy: string];
type Meaning = keyof typeof MEANINGS;
type Code = string | number;

/** System error codes about connections. */
const SYSTEM_CODES: Partial<Record<Meaning, readonly Code[]>> = {
  silent: ['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT'],
  unknownHost: ['ENOTFOUND', 'EAI_AGAIN'],
  lost: ['ECONNRESET', 'EPIPE'],
};

/** An error after reading it. */
export interface ReadError {
  /** The most specific code first. */
  readonly codes: readonly (Code | undefined)[];
  /** Only for an error of the database itself: it refused a statement. */
  readonly statement?: string;
}

/** The errors of a kind of database, of its driver, and of the network and TLS before it. */
export interface KnownErrors {
  /** Takes only codes, and names of constraints, keys and columns; never a value. */
  readonly read: (error: Error) => ReadError;
  readonly codes: Partial<Record<Meaning, readonly Code[]>>;
  /** What to do about some of them there. */
  readonly remedies: Partial<Record<Meaning, string>>;
  /** Errors that only this database has, by code. */
  readonly own?: readonly (readonly [readonly Code[], ...Words])[];
  /** Faults of a row itself, by codes that mean the same for any table. */
  readonly faults: Readonly<Record<Code, string>>;
}

/** Describes errors of a kind of database, by the first of their codes that is known. */
export function wordsFor({
  read,
  codes,
  remedies,
  own = [],
  faults,
}: KnownErrors): Dialect['describe'] {
  const known = new Map<string, ErrorDescription>();
  const add = (of: readonly Code[], [code, what, remedy]: Words): void => {
    for (const each of of) known.set(String(each), { code, what, remedy });
  };
  const meanings = Object.entries({ ...SYSTEM_CODES, certificate: [''] });
  for (const [name, of] of [...meanings, ...Object.entries(codes)]) {
    const [code, what, remedy] = MEANINGS[name as Meaning];
    add(of, [code, what, remedies[name as Meaning] ?? remedy]);
  }
  for (const [of, ...words] of own) add(of, words);
  const refusal = { code: 'TARGET_FAILED', remedy: UNDO_OR_REPORT } as const;
  for (const [code, what] of Object.entries(faults))
    known.set(code, { ...refusal, what, refused: 'row' });
  return (error) => {
    if (!(error instanceof Error)) return undefined;
    const { codes: found, statement: what } = read(error);
    for (const code of found) {
      const isTls = /CERT|TLS|SSL|SIGNATURE/.test(String(code));
      const described = known.get(String(code)) ?? (isTls ? known.get('') : undefined);
      if (described !== undefined) return described;
    }
    return what === undefined ? undefined : { ...refusal, what, refused: 'statement' };
  };
}

const UNDO_OR_REPORT =
  'If someone added a constraint, a foreign key or a trigger to a mirrored table, or changed its columns, undo that. Otherwise, please report it.';

const NAME = /^[\w $.-]{1,80}$/;

/** A code with the names of constraints, keys or columns in the error, and no other part of it. */
export const withNames = (code: Code, ...names: readonly (string | undefined)[]): string =>
  [code, ...names.filter((name) => name !== undefined && NAME.test(name))].join(', ');
