import { type Setting, plain } from './setting.ts';

/** How people are told; a part of the table of all settings. */
export const ALERT_SETTINGS = {
  STATUS_URL: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'messages contain no link',
    meaning: 'The public URL of the status page. Messages link to it.',
    example: 'https://mirror.example.com',
    usedBy: ['start', 'check'],
  },
  ALERT_WEBHOOK_URL: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'none',
    meaning:
      'Gets a message when a problem needs a person, and another when it is over: a webhook of Slack, Mattermost, Discord, Microsoft Teams (a workflow) or Google Chat, or any other address that takes JSON.',
    example: 'https://hooks.example.com/services/forms-mirror',
    secret: true,
    usedBy: ['start', 'check'],
  },
  ALERT_EMAIL_TO: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'none',
    meaning:
      'Addresses, separated by commas, that get an e-mail when a problem needs a person and when it is over. Needs `ALERT_SMTP_URL`.',
    example: 'ops@example.com,jo@example.com',
    usedBy: ['start', 'check'],
  },
  ALERT_SMTP_URL: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'required with `ALERT_EMAIL_TO` and `NOTIFY_NEW_EMAIL_TO`',
    meaning:
      'The mail server: `smtps://user:password@host` (TLS, port 465), or `smtp://…` (port 587, STARTTLS required). Never reached through `HTTPS_PROXY`.',
    example: 'smtps://mirror%40example.com:password@smtp.example.com',
    secret: true,
    usedBy: ['start', 'check'],
  },
  ALERT_EMAIL_FROM: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'the user name in `ALERT_SMTP_URL`, if it is an address',
    meaning: 'The sender of e-mails: an address, or `Name <address>`.',
    example: 'Forms mirror <mirror@example.com>',
    usedBy: ['start', 'check'],
  },
  NOTIFY_NEW_URL: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'none',
    meaning:
      'Gets a message when new answers to a form have been copied: how many, never what they say. A webhook, as `ALERT_WEBHOOK_URL`.',
    example: 'https://hooks.example.com/services/new-answers',
    secret: true,
    usedBy: ['start', 'check'],
  },
  NOTIFY_NEW_EMAIL_TO: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'none',
    meaning:
      'Addresses, separated by commas, that get the same message as an e-mail. Needs `ALERT_SMTP_URL`.',
    example: 'sales@example.com',
    usedBy: ['start', 'check'],
  },
  HEARTBEAT_URL: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'none',
    meaning:
      'Called (GET) by `start` once a minute while nothing has failed and messages are delivered, so that a monitoring service (healthchecks.io, Uptime Kuma, Cronitor) notices silence.',
    example: 'https://hc-ping.com/your-uuid',
    secret: true,
    usedBy: ['start', 'check'],
  },
} as const satisfies Record<string, Setting>;
