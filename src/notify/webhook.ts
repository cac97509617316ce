import { safeText } from '../base/errors.ts';
import type { Receiver } from './channel.ts';
import { type Fetch, request } from './http.ts';
import { type Message, SIGNS, defused, plainText } from './message.ts';

/*
 * A webhook gets JSON with `text`, which Slack, Mattermost, Google Chat and Discord (at an address that ends in /slack) show. It
 * gets no other field, because Google Chat refuses fields that it does not know. Microsoft Teams shows only cards.
 */

/** The workflow "Send webhook alerts to a channel". */
const TEAMS = /\.(?:logic\.azure|api\.powerplatform)\.(?:com|us|cn)$/;

/*
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using: a workflow takes a message
 * with one Adaptive Card of at most 28 kB, and answers 202 before it posts. A TextBlock always interprets Markdown; a TextRun does
 * not (https://adaptivecards.io/explorer/TextRun.html).
 */
const teamsCard = ({ level, headline, body, link }: Message): unknown => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        type: 'AdaptiveCard',
        version: '1.4',
        body: [`${SIGNS[level]} ${headline}.`, ...body].map((text) => ({
          type: 'RichTextBlock',
          inlines: [{ type: 'TextRun', text: safeText(defused(text), 2_000) }],
        })),
        ...(link !== null && { actions: [{ type: 'Action.OpenUrl', ...link }] }),
      },
    },
  ],
});

/** The webhook of a chat, or of anything else that takes JSON. `url` usually contains a secret, so only its host is shown (L15). */
export function webhook(setting: string, url: URL, fetch: Fetch): Receiver {
  const isTeams = TEAMS.test(url.hostname);
  return {
    setting,
    name: `${setting} (${url.host})`,
    async send(message, signal) {
      const body = isTeams ? teamsCard(message) : { text: plainText(message) };
      const why = await request(fetch, url, signal, body);
      const problem = why && `Notifications are not delivered: ${why}. Check ${setting}.`;
      return { taken: why === null, problem };
    },
  };
}
