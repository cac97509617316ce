import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Alert } from '../../src/alerts/alert-state.ts';
import type { Chat } from '../../src/alerts/chats/chat.ts';
import { chatOf } from '../../src/alerts/chats/chats.ts';
import { type Notice, alertNotice, testNotice } from '../../src/alerts/notice.ts';
import { Webhook } from '../../src/alerts/webhook.ts';
import { systemClock } from '../../src/base/clock.ts';
import { NOW } from '../health/fake-source.ts';
import { propertyRuns } from '../support/property.ts';
import * as services from './chat-receivers.ts';

const PAGE = 'https://mirror.example.com';

/** Each chat by an address of its own, and who stands in for it. */
const CHATS = [
  ['Slack', 'https://hooks.slack.com/services/T0/B0/x', services.SLACK],
  ['Mattermost', 'https://chat.example.com/hooks/xmgc3y3sefbidcrgdh5q4wnwbh', services.MATTERMOST],
  ['Discord', 'https://discord.com/api/webhooks/1234567890/S3CRET-token_x', services.DISCORD],
  [
    'Microsoft Teams',
    'https://prod-12.westeurope.logic.azure.com:443/workflows/0a/triggers/manual/paths/invoke?sig=x',
    services.TEAMS,
  ],
  [
    'Google Chat',
    'https://chat.googleapis.com/v1/spaces/AAAA/messages?key=k&token=t',
    services.GOOGLE_CHAT,
  ],
] as const;

/** Names that people give forms, and texts of servers, that a chat could take for more than text. */
const NASTY = [
  '<!channel> @everyone @here @channel <@U123> <users/all> <at>Jo</at>',
  '*bold* _thin_ ~gone~ `code` ```block``` **b** __u__ ~~s~~ ||spoiler||',
  '[free](https://evil.example) <https://evil.example|click> # head > quote',
  '- item 1. first & &amp; &lt;b&gt; <b>html</b> {{DATE(2026-01-01,SHORT)}}',
  'a\nb\r\n\u2028c\u202Etxt\u0000 \\ \\* \ud800',
];

function alert(name: string, message: string, changes: Partial<Alert> = {}): Alert {
  return {
    status: 'firing',
    key: 'passes\ndb\nfrm_a',
    opens: true,
    forms: 0,
    subject: { form: { id: 'frm_a', name }, target: 'db' },
    problem: {
      level: 'error',
      code: 'TARGET_FULL',
      title: 'The last pass failed',
      message,
      remedy: `Make room: ${message}`,
      command: `forms-mirror sync --full --form '${name}'`,
      since: null,
    },
    atMs: NOW,
    openedAtMs: NOW,
    ...changes,
  };
}

/** Of 200 forms, all with such a name. */
function aboutMany(name: string): Alert {
  const members = Array.from({ length: 200 }, () => {
    const { problem, ...own } = alert(name, '');
    return { ...own, problem: { ...problem, message: `${name} has failed.` } };
  });
  return { ...alert(name, ''), subject: { form: null, target: null }, forms: 200, members };
}

const post = (url: string, chat: Chat, notice: Notice): Promise<string | undefined> =>
  new Webhook({ url, chat, clock: systemClock }).send(notice, new AbortController().signal);

