import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [process.env['CHROMIUM'] ?? '', '/usr/bin/chromium', '/usr/bin/google-chrome'];

/** The path of Chromium; undefined if it is not installed. */
export const chromiumPath: string | undefined = PLACES.find(
  (place) => place !== '' && existsSync(place),
);

if (chromiumPath === undefined)
  process.stderr.write('skipped: no Chromium found, set CHROMIUM to its path\n');

/** Starts it. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
