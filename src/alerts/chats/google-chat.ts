import { clean, fitted, fittedLines } from '../fitting.ts';
import { SIGNS } from '../message.ts';
import type { Notice } from '../notice.ts';
import type { Chat } from './chat.ts';

/*
 * https://developers.google.com/workspace/chat/quickstart/webhooks: JSON with `text` and `cardsV2`; a message of a thread
 * names it by `thread.threadKey`, with `messageReplyOption` in the address. A text has 4,096 characters, a message 32,000
 * bytes (https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages/create). In a text `*x*` is
 * bold and `<users/all>` calls everybody, and nothing can be escaped; in a card text is HTML
 * (https://developers.google.com/workspace/chat/format-messages), where entities can.
 */
const MAX_TEXT = 1_000;
const MAX_PARAGRAPH = 1_500;
const MAX_LINES = 3_000;
const REPLY = 'messageReplyOption';

/** Google Chat, by the webhook of a space. */
export const googleChat: Chat = {
  name: 'Google Chat',
  owns: ({ hostname, pathname }) =>
    hostname === 'chat.googleapis.com' && /^\/v1\/spaces\/[^/]+\/messages$/.test(pathname),
  address: (url) => {
    const address = new URL(url);
    if (!address.searchParams.has(REPLY)) {
      address.searchParams.set(REPLY, 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
    }
    return address;
  },
  payload: (notice) => {
    const widgets = widgetsOf(notice);
    return {
      text: `${SIGNS[notice.level]} ${fitted(notice.headline, MAX_TEXT, unformatted)}`,
      thread: { threadKey: notice.thread },
      ...(widgets.length > 0 && {
        cardsV2: [{ cardId: 'notice', card: { sections: [{ widgets }] } }],
      }),
    };
  },
};

function widgetsOf({ body, lines, remedy, command, link }: Notice): unknown[] {
  const list = fittedLines(lines, MAX_LINES, html).replaceAll('\n', '<br>');
  const texts = [body, remedy ?? '', command ?? ''].map((text) =>
    fitted(text, MAX_PARAGRAPH, html),
  );
  const [first = '', ...others] = texts;
  const paragraphs = [first, list, ...others].filter((text) => text !== '');
  return [
    ...paragraphs.map((text) => ({ textParagraph: { text } })),
    ...(link === null
      ? []
      : [
          {
            buttonList: {
              buttons: [{ text: 'Status page', onClick: { openLink: { url: link } } }],
            },
          },
        ]),
  ];
}

const html = (text: string): string =>
  clean(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', '@\u200B');

/** A mark that has no blank before it and none behind it begins no format. */
const unformatted = (text: string): string =>
  clean(text)
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll(/[*_~`@]/g, '$&\u200B');
