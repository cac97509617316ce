import { clean, cut, fittedLines } from '../fitting.ts';
import { SIGNS, plainText } from '../message.ts';
import type { Notice } from '../notice.ts';
import type { Chat, Refusal } from './chat.ts';

/*
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using: a workflow ("Send
 * webhook alerts to a channel") takes a message with one Adaptive Card and answers 202 before it posts; what it cannot
 * post shows in its own run history alone. A message is 28 kB at most, and four a second are taken. A TextBlock reads
 * Markdown and cannot be told not to; a TextRun does not (https://adaptivecards.io/explorer/TextRun.html), so all text
 * stands in those. The connectors of Office 365 (webhook.office.com) were retired in 2026; they answered 200 with the
 * failure as text.
 */
const MAX_HEADLINE = 300;
const MAX_FLOW_TEXT = 500;
const MAX_TEXT = 1_300;
const MAX_LINES = 2_500;
/** Each is a block of its own, which has its size, too. */
const MOST_LINES = 40;
const COLOURS = { error: 'Attention', warning: 'Warning', ok: 'Good' } as const;

const CONNECTOR = /^(?:[\w-]+\.)?webhook\.office\.com$|^outlook\.office(?:365)?\.com$/;

/** Microsoft Teams, by a workflow of Power Automate. */
export const teams: Chat = {
  name: 'Microsoft Teams',
  owns: ({ hostname, pathname }) =>
    CONNECTOR.test(hostname) ||
    (/\.(?:logic\.azure\.(?:com|us|cn)|api\.powerplatform\.(?:com|us|cn))$/.test(hostname) &&
      pathname.includes('/workflows/')),
  payload: (notice) => ({
    type: 'message',
    // For a flow of one's own that reads no more than the text.
    text: cut(plainText(notice), MAX_FLOW_TEXT),
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: cardOf(notice),
      },
    ],
  }),
  refusal: connectorFailure,
  retired: ({ hostname }) =>
    CONNECTOR.test(hostname)
      ? 'is the address of an Office 365 connector, which Microsoft has retired: in Teams, make a workflow "Send webhook alerts to a channel" and set its address'
      : undefined,
};

function cardOf(notice: Notice): unknown {
  const { level, headline, body, lines, remedy, command, link } = notice;
  const title = cut(`${SIGNS[level]} ${plain(headline)}`, MAX_HEADLINE);
  const list = fittedLines(lines, MAX_LINES, plain, MOST_LINES).split('\n');
  const texts = [body, ...list, remedy ?? ''].filter((text) => text !== '');
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: title,
    msteams: { width: 'Full' },
    body: [
      richText({ text: title, weight: 'Bolder', size: 'Medium', color: COLOURS[level] }),
      ...texts.map((text) => richText({ text: cut(plain(text), MAX_TEXT) })),
      ...(command === null
        ? []
        : [richText({ text: cut(plain(command), MAX_TEXT), fontType: 'Monospace' })]),
    ],
    ...(link !== null && {
      actions: [{ type: 'Action.OpenUrl', title: 'Status page', url: link }],
    }),
  };
}

const richText = (run: { readonly text: string; readonly [style: string]: string }): unknown => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', ...run }],
});

/** `{{DATE(…)}}` is worked out in any text, and `<at>` names a person. */
const plain = (text: string): string =>
  clean(text)
    .replaceAll('{{', '{\u200B{')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('@', '@\u200B');

function connectorFailure(body: string): Refusal | undefined {
  const [, status] = /endpoint returned HTTP error (\d{3})/.exec(body) ?? [];
  if (status !== undefined) {
    const retry = status === '429' || status.startsWith('5');
    return { why: `passes on that Teams answers ${status}`, retry };
  }
  return body.includes('delivery failed')
    ? { why: 'says that the delivery failed', retry: false }
    : undefined;
}
