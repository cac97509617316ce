import { fitted } from '../fitting.ts';
import { SIGNS } from '../message.ts';
import type { Chat } from './chat.ts';
import { markdown, markdownParts } from './markdown.ts';

/*
 * https://docs.discord.com/developers/resources/webhook#execute-webhook: `content` up to 2,000 characters, embeds with a
 * title up to 256 and a description up to 4,096, 6,000 in all; `allowed_mentions` with an empty `parse` calls nobody
 * whatever a text says. With `wait` it says whether the message was kept, without it
 * that it came; or it answers 429, whose body has the seconds to wait as `retry_after`
 * (https://docs.discord.com/developers/topics/rate-limits).
 */
const MAX_CONTENT = 1_000;
const LIMITS = { headline: 250, body: 1_500, lines: 1_200, remedy: 600 };
const COLOURS = { error: 0xd1_34_38, warning: 0xe8_8c_00, ok: 0x2e_a0_43 } as const;

/** Discord, by a webhook. One that ends in /slack or /github takes what those send. */
export const discord: Chat = {
  name: 'Discord',
  owns: ({ hostname, pathname }) =>
    /^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/.test(hostname) &&
    /^\/api\/(?:v\d+\/)?webhooks\/\d+\/[\w-]+$/.test(pathname),
  address: (url) => {
    const address = new URL(url);
    address.searchParams.set('wait', 'true');
    return address;
  },
  payload: (notice) => ({
    content: `${SIGNS[notice.level]} ${fitted(notice.headline, MAX_CONTENT, markdown)}`,
    allowed_mentions: { parse: [] },
    embeds: [
      {
        description: markdownParts(notice, LIMITS).join('\n\n'),
        color: COLOURS[notice.level],
        timestamp: new Date(notice.atMs).toISOString(),
      },
    ].filter(({ description }) => description !== ''),
  }),
  waitMs: retryAfter,
};

function retryAfter(body: string): number | undefined {
  try {
    const { retry_after: seconds } = JSON.parse(body) as { retry_after?: unknown };
    return typeof seconds === 'number' && seconds >= 0 ? Math.ceil(seconds * 1_000) : undefined;
  } catch {
    return undefined;
  }
}
