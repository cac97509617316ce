import { Html, html } from './html.ts';
import type { HealthState } from '../mirror/health-text.ts';
import { BRAND_ICON, ICON_SHEET, favicon } from './page-icons.ts';
import { PAGE_STYLE } from './page-style.ts';
import { exact } from '../base/format.ts';

/** What every page is made of. */
export interface PageParts {
  readonly title: string;
  /** Colours the dot in the browser's tab. */
  readonly state: HealthState;
  readonly at: string;
  readonly main: Html;
  readonly footer: Html;
  /** A person may be typing: it is not brought up to date. */
  readonly isStill?: boolean;
  /** Of this answer's Content-Security-Policy. */
  readonly nonces: { readonly script: string; readonly style: string };
}

const REFRESH_SECONDS = 10;

/**
 * Updates the page in place while it is visible, nothing is selected and nothing is typed, and keeps unfolded parts open and
 * the focus where it is; says so when that fails. Without JavaScript the page reloads itself.
 */
const REFRESH_SCRIPT = `
const open = () => [...document.querySelectorAll('details[open]')].map((one) => one.id);
const named = (one) =>
  one.id ? '#' + CSS.escape(one.id)
  : one.matches('summary') && one.parentElement.id ? '#' + CSS.escape(one.parentElement.id) + '>summary'
  : one.matches('main a') ? 'main a[href="' + CSS.escape(one.getAttribute('href')) + '"]' : null;
const busy = () => document.hidden || String(getSelection()) || (document.activeElement?.matches('input') && document.activeElement.value !== document.activeElement.defaultValue);
const refresh = async () => {
  if (busy()) return;
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' }, signal: AbortSignal.timeout(8000) });
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (busy()) return;
    const unfolded = open();
    const focused = named(document.activeElement);
    document.title = page.title;
    for (const part of ['main', '#fresh', 'link[rel=icon]', 'footer']) {
      const [old, fresh] = [document.querySelector(part), page.querySelector(part)];
      if (old && fresh && old.outerHTML !== fresh.outerHTML) old.replaceWith(fresh);
    }
    if (focused && document.activeElement === document.body) document.querySelector(focused)?.focus({ preventScroll: true });
    for (const id of unfolded) document.getElementById(id)?.setAttribute('open', '');
    document.body.classList.remove('lost');
  } catch {
    document.body.classList.add('lost');
  }
};
setInterval(refresh, ${REFRESH_SECONDS * 1_000});
document.addEventListener('visibilitychange', refresh);
`;

/** A whole page. */
export function pageFrame(parts: PageParts): Html {
  const { title, state, at, main, footer, nonces, isStill = false } = parts;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="icon" href="${favicon(state)}" />
        ${!isStill && html`<noscript><meta http-equiv="refresh" content="${REFRESH_SECONDS * 3}" /></noscript>`}
        <style nonce="${nonces.style}">
          ${new Html(PAGE_STYLE)}
        </style>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        ${ICON_SHEET}
        <div class="sheet">
          <header class="top">
            <a class="brand" href="/">${BRAND_ICON} forms-mirror</a>
            <span class="small quiet"
              ><span id="fresh">As of <time datetime="${at}">${exact(at)}</time></span
              ><span id="lost" role="status"
                >The mirror does not answer. What you see may be old.</span
              ></span
            >
          </header>
          ${main} ${footer}
        </div>
        ${
          !isStill &&
          html`<script nonce="${nonces.script}">
            ${new Html(REFRESH_SCRIPT)};
          </script>`
        }
      </body>
    </html> `;
}
