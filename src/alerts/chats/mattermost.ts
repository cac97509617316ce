import type { Chat } from './chat.ts';
import { notOk } from './chat.ts';
import { boldHeadline, markdownParts } from './markdown.ts';

/*
 * https://developers.mattermost.com/integrate/webhooks/incoming/: JSON with `text` in Markdown, answered with `ok`. A post
 * holds 16,383 characters; a longer text becomes several. `@channel`, `@here` and `@all` in it call everybody, and nothing
 * turns that off, so an at sign never stands right before a name.
 */
const LIMITS = { headline: 1_000, body: 4_000, lines: 6_000, remedy: 2_000 };

/** Mattermost, by an incoming webhook: its server may be anywhere, its key has 26 letters and digits. */
export const mattermost: Chat = {
  name: 'Mattermost',
  owns: ({ pathname }) => /\/hooks\/[a-z0-9]{26}$/.test(pathname),
  payload: (notice) => ({
    text: [boldHeadline(notice, LIMITS.headline), ...markdownParts(notice, LIMITS)].join('\n\n'),
  }),
  refusal: notOk,
};
