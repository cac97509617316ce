import { clean, cut, fitted, fittedLines } from '../fitting.ts';
import { SIGNS } from '../message.ts';
import { type Notice, remedyOf } from '../notice.ts';
import { type Chat, notOk, wordIn } from './chat.ts';

/*
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks: JSON with `text` and `blocks`, answered with
 * `ok`, or with 400 `invalid_payload`, 403 `action_prohibited`, 404 `channel_not_found`, 410 `channel_is_archived`; 429
 * carries Retry-After. https://docs.slack.dev/messaging/formatting-message-text: &, < and > are written as entities where
 * text is mrkdwn; nothing else can be escaped there, so names stand in plain_text, which knows no formatting and no
 * mention. https://docs.slack.dev/reference/block-kit/blocks: 150 characters in a header, 3,000 in a section.
 */

const MAX_HEADER = 150;
const MAX_SECTION = 3_000;
/** `text` is what a notification shows. */
const MAX_TEXT = 1_000;

/** Slack, by an incoming webhook. A workflow's address, which takes what its author chose, is none. */
export const slack: Chat = {
  name: 'Slack',
  owns: ({ hostname, pathname }) =>
    /^hooks\.slack(?:-gov)?\.com$/.test(hostname) && pathname.startsWith('/services/'),
  payload: (notice) => ({
    text: fitted(`${headlineOf(notice)}. ${notice.body}`.trim(), MAX_TEXT, entities),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: blocksOf(notice),
  }),
  refusal: notOk,
  wordOf: wordIn,
};

const headlineOf = ({ level, headline }: Notice): string => `${SIGNS[level]} ${headline}`;

function blocksOf(notice: Notice): unknown[] {
  const { body, lines, command, link } = notice;
  const isHeaderWhole = headlineOf(notice).length <= MAX_HEADER;
  const texts = [
    // What the header had to leave out.
    isHeaderWhole ? '' : notice.headline,
    body,
    fittedLines(lines, MAX_SECTION, plain),
    remedyOf({ remedy: notice.remedy, command: null }) ?? '',
  ];
  return [
    { type: 'header', text: plainText(headlineOf(notice), MAX_HEADER) },
    ...texts
      .filter((text) => text !== '')
      .map((text) => ({ type: 'section', text: plainText(text, MAX_SECTION) })),
    ...(command === null ? [] : [mrkdwn(`\`\`\`${fitted(command, 2_000, code)}\`\`\``)]),
    ...(link === null ? [] : [mrkdwn(`<${link}|Status page>`)]),
  ];
}

/** Line breaks of a list are ours; those of anything else were taken away before. */
const plainText = (text: string, max: number): unknown => ({
  type: 'plain_text',
  text: cut(text.split('\n').map(plain).join('\n'), max),
});

/** Where nothing is markup, nothing has to be an entity; angle brackets are left to nobody's reading. */
const plain = (text: string): string => clean(text).replaceAll('<', '‹').replaceAll('>', '›');

const mrkdwn = (text: string): unknown => ({
  type: 'section',
  text: { type: 'mrkdwn', text, verbatim: true },
});

const entities = (text: string): string =>
  clean(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A backtick would end the code. */
const code = (text: string): string => entities(text).replaceAll('`', "'");
