import { jsonReply, type Reply } from '../../../src/sandbox/faults.ts';
import { readClaims, type Accounts } from './accounts.ts';

const LIFETIME_S = 3_600;
const SIGNED = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

const refused = (error: string, description: string): Reply =>
  jsonReply(400, JSON.stringify({ error, error_description: description }));

/** A service account's signed assertion for a token. The refusals are worded as Google's. */
function fromAssertion(accounts: Accounts, assertion: string, nowMs: number): Reply {
  const claims = readClaims(assertion);
  const email = typeof claims?.['iss'] === 'string' ? claims['iss'] : '';
  if (!accounts.hasKey(email)) return refused('invalid_grant', 'Invalid grant: account not found');
  const account = accounts.selfSigned(assertion);
  if (account === undefined) return refused('invalid_grant', 'Invalid JWT Signature.');
  const [issued, ends] = [Number(claims?.['iat']) * 1000, Number(claims?.['exp']) * 1000];
  // Google lets clocks differ by five minutes.
  if (!(Math.abs(issued - nowMs) < 300_000 && ends > nowMs)) {
    return refused(
      'invalid_grant',
      'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.',
    );
  }
  const { scopes } = account;
  const token = accounts.issue({ email, scopes, expiresAtMs: nowMs + LIFETIME_S * 1000 });
  const answer = { access_token: token, expires_in: LIFETIME_S, token_type: 'Bearer' };
  return jsonReply(200, JSON.stringify(answer));
}

/** `POST /token`: what oauth2.googleapis.com does for service accounts. */
export function tokenReply(accounts: Accounts, body: string, nowMs: number): Reply {
  const form = new URLSearchParams(body);
  return form.get('grant_type') === SIGNED
    ? fromAssertion(accounts, form.get('assertion') ?? '', nowMs)
    : refused('unsupported_grant_type', 'Invalid grant_type: missing or unsupported.');
}
