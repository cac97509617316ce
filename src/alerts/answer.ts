import type { Dispatcher } from 'undici';
import { type Clock, withinTime } from '../base/clock.ts';

/** What a chat or a monitor says of a message is short. */
const MAX_LENGTH = 4_096;
/** A trickle would outlast any time between two bytes. */
const LIMIT_MS = 10_000;

/** An answer's body; undefined when it does not come to its end in time, or is longer than what such a service says. */
export async function answerOf(
  { body }: Dispatcher.ResponseData,
  clock: Clock,
): Promise<string | undefined> {
  const text = await withinTime(
    beginningOf(body).catch(() => undefined),
    LIMIT_MS,
    clock,
  );
  if (text === undefined) body.destroy();
  return text;
}

async function beginningOf(body: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_LENGTH) return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}
