import { describe, expect, it } from 'vitest';
import { runCommand } from '../src/command.ts';

interface Announcement {
  readonly rootUrl: string;
  readonly token: string;
  readonly spreadsheetId: string;
  readonly page: string;
}

describe('the command', () => {
  it('announces a spreadsheet that its account may write to, and ends when it is stopped', async () => {
    const stop = new AbortController();
    const announced = Promise.withResolvers<Announcement>();
    const ended = runCommand(
      ['--port', '0', '--title', 'Leads', '--token', 'secret'],
      (text) => announced.resolve(JSON.parse(text) as Announcement),
      (text) => announced.reject(new Error(text)),
      stop.signal,
    );
    const { rootUrl, token, spreadsheetId, page } = await announced.promise;
    const answer = await fetch(
      `${rootUrl}v4/spreadsheets/${spreadsheetId}/values/A1?valueInputOption=RAW`,
      {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ values: [['there']] }),
      },
    );
    expect(answer.status).toBe(200);
    expect(await (await fetch(page)).text()).toContain('Leads');
    stop.abort();
    expect(await ended).toBe(0);
  });

  it.each([
    [['--prot', '1'], /^Unknown option '--prot'/],
    [['--port', 'x'], /^--port takes a whole number/],
    [['--port', '70000'], /^--port takes a whole number/],
  ] as const)('refuses %j with its usage', async (args, reason) => {
    let complaint = '';
    const code = await runCommand(
      args,
      () => {},
      (text) => (complaint += text),
      AbortSignal.abort(),
    );
    expect(code).toBe(2);
    expect(complaint).toMatch(reason);
    expect(complaint).toContain('Usage: google-sheets-emulator');
  });
});