describe.each(CHATS)('%s', (name, address, service) => {
  const chat = chatOf(address);

  it('is known by its address', () => {
    expect(chat.name).toBe(name);
  });

  it('takes a message, which says all that there is to say', async () => {
    await using receiver = await services.startReceiver(service);
    await post(receiver.url, chat, alertNotice(alert('Form A', 'No room left.'), PAGE));
    const [reading] = receiver.readings;
    expect(reading).toMatchObject({ calls: [], formats: [] });
    expect(reading?.refused).toBeUndefined();
    const shown = reading?.shown.replaceAll('\u200B', '') ?? '';
    for (const text of [
      '🔴 ',
      'Form A → db: The last pass failed',
      'No room left.',
      'Make room: No room left.',
      'forms-mirror sync --full --form',
    ]) {
      expect(shown).toContain(text);
    }
    expect(JSON.stringify(reading?.body)).toContain(PAGE);
  });

  it.each(NASTY)('calls nobody and formats nothing of %j', async (text) => {
    await using receiver = await services.startReceiver(service);
    for (const notice of [
      alertNotice(alert(text, text), PAGE),
      alertNotice(aboutMany(text), PAGE),
    ]) {
      await post(receiver.url, chat, notice);
    }
    for (const reading of receiver.readings) {
      expect(reading.refused).toBeUndefined();
      expect(reading).toMatchObject({ calls: [], formats: [] });
    }
    expect(receiver.readings).toHaveLength(2);
  });

  it('takes a test, the end of an alert, and one about 200 forms', async () => {
    await using receiver = await services.startReceiver(service);
    await post(receiver.url, chat, testNotice(NOW));
    await post(receiver.url, chat, alertNotice(alert('Form A', 'x', { status: 'resolved' })));
    await post(receiver.url, chat, alertNotice(aboutMany('Form A'), PAGE));
    const [test, over, many] = receiver.readings.map(({ shown }) => shown);
    expect(test).toContain('Nothing is wrong');
    expect(over).toContain('🟢');
    expect(over).not.toContain('Make room');
    expect(many).toMatch(/… and \d+ more/);
  });

  it('says what is up of a form whose name is longer than a message', async () => {
    await using receiver = await services.startReceiver(service);
    const name = 'L'.repeat(5_000);
    await post(receiver.url, chat, alertNotice(alert(name, 'No room left.')));
    const shown = receiver.readings[0]?.shown ?? '';
    expect(shown).toContain(`${'L'.repeat(139)}… → db: The last pass failed`);
    expect(shown).toContain('No room left.');
  });

  it('is sent nothing that is longer than it takes, in whatever script', async () => {
    await using receiver = await services.startReceiver(service);
    const letter = fc.constantFrom('x', '界', '🏕', '<', '&', '*', '@', '\\', '\n', '"', '{{');
    const text = fc.tuple(letter, fc.nat(6_000)).map(([one, times]) => one.repeat(times));
    await fc.assert(
      fc.asyncProperty(text, text, async (long, other) => {
        const body = `${long}${other}`;
        for (const each of [alert(other, body), alert(body, ''), aboutMany(`f${other}`)]) {
          await post(receiver.url, chat, alertNotice(each, PAGE));
        }
        expect(receiver.readings.splice(0).map(({ refused }) => refused)).toEqual([
          undefined,
          undefined,
          undefined,
        ]);
      }),
      propertyRuns(40),
    );
  });
});

describe('addresses', () => {
  it.each([
    ['https://hooks.slack-gov.com/services/T0/B0/x', 'Slack'],
    ['https://ptb.discord.com/api/v10/webhooks/1/x', 'Discord'],
    ['https://discordapp.com/api/webhooks/1/x', 'Discord'],
    [
      'https://default0a.1b.environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/0a/triggers/manual/paths/invoke?sig=x',
      'Microsoft Teams',
    ],
    ['https://contoso.webhook.office.com/webhookb2/0a/IncomingWebhook/0b/0c', 'Microsoft Teams'],
    ['https://example.com/chat/hooks/xmgc3y3sefbidcrgdh5q4wnwbh', 'Mattermost'],
    // Those take what somebody has chosen: JSON with `text`, as ever.
    ['https://hooks.slack.com/triggers/T0/1/x', 'plain JSON'],
    ['https://hooks.slack.com/workflows/T0/A/1/x', 'plain JSON'],
    ['https://discord.com/api/webhooks/1/x/slack', 'plain JSON'],
    ['https://rocket.example.com/hooks/65f0/abcdef', 'plain JSON'],
    ['https://hooks.slack.com.evil.example/services/T0/B0/x', 'plain JSON'],
    ['https://evil.example/?hooks.slack.com/services/T0/B0/x', 'plain JSON'],
  ])('%s is spoken to as %s', (address, name) => {
    expect(chatOf(address).name).toBe(name);
  });

  it('of connectors that are retired are told so, and others are not', () => {
    const retired = (address: string) => chatOf(address).retired?.(new URL(address));
    expect(retired('https://contoso.webhook.office.com/webhookb2/0a')).toContain('retired');
    expect(retired(CHATS[3][1])).toBeUndefined();
  });
});

