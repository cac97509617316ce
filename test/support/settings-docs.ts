import {
  exampleLine,
  SETTING_NAMES,
  type SettingName,
  settingOf,
  variableOf,
} from '../../src/settings/settings-table.ts';

const GROUPS: { readonly group: string; readonly names: SettingName[] }[] = [];
for (const name of SETTING_NAMES) {
  const { heading } = settingOf(name);
  if (heading !== undefined) GROUPS.push({ group: heading, names: [] });
  GROUPS.at(-1)?.names.push(name);
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** The settings as README shows them: a table for each group. */
export function settingsMarkdown(): string {
  return GROUPS.map(({ group, names: inGroup }) => {
    const rows = inGroup.map((name) => {
      const { default: preset, whenUnset, meaning, secret } = settingOf(name);
      const names = `\`${name}\`${secret ? `, or \`${name}_FILE\`` : ''}`;
      const unset = preset === undefined ? (whenUnset ?? 'none') : `\`${preset}\``;
      return `| ${names} | ${cell(unset)} | ${cell(meaning)} |`;
    });
    return [`**${group}**`, '', '| name | default | meaning |', '|---|---|---|', ...rows].join(
      '\n',
    );
  }).join('\n\n');
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || `${line} ${word}`.length > 100) lines.push(`# ${word}`);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

function envEntry(name: SettingName): string[] {
  const { default: preset, whenUnset, meaning, secret } = settingOf(name);
  const plain = (text: string): string => text.replaceAll('`', '');
  const notes = [
    preset === undefined ? `Default: ${plain(whenUnset ?? 'none')}.` : `Default: ${preset}.`,
    ...(secret ? [`Or ${name}_FILE, a file that holds it.`] : []),
    ...(variableOf(name, 'x') !== name ? [`Per target: ${variableOf(name, '<name>')}.`] : []),
  ];
  return [plain(meaning), notes.join(' ')]
    .flatMap(wrapped)
    .concat(`#${exampleLine(name, name)}`, '');
}

/** `.env.example`: every setting, commented out, so that a copy of it changes nothing. */
export function settingsDotEnv(): string {
  const head = [
    '# Copy this file to .env, and remove the # in front of each setting that you set. The environment wins over .env.',
    '# Generated from src/settings/settings-table.ts: change it there, then run npm run docs.',
    '',
  ];
  const groups = GROUPS.map(envGroup);
  return `${[...head, ...groups].join('\n').trimEnd()}\n`;
}

function envGroup({ group, names }: (typeof GROUPS)[number]): string {
  const rule = `# --- ${group} ${'-'.repeat(80 - group.length)}`;
  return [rule, '', ...names.flatMap(envEntry)].join('\n');
}
