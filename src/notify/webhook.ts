import { remedyText } from '../health/report.ts';
import { type Transport, isForNews } from './channel.ts';
import { type Fetch, request } from './http.ts';
import { type Message, SIGNS, cut, defused, formLines, plainText } from './message.ts';

/*
 * A webhook gets JSON with `text`, which Slack, Mattermost, Google Chat and Discord (at an address that ends in /slack) show.
 * Microsoft Teams shows cards only.
 */

/**
 * Chats that are known by their address. They get `text` only: Google Chat refuses fields that it does not know, and a Slack
 * workflow those that its author did not name.
 */
const CHATS: readonly (readonly [name: string, host: RegExp])[] = [
  ['Slack', /^hooks\.slack(?:-gov)?\.com$/],
  ['Google Chat', /^chat\.googleapis\.com$/],
  ['Discord', /^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/],
];
/** A workflow: "Send webhook alerts to a channel". */
const TEAMS = /\.(?:logic\.azure|api\.powerplatform)\.(?:com|us|cn)$/;

/** The name of the receiver at an address, as far as its host shows it. */
function receiverOf({ hostname }: URL): string {
  const [name] = CHATS.find(([, host]) => host.test(hostname)) ?? [];
  return name ?? (TEAMS.test(hostname) ? 'Microsoft Teams' : 'plain JSON');
}

/** The request to an address. */
export function payloadOf(message: Message, url: URL): unknown {
  const receiver = receiverOf(url);
  if (receiver === 'Microsoft Teams') return teamsCard(message);
  const text = plainText(message);
  return receiver === 'plain JSON' ? { text, ...fieldsOf(message) } : { text };
}

/** For programs that read more than the text. */
function fieldsOf(message: Message): object {
  const { level, code, target, forms, atMs } = message;
  const [first] = forms;
  const form =
    first !== undefined && forms.length === 1 ? { id: first.id, name: first.name } : null;
  const several = forms.length > 1 && { forms };
  const at = new Date(atMs).toISOString();
  return { level, form, target, code, remedy: remedyText(message), at, ...several };
}

const COLOURS = { error: 'Attention', warning: 'Warning', ok: 'Good', info: 'Accent' } as const;

/** Each is a block of its own. */
const MOST_FORMS = 40;

/*
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using: a workflow takes a
 * message with one Adaptive Card of at most 28 kB, and answers 202 before it posts. A TextBlock reads Markdown and cannot be
 * asked not to; a TextRun does not (https://adaptivecards.io/explorer/TextRun.html).
 */
function teamsCard(message: Message): unknown {
  const { level, headline, body, forms, remedy, command, link } = message;
  const title = cut(`${SIGNS[level]} ${defused(headline)}`, 300);
  const texts = [body, ...formLines(forms, MOST_FORMS), remedy ?? ''];
  return {
    type: 'message',
    // For a custom workflow that reads only the text.
    text: cut(plainText(message), 500),
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          fallbackText: title,
          msteams: { width: 'Full' },
          body: [
            richText(title, { weight: 'Bolder', size: 'Medium', color: COLOURS[level] }),
            ...texts.filter((text) => text !== '').map((text) => richText(text)),
            ...(command === null ? [] : [richText(command, { fontType: 'Monospace' })]),
          ],
          ...(link !== null && {
            actions: [{ type: 'Action.OpenUrl', title: link.title, url: link.url }],
          }),
        },
      },
    ],
  };
}

const richText = (text: string, style: Readonly<Record<string, string>> = {}): unknown => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text: cut(defused(text), 1_300), ...style }],
});

/**
 * The webhook of a chat, or of anything else that takes JSON. `address` holds a secret as a rule: only its host is shown
 * (L15).
 */
export function webhook(setting: string, address: string, fetch: Fetch): Transport {
  const url = new URL(address);
  const receiver = receiverOf(url);
  // What takes `text` there.
  if (receiver === 'Discord' && !url.pathname.endsWith('/slack')) url.pathname += '/slack';
  return {
    setting,
    name: `webhook${isForNews(setting) ? ' for new answers' : ''} (${receiver}, ${url.host})`,
    async send(message, signal) {
      const why = await request(fetch, url, signal, payloadOf(message, url));
      const problem =
        why === null ? null : `Notifications are not delivered: ${why}. Check ${setting}.`;
      return { taken: why === null, problem };
    },
  };
}
