import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../../../src/base/errors.ts';
import { projectText } from '../../../support/readme.ts';
import { toSheetsError } from '../../../../src/targets/google-sheets/api/sheets-error.ts';

const SECRET = 'hunter2';
const WRITE = { spreadsheetId: 'abc', email: 'mirror@example.com', writes: true };
const READ = { ...WRITE, writes: false };

/** An error as Google's client throws it: it contains the request, and so the answers. */
function answer(status: number, message: string, rest: Record<string, unknown> = {}): Error {
  const body = { error: { code: status, message, ...rest } };
  return Object.assign(new Error(message), {
    status,
    config: { data: { requests: [{ updateCells: { rows: SECRET } }] } },
    response: { status, data: body, headers: new Headers({ 'retry-after': '30' }) },
  });
}

const failure = (code: string, name = 'Error'): Error =>
  Object.assign(new Error(`request to https://sheets failed with ${SECRET}`), {
    name: 'GaxiosError',
    cause: Object.assign(new Error(SECRET), { code, name }),
  });

const reason = (value: string, metadata: Record<string, string> = {}) => ({
  details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: value, metadata }],
});

/** By its name: the error, how we report it, and its message. */
const CASES: Readonly<Record<string, readonly [thrown: Error, fault: string, message: RegExp]>> = {
  'a used-up quota': [
    answer(429, 'Quota exceeded', reason('RATE_LIMIT_EXCEEDED')),
    'unreachable TARGET_UNREACHABLE',
    /quota of requests is used up/,
  ],
  'an old-style rate limit': [
    answer(403, 'x', { errors: [{ reason: 'userRateLimitExceeded' }] }),
    'unreachable TARGET_UNREACHABLE',
    /quota/,
  ],
  'a 503 of a write': [answer(503, 'unavailable'), 'unclear TARGET_UNREACHABLE', /answered 503/],
  'a timeout of a write': [
    failure('', 'TimeoutError'),
    'unclear TARGET_UNREACHABLE',
    /did not answer in time/,
  ],
  'a broken connection': [
    failure('ECONNRESET'),
    'unclear TARGET_UNREACHABLE',
    /could not be reached \(ECONNRESET\)/,
  ],
  'no server': [failure('ECONNREFUSED'), 'unreachable TARGET_UNREACHABLE', /ECONNREFUSED/],
  'an unknown host': [failure('ENOTFOUND'), 'unreachable TARGET_UNREACHABLE', /ENOTFOUND/],
  'a taken number': [
    answer(
      400,
      'Invalid requests[0].createDeveloperMetadata: Cannot add developer metadata with ID [7] because developer metadata with that ID already exists.',
    ),
    'taken TARGET_BUSY',
    /wrote to .* each time/,
  ],
  'a row that is gone': [
    answer(
      400,
      "Invalid requests[3].updateCells: Range ('x'!A99) exceeds grid limits. Max rows: 50",
    ),
    'refused TARGET_FAILED',
    /with status 400 \(request 3, updateCells\)/,
  ],
  'a full spreadsheet': [
    answer(400, 'above the limit of 10000000 cells'),
    'final TARGET_FULL',
    /no room.*Delete rows/,
  ],
  'a missing scope': [
    answer(
      403,
      'Request had insufficient authentication scopes.',
      reason('ACCESS_TOKEN_SCOPE_INSUFFICIENT'),
    ),
    'final TARGET_DENIED',
    /auth\/spreadsheets/,
  ],
  'an unknown refusal': [
    answer(400, `Invalid requests[2].repeatCell: no "${SECRET}"`),
    'refused TARGET_FAILED',
    /status 400 \(request 2, repeatCell\)/,
  ],
  'an API that is off': [
    answer(403, 'Google Sheets API has not been used in project 7 before or it is disabled.'),
    'final TARGET_DENIED',
    /Enable it/,
  ],
  'no right to edit': [answer(403, 'x'), 'final TARGET_DENIED', /Share the spreadsheet .* Editor/],
  'no such spreadsheet': [answer(404, 'x'), 'final TARGET_DENIED', /copy its address again/],
  'a key that is not accepted': [answer(401, 'x'), 'final TARGET_DENIED', /new key/],
  'an Excel file': [
    answer(400, 'This operation is not supported for this document'),
    'final TARGET_DENIED',
    /Save as Google Sheets/,
  ],
  'a protected range': [
    answer(
      400,
      'Invalid requests[0].updateCells: You are trying to edit a protected cell or object.',
    ),
    'protected TARGET_DENIED',
    /Protect sheets and ranges/,
  ],
  'a revoked key': [
    Object.assign(new Error('x'), {
      response: { status: 400, data: { error: 'invalid_grant', error_description: SECRET } },
    }),
    'final TARGET_DENIED',
    /deleted or disabled.*clock/,
  ],
  'a damaged key': [
    Object.assign(new Error('error:1E08010C:DECODER routines::unsupported'), {
      code: 'ERR_OSSL_UNSUPPORTED',
    }),
    'final TARGET_DENIED',
    /private_key .* damaged/,
  ],
  'no credentials at all': [
    new Error('Could not load the default credentials. Browse to …'),
    'final TARGET_DENIED',
    /Create a service account/,
  ],
  'any other error': [
    Object.assign(new Error(SECRET), { code: SECRET }),
    'unclear TARGET_UNREACHABLE',
    /could not be reached\. /,
  ],
};

describe('failures of the Sheets API', () => {
  it.each(Object.entries(CASES))('are reported as %s, without an answer', (_, one) => {
    const [thrown, reported, message] = one;
    const [fault = '', code] = reported.split(' ');
    const error = toSheetsError(thrown, WRITE);
    expect(error).toMatchObject({
      fault,
      code,
      retryable: !['final', 'refused', 'protected'].includes(fault),
      message: expect.stringMatching(message),
    });
    // L11 L15: not in the message, not in a cause, nowhere.
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(SECRET);
  });

  it('of a read change nothing, so that it can be tried again', () => {
    for (const thrown of [answer(500, 'x'), failure('ECONNRESET'), failure('', 'TimeoutError')]) {
      expect(toSheetsError(thrown, READ)).toMatchObject({ fault: 'unreachable' });
    }
    expect(toSheetsError(answer(503, 'x'), READ)).toMatchObject({ retryAfter: '30' });
  });

  it('of other kinds pass through', () => {
    const own = new MirrorError('TARGET_BUSY', 'busy');
    expect(toSheetsError(own, WRITE)).toBe(own);
  });

  it('that need a person are all in docs/google-sheets.md, and no others', () => {
    const docs = projectText('docs/google-sheets.md');
    const table = docs.split('## If `check` reports a problem')[1]?.split('\n## ')[0] ?? '';
    const told = [...table.matchAll(/^\| (.+?) \| .+ \|$/gm)]
      .map(([, text = '']) => text.trim())
      .slice(2);
    const patterns = told.map((text) => {
      return new RegExp(
        '^' +
          text
            .split('…')
            .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
            .join('.+'),
      );
    });
    const texts = Object.values(CASES).flatMap(([thrown]) =>
      [READ, WRITE].map((subject) => toSheetsError(thrown, subject)),
    );
    const asking = texts.filter(({ code }) => code === 'TARGET_DENIED' || code === 'TARGET_FULL');
    const unsaid = asking.filter(({ message }) => !patterns.some((one) => one.test(message)));
    expect(unsaid.map(({ message }) => message)).toEqual([]);
    const unknown = told.filter(
      (_, at) => !texts.some(({ message }) => patterns[at]!.test(message)),
    );
    expect(unknown).toEqual([]);
  });
});
