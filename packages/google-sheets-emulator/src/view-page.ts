import { randomUUID } from 'node:crypto';
import { htmlReply, type Reply } from '../../../src/sandbox/faults.ts';
import { Calculator } from './calculator.ts';
import type { Sheet } from './sheet.ts';
import type { SpreadsheetFile, SpreadsheetFiles } from './spreadsheet-files.ts';
import { GridView } from './view-grid.ts';
import { VIEW_CSS, VIEW_SCRIPT } from './view-assets.ts';
import { cssColor, escapeHtml } from './view-style.ts';

/** Rows of one page: more would make a browser slow. */
const PAGE_ROWS = 1_000;

const number = new Intl.NumberFormat('en');

function link(file: SpreadsheetFile, sheet: Sheet, top = 0): string {
  const from = top === 0 ? '' : `&amp;top=${top}`;
  return `/view/${encodeURIComponent(file.id)}?gid=${sheet.id}${from}`;
}

function tabs(file: SpreadsheetFile, active: Sheet): string {
  return file.document.sheets
    .filter((sheet) => sheet.properties.hidden !== true)
    .map((sheet) => {
      const color = cssColor(sheet.properties.tabColorStyle?.rgbColor);
      const style = color === undefined ? '' : ` style="--tab:${color}"`;
      const current = sheet === active ? ' aria-current="page"' : '';
      return `<a href="${link(file, sheet)}"${current}${style}>${escapeHtml(sheet.properties.title)}</a>`;
    })
    .join('');
}

function pager(file: SpreadsheetFile, sheet: Sheet, view: GridView): string {
  const { first, last } = view.shownRows;
  const frozen = sheet.properties.frozenRowCount ?? 0;
  const end = Math.max(sheet.contentEnd, last);
  if (first <= frozen + 1 && last >= sheet.contentEnd) return '';
  const back = Math.max(0, first - 1 - PAGE_ROWS);
  const before = first > frozen + 1 ? `<a href="${link(file, sheet, back)}">‹ earlier</a>` : '';
  const after = last < end ? `<a href="${link(file, sheet, last)}">later ›</a>` : '';
  return `<span>rows ${number.format(first)}–${number.format(last)}</span>${before}${after}`;
}

/** The part of the page that refreshes itself: title, grid, tabs. */
function fragment(file: SpreadsheetFile, sheet: Sheet, top: number, nowMs: number): string {
  const calculator = new Calculator(file.document, nowMs);
  const view = new GridView(calculator, sheet, top, PAGE_ROWS);
  const { title, timeZone, locale } = file.document.properties;
  const rows = Math.max(0, sheet.contentEnd - (sheet.properties.frozenRowCount ?? 0));
  return [
    `<header><span class="logo"></span><h1>${escapeHtml(title)}</h1>`,
    `<span class="badge">Google Sheets emulator</span></header>`,
    `<main id="grid">${view.html()}</main>`,
    `<footer><nav>${tabs(file, sheet)}</nav><p>${pager(file, sheet, view)}`,
    `<span>${number.format(rows)} ${rows === 1 ? 'row' : 'rows'}</span>`,
    `<span>${escapeHtml(timeZone)}</span><span>${escapeHtml(locale)}</span></p></footer>`,
  ].join('');
}

function page(file: SpreadsheetFile, body: string): Reply {
  const nonce = randomUUID();
  const reply = htmlReply(
    200,
    [
      '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
      '<meta name="viewport" content="width=device-width,initial-scale=1">',
      `<title>${escapeHtml(file.document.properties.title)}</title>`,
      `<style>${VIEW_CSS}</style></head>`,
      `<body data-revision="${file.revision}"><div id="sheet">${body}</div>`,
      `<script nonce="${nonce}">${VIEW_SCRIPT}</script></body></html>`,
    ].join(''),
  );
  const policy = `default-src 'none'; style-src 'unsafe-inline'; connect-src 'self'; script-src 'nonce-${nonce}'; frame-ancestors 'none'`;
  return {
    ...reply,
    headers: {
      ...reply.headers,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    },
  };
}

/** A plain list of the spreadsheets there are. */
function overview(files: SpreadsheetFiles): Reply {
  const items = files.list().map(({ id, document }) => {
    const title = escapeHtml(document.properties.title);
    return `<li><a href="/view/${encodeURIComponent(id)}">${title}</a></li>`;
  });
  const html = `<!DOCTYPE html><meta charset="utf-8"><title>Spreadsheets</title><h1>Spreadsheets</h1><ul>${items.join('')}</ul>`;
  return htmlReply(200, html);
}

/**
 * `GET /view` lists the spreadsheets, `GET /view/<id>` shows one (`?gid=` selects the tab, `?top=` the first row).
 * With `fragment=1` the response contains only the changing part.
 */
export function viewReply(
  files: SpreadsheetFiles,
  path: string,
  query: URLSearchParams,
  nowMs: number,
): Reply {
  const id = decodeURIComponent(path.replace(/^\/view\/?/, ''));
  if (id === '') return overview(files);
  const file = files.list().find((candidate) => candidate.id === id);
  if (file === undefined)
    return htmlReply(404, '<!DOCTYPE html><title>Not found</title>No such spreadsheet.');
  const gid = query.get('gid');
  const { sheets } = file.document;
  const sheet =
    sheets.find((candidate) => String(candidate.id) === gid) ??
    sheets.find((candidate) => candidate.properties.hidden !== true);
  if (sheet === undefined)
    return htmlReply(404, '<!DOCTYPE html><title>Not found</title>No tab to show.');
  const top = Math.max(0, Math.floor(Number(query.get('top') ?? 0)) || 0);
  const body = fragment(file, sheet, top, nowMs);
  return query.get('fragment') === '1' ? htmlReply(200, body) : page(file, body);
}
