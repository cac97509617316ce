import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/*
 * Receivers that check what the real ones document, over real HTTP. Each reads a post as its service does: what is wrong is
 * refused with the answer that the service gives, and what would call people or be taken for formatting is found.
 */

/** What a service makes of a post. */
export interface Reading {
  /** Why it is refused; undefined: it is taken. */
  readonly refused?: string;
  /** What the service shows as text that people read, all parts after each other. */
  readonly shown: string;
  /** Whom it calls: everybody, a channel, a person. */
  readonly calls: readonly string[];
  /** Marks that the service takes for formatting, except for those that the sender means. */
  readonly formats: readonly string[];
}

/** How a service reads a post, and what it answers. */
export interface Service {
  readonly path: string;
  readonly read: (body: unknown, request: IncomingMessage, bytes: number) => Reading;
  readonly taken: (response: ServerResponse) => void;
  readonly refuse: (response: ServerResponse, why: string) => void;
}

const texts = (value: unknown): string => (typeof value === 'string' ? value : '');
const items = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
const part = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([found]) => found);

const entitiesOf = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** https://docs.slack.dev/reference/block-kit/blocks and /messaging/formatting-message-text */
export const SLACK: Service = {
  path: '/services/T0/B0/S3CRET',
  read(body) {
    const { text, blocks, mrkdwn } = part(body);
    const known = new Set(['text', 'blocks', 'mrkdwn', 'unfurl_links', 'unfurl_media']);
    const strange = Object.keys(part(body)).filter((key) => !known.has(key));
    const list = items(blocks);
    const plain: string[] = [];
    const marked = [mrkdwn === false ? '' : texts(text)];
    // Mentions are read in `text` whatever `mrkdwn` says.
    const mentions = [texts(text)];
    let refused = strange.length > 0 || texts(text) === '' || list.length > 50;
    for (const { type, text: object } of list) {
      const { type: kind, text: content } = part(object);
      const max = type === 'header' ? 150 : 3_000;
      const isKnown = type === 'section' || (type === 'header' && kind === 'plain_text');
      refused ||= !isKnown || texts(content) === '' || texts(content).length > max;
      if (kind === 'plain_text') plain.push(texts(content));
      else marked.push(texts(content));
    }
    mentions.push(...marked);
    const inMarked = marked
      .join('\n')
      .replaceAll(/```[^`]*```/g, (code) => code.replaceAll(/[*_~]/g, ''));
    return {
      ...(refused && { refused: 'invalid_blocks' }),
      shown: [...plain, ...marked.map(entitiesOf)].join('\n'),
      calls: matches(mentions.join('\n'), /<[!@#][^>]*>/g),
      formats: [
        ...matches(inMarked, /(?<![^\s])[*_~][^\s*_~][^*_~\n]*[*_~]/g),
        ...matches(
          mentions.join('\n'),
          /<(?!https:\/\/mirror\.example\.com)[^>]*>|&(?!amp;|lt;|gt;)/g,
        ),
      ],
    };
  },
  taken: (response) => void response.end('ok'),
  refuse: (response, why) => void response.writeHead(400).end(why),
};

/** What Markdown makes of a text: backslashes are taken away, and what was not escaped counts. */
function markdownOf(text: string): { shown: string; bare: string } {
  const fenced = text.replaceAll(/```\n([^`]*)\n```/g, '$1');
  // Marks that the sender means: the bold headline, the bullets, the link to the page, the code.
  const meant = text
    .replaceAll(/```\n[^`]*\n```/g, '')
    .replace(/^(\S+ )\*\*(.*)\*\*$/m, '$1$2')
    .replaceAll(/^- /gm, '')
    .replaceAll('[Status page](https://mirror.example.com)', '');
  return {
    shown: fenced.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1'),
    bare: meant.replaceAll(/\\[!-/:-@[-`{-~]/g, ''),
  };
}

