import { type Setting, plain } from './setting.ts';

/** How people are told; a part of the table of all settings. */
export const ALERT_SETTINGS = {
  STATUS_URL: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'messages hold no link',
    meaning: 'Where people find the status page from where they read: messages lead there.',
    example: 'https://mirror.example.com',
    usedBy: ['start', 'check', 'alert'],
  },
  ALERT_WEBHOOK_URL: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'no webhook is called',
    meaning:
      'Called when something needs a person, and again when it is well: the webhook of Slack, Mattermost, Discord, Microsoft Teams (a workflow) or Google Chat, each of which gets messages of its own kind, or any other address, which gets JSON with a `text`.',
    example: 'https://hooks.example.com/services/forms-mirror',
    secret: true,
    usedBy: ['start', 'check', 'alert'],
  },
  ALERT_EMAIL_TO: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'no mail is sent',
    meaning:
      'Addresses that are written to, with commas between them, when something needs a person and when it is well again. It needs `ALERT_SMTP_URL`.',
    example: 'ops@example.com,jo@example.com',
    usedBy: ['start', 'check', 'alert'],
  },
  ALERT_SMTP_URL: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'required with `ALERT_EMAIL_TO`',
    meaning:
      'The mail server: `smtps://user:password@host` (TLS, port 465), or `smtp://…` (port 587), where STARTTLS is insisted on. Reached directly, never through `HTTPS_PROXY`.',
    example: 'smtps://mirror%40example.com:password@smtp.example.com',
    secret: true,
    usedBy: ['start', 'check', 'alert'],
  },
  ALERT_EMAIL_FROM: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'the user name in `ALERT_SMTP_URL`, where it is an address',
    meaning: 'Who mails come from: an address, or `Name <address>`.',
    example: 'Forms mirror <mirror@example.com>',
    usedBy: ['start', 'check', 'alert'],
  },
  HEARTBEAT_URL: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'none',
    meaning:
      'Called (GET) by `start` once a minute while nothing has failed and alerts are delivered, so that a service elsewhere (healthchecks.io, Uptime Kuma, Cronitor) notices silence.',
    example: 'https://hc-ping.com/your-uuid',
    secret: true,
    usedBy: ['start', 'check', 'alert'],
  },
} as const satisfies Record<string, Setting>;