describe('what a chat answers', () => {
  const [slack, , discord, teams] = CHATS.map(([, address]) => chatOf(address)) as [
    Chat,
    Chat,
    Chat,
    Chat,
  ];

  /** Posts to one that answers like this, and returns what is said and decided of it; `taken` where it was. */
  async function told(
    chat: Chat,
    service: services.Service,
    answer: services.Receiver['answer'],
  ): Promise<{ why: string; decision: unknown }> {
    await using receiver = await services.startReceiver(service);
    receiver.answer = answer;
    const webhook = new Webhook({ url: receiver.url, chat, clock: systemClock });
    try {
      await webhook.send(testNotice(NOW), new AbortController().signal);
      return { why: 'taken', decision: null };
    } catch (error) {
      return { why: webhook.whyNot(error), decision: webhook.decide(error) };
    }
  }

  it.each([
    [200, 'invalid_payload', 'says invalid_payload', false],
    [200, '<html>Sign in</html>', 'does not say ok', false],
    [410, 'channel_is_archived', 'answers 410 (channel_is_archived)', false],
    [404, 'the key S3CRET is wrong', 'answers 404.', false],
    [500, 'rollup_error', 'answers 500 (rollup_error)', true],
  ])('Slack with %i %j is a failure', async (status, body, why, retry) => {
    const answer = await told(slack, services.SLACK, (response) =>
      response.writeHead(status).end(body),
    );
    expect(answer.why).toContain(why);
    expect(answer.why).not.toContain('S3CRET');
    expect(answer.decision).toMatchObject({ retry });
  });

  it('with 429 is waited for as long as it asks: by Retry-After, or by the body of Discord', async () => {
    const bySlack = await told(slack, services.SLACK, (response) =>
      response.writeHead(429, { 'retry-after': '30' }).end('rate_limited'),
    );
    expect(bySlack.decision).toEqual({ retry: true, serverDelayMs: 30_000 });
    const byDiscord = await told(discord, services.DISCORD, (response) =>
      response
        .writeHead(429, { 'retry-after': '65' })
        .end('{"message":"You are being rate limited.","retry_after":64.57,"global":false}'),
    );
    expect(byDiscord.decision).toEqual({ retry: true, serverDelayMs: 64_570 });
  });

  const FAILED =
    'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error';
  it.each([
    ['1', 'taken', null],
    [`${FAILED} 429 with ContextId tcid=1`, 'passes on that Teams answers 429', { retry: true }],
    [`${FAILED} 403 with ContextId tcid=1`, 'passes on that Teams answers 403', { retry: false }],
  ])('Teams with 200 and %j', async (body, why, decision) => {
    const answer = await told(teams, services.TEAMS, (response) => response.end(body));
    expect(answer.why).toContain(why);
    expect(answer.decision).toEqual(decision);
  });

  it('that never ends is success all the same, as sending it again would be twice', async () => {
    await using receiver = await services.startReceiver(services.SLACK);
    receiver.answer = (response) => {
      response.writeHead(200);
      response.write('o'.repeat(5_000));
    };
    expect(await post(receiver.url, slack, testNotice(NOW))).toBeUndefined();
    expect(receiver.readings).toHaveLength(1);
  });

  it('is one thread in Google Chat for one incident, and another one for the next', () => {
    const chat = chatOf(CHATS[4][1]);
    const threadOf = (each: Alert): unknown =>
      (chat.payload(alertNotice(each)) as { thread: unknown }).thread;
    const first = alert('Form A', 'x');
    expect(threadOf({ ...first, status: 'resolved', atMs: NOW + 9 })).toEqual(threadOf(first));
    expect(threadOf({ ...first, openedAtMs: NOW + 9 })).not.toEqual(threadOf(first));
  });
});