const MARKDOWN = /[*_~`|]|\[[^\]]*\]\(|^#|^>|^\s*[-+] |^\d+[.)] /gm;

/** https://developers.mattermost.com/integrate/webhooks/incoming/ */
export const MATTERMOST: Service = {
  path: '/hooks/xmgc3y3sefbidcrgdh5q4wnwbh',
  read(body) {
    const text = texts(part(body)['text']);
    const { shown, bare } = markdownOf(text);
    return {
      ...((text === '' || text.length > 16_383) && { refused: 'Unable to parse incoming data' }),
      shown,
      calls: matches(text, /@(?:channel|all|here|[a-z][\w.-]*)|<!\w+>/g),
      formats: matches(bare, MARKDOWN),
    };
  },
  taken: (response) => void response.end('ok'),
  refuse: (response, why) => void response.writeHead(400).end(JSON.stringify({ message: why })),
};

/** https://docs.discord.com/developers/resources/webhook and /resources/message#embed-object-embed-limits */
export const DISCORD: Service = {
  path: '/api/webhooks/1234567890/S3CRET-token_x',
  read(body, { url }) {
    const { content, embeds, allowed_mentions: mentions } = part(body);
    const list = items(embeds);
    const descriptions = list.map(({ description }) => texts(description));
    const all = list.flatMap(({ title, description }) => [texts(title), texts(description)]);
    const isTooLong =
      texts(content).length > 2_000 ||
      list.length > 10 ||
      descriptions.some((text) => text.length > 4_096) ||
      list.some(({ title }) => texts(title).length > 256) ||
      all.join('').length > 6_000;
    const isEmpty = texts(content) === '' && descriptions.every((text) => text === '');
    const isWrong = list.some(({ timestamp }) => Number.isNaN(Date.parse(texts(timestamp))));
    const isUnsaved = new URL(url ?? '', 'http://x').searchParams.get('wait') !== 'true';
    const { shown, bare } = markdownOf([texts(content), ...all].join('\n'));
    const parse = part(mentions)['parse'];
    const isAllowed = !Array.isArray(parse) || parse.length > 0;
    return {
      ...((isTooLong || isEmpty || isWrong || isUnsaved) && { refused: 'Invalid Form Body' }),
      shown,
      calls: isAllowed ? matches(texts(content), /@everyone|@here|<[@#][^>]*>/g) : [],
      formats: matches(bare, MARKDOWN),
    };
  },
  taken: (response) =>
    void response.setHeader('content-type', 'application/json').end('{"id":"1"}'),
  refuse: (response, message) =>
    void response.writeHead(400).end(JSON.stringify({ code: 50_035, message })),
};

/** https://adaptivecards.io/explorer/, and what a workflow of Teams takes of a post. */
export const TEAMS: Service = {
  path: '/workflows/0123456789abcdef/triggers/manual/paths/invoke?sig=S3CRET',
  read(body, _request, bytes) {
    const { type, attachments } = part(body);
    const [attachment = {}, ...others] = items(attachments);
    const card = part(attachment['content']);
    const blocks = items(card['body']);
    const inlines = blocks.flatMap(({ inlines: runs }) => items(runs));
    const isCard =
      type === 'message' &&
      others.length === 0 &&
      attachment['contentType'] === 'application/vnd.microsoft.card.adaptive' &&
      card['type'] === 'AdaptiveCard' &&
      /^1\.[0-5]$/.test(texts(card['version'])) &&
      blocks.length > 0 &&
      blocks.every(({ type }) => type === 'RichTextBlock' || type === 'TextBlock') &&
      inlines.every(({ type, text }) => type === 'TextRun' && texts(text) !== '') &&
      items(card['actions']).every(
        ({ type, url }) => type === 'Action.OpenUrl' && URL.canParse(texts(url)),
      );
    const shown = inlines.map(({ text }) => texts(text)).join('\n');
    // A TextBlock reads Markdown, a TextRun does not.
    const marked = blocks.map(({ text }) => texts(text)).join('\n');
    return {
      ...((!isCard || bytes > 28 * 1_024) && { refused: 'BadRequest' }),
      shown,
      calls: matches(shown, /<at>.*?<\/at>/g),
      formats: [...matches(marked, MARKDOWN), ...matches(shown, /\{\{[^}]*\}\}/g)],
    };
  },
  taken: (response) => void response.writeHead(202).end(),
  refuse: (response, code) => void response.writeHead(400).end(JSON.stringify({ error: { code } })),
};

/** https://developers.google.com/workspace/chat/format-messages */
export const GOOGLE_CHAT: Service = {
  path: '/v1/spaces/AAAA/messages?key=k&token=S3CRET',
  read(body, { url }, bytes) {
    const { text, cardsV2, thread, ...rest } = part(body);
    const { searchParams } = new URL(url ?? '', 'http://x');
    const widgets = items(cardsV2).flatMap(({ card }) =>
      items(part(card)['sections']).flatMap(({ widgets }) => items(widgets)),
    );
    const paragraphs = widgets.map(({ textParagraph }) => texts(part(textParagraph)['text']));
    const threadKey = texts(part(thread)['threadKey']);
    const isWrong =
      Object.keys(rest).length > 0 ||
      (texts(text) === '' && widgets.length === 0) ||
      texts(text).length > 4_096 ||
      bytes > 32_000 ||
      threadKey === '' ||
      threadKey.length > 4_000 ||
      searchParams.get('messageReplyOption') !== 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD' ||
      searchParams.get('token') !== 'S3CRET';
    const html = paragraphs.join('\n').replaceAll('<br>', '\n');
    return {
      ...(isWrong && { refused: 'INVALID_ARGUMENT' }),
      shown: [texts(text), entitiesOf(html)].join('\n'),
      calls: matches(`${texts(text)}\n${html}`, /<users\/[^>]*>|@(?:all|here|channel)/g),
      formats: [
        ...matches(texts(text), /(?<![^\s])[*_~`][^\s*_~`\u200B][^*_~`\n]*[*_~`]|<[^>]*>/g),
        ...matches(html, /<[^>]*>|&(?!amp;|lt;|gt;)/g),
      ],
    };
  },
  taken: (response) =>
    void response
      .setHeader('content-type', 'application/json')
      .end('{"name":"spaces/A/messages/B"}'),
  refuse: (response, status) =>
    void response.writeHead(400).end(JSON.stringify({ error: { code: 400, status } })),
};

/** A service that listens. */
export interface Receiver extends AsyncDisposable {
  /** Its address on this machine, with the path of the real one. */
  readonly url: string;
  /** What came, and how it was read. */
  readonly readings: (Reading & { readonly body: unknown })[];
  /** Answers in place of the service, until it is taken away. */
  answer: ((response: ServerResponse) => void) | undefined;
}

/** Starts one on a free port. */
export async function startReceiver(service: Service): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const all = Buffer.concat(chunks);
      const body: unknown = JSON.parse(all.toString('utf8'));
      const isJson = (request.headers['content-type'] ?? '').startsWith('application/json');
      const reading = service.read(body, request, all.length);
      receiver.readings.push({ ...reading, body });
      if (receiver.answer !== undefined) receiver.answer(response);
      else if (!isJson) service.refuse(response, 'invalid_payload');
      else if (reading.refused === undefined) service.taken(response);
      else service.refuse(response, reading.refused);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}${service.path}`,
    readings: [],
    answer: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return receiver;
}
