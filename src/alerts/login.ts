import { decoded } from '../base/transport.ts';

/** The header that sends the user name and password of an address, which the client itself leaves out; none without them. */
export function loginOf(address: string | URL): Readonly<Record<string, string>> {
  const { username, password } = new URL(address);
  if (username === '' && password === '') return {};
  const login = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
  return { authorization: `Basic ${login}` };
}
