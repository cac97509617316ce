import { testChannels } from '../alerts/alerts.ts';
import type { Clock } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import type { Config } from '../config.ts';
import type { CommandCall } from './command-spec.ts';

/** `alert --test`: a message through each channel, by this process alone. */
export async function run({ host, flag }: CommandCall): Promise<ExitCode> {
  const { terminal, clock, stop } = host;
  if (!flag('test')) {
    throw new MirrorError('USAGE', 'alert sends nothing by itself: forms-mirror alert --test.');
  }
  const config = await host.loadConfig();
  const heartbeat = heartbeatNote(config);
  const channels = channelsOf(config, clock);
  if (channels.url === undefined && channels.email === undefined) {
    throw new MirrorError(
      'USAGE',
      `No channel is set up: set ALERT_WEBHOOK_URL or ALERT_EMAIL_TO.${heartbeat === undefined ? '' : ` HEARTBEAT_URL: ${heartbeat}.`}`,
    );
  }
  const results = await testChannels(channels);
  const ok = results.every((result) => result.ok);
  if (flag('json')) terminal.printJson({ ok, channels: results });
  else {
    for (const { channel, ok: isTaken, message } of results) {
      const sign = isTaken ? terminal.style('green', '✓') : terminal.style('red', '✗');
      terminal.print(`${sign} ${channel}: ${message}`);
    }
    if (heartbeat !== undefined) terminal.print(`· heartbeat: ${heartbeat}`);
  }
  return stop.exitCode() ?? (ok ? EXIT_CODES.DONE : EXIT_CODES.FAILED).code;
}

/** Where alerts of these settings go. */
export function channelsOf(
  { alertUrl: url, telling: { email, statusUrl }, proxy }: Config,
  clock: Clock,
): Parameters<typeof testChannels>[0] {
  return { url, email, statusUrl, proxy, clock };
}

/** A call would say that nothing has failed, which a test does not know. */
function heartbeatNote({ telling: { heartbeatUrl } }: Config): string | undefined {
  if (heartbeatUrl === undefined) return undefined;
  return `${new URL(heartbeatUrl).host} is not called by a test, as a call says that nothing has failed; start calls it`;
}
