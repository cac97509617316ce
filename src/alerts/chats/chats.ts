import { alertMessage } from '../message.ts';
import type { Chat } from './chat.ts';
import { discord } from './discord.ts';
import { googleChat } from './google-chat.ts';
import { mattermost } from './mattermost.ts';
import { slack } from './slack.ts';
import { teams } from './teams.ts';

/** What is no chat that we know: JSON of our own, of which `text` alone says it all. */
const plainJson: Chat = {
  name: 'plain JSON',
  owns: () => true,
  payload: alertMessage,
};

const CHATS: readonly Chat[] = [slack, discord, teams, googleChat, mattermost, plainJson];

/** The chat that an address belongs to, by its host and path. */
export function chatOf(address: string): Chat {
  const url = new URL(address);
  return CHATS.find((chat) => chat.owns(url)) ?? plainJson;
}
