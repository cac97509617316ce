import { clean, fitted, fittedLines } from '../fitting.ts';
import { SIGNS } from '../message.ts';
import type { Notice } from '../notice.ts';

/**
 * A text that Markdown shows as it is, and that mentions nobody: every ASCII punctuation mark may have a backslash
 * (https://spec.commonmark.org/0.31.2/#backslash-escapes); an at sign is parted from the name behind it.
 */
export const markdown = (text: string): string =>
  clean(text)
    .replaceAll(/[\\`*_{}[\]()#|~<>:&]/g, String.raw`\$&`)
    .replaceAll('@', '@\u200B')
    .replace(/^(\s*)([-+=])/, String.raw`$1\$2`)
    .replace(/^(\s*\d+)([.)])/, String.raw`$1\$2`);

/** How long the parts of a message may be. */
export interface MarkdownLimits {
  readonly headline: number;
  readonly body: number;
  readonly lines: number;
  readonly remedy: number;
}

/** The headline in bold, with its sign. */
export const boldHeadline = ({ level, headline }: Notice, max: number): string =>
  `${SIGNS[level]} **${fitted(headline, max, markdown)}**`;

/** What comes below the headline, part by part. */
export function markdownParts(notice: Notice, limits: MarkdownLimits): string[] {
  const { body, lines, remedy, command, link } = notice;
  const list = fittedLines(lines, limits.lines, (line) => `- ${markdown(line)}`);
  const parts = [
    fitted(body, limits.body, markdown),
    list,
    remedy === null ? '' : fitted(remedy, limits.remedy, markdown),
    command === null ? '' : fencedCode(command, limits.remedy),
    link === null ? '' : `[Status page](${link})`,
  ];
  return parts.filter((part) => part !== '');
}

/** Nothing in code is markup but what ends it; whom it calls is looked for there, too. */
const fencedCode = (text: string, max: number): string =>
  `\`\`\`\n${fitted(text, max, inCode)}\n\`\`\``;

const inCode = (text: string): string =>
  clean(text).replaceAll('`', "'").replaceAll('@', '@\u200B').replaceAll('<!', '<\u200B!');
