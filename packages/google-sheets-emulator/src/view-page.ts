import { htmlReply, type Reply } from '../../../src/sandbox/reply.ts';
import { Calculator } from './calculator.ts';
import type { Sheet } from './sheet.ts';
import type { SpreadsheetFile, SpreadsheetFiles } from './spreadsheet-files.ts';
import { gridHtml } from './view-grid.ts';
import { VIEW_CSS } from './view-assets.ts';
import { escapeHtml } from './view-style.ts';

/** Rows of one page: more would make a browser slow. */
const PAGE_ROWS = 1_000;
/** The part of the empty grid that is shown below the used cells, so that it looks like a sheet. */
const [SPARE_ROWS, LEAST_ROWS] = [20, 40];

/** Seconds until the page loads itself again. */
const REFRESH_S = 3;

const number = new Intl.NumberFormat('en');

function link(file: SpreadsheetFile, sheet: Sheet, top = 0): string {
  const from = top <= 0 ? '' : `&amp;top=${top}`;
  return `/view/${encodeURIComponent(file.id)}?gid=${sheet.id}${from}`;
}

function tabs(file: SpreadsheetFile, active: Sheet): string {
  return file.document.sheets
    .filter((sheet) => sheet.properties.hidden !== true)
    .map((sheet) => {
      const current = sheet === active ? ' aria-current="page"' : '';
      return `<a href="${link(file, sheet)}"${current}>${escapeHtml(sheet.properties.title)}</a>`;
    })
    .join('');
}

/** Title, grid and tabs. */
function content(file: SpreadsheetFile, sheet: Sheet, from: number, nowMs: number): string {
  const { title, timeZone } = file.document.properties;
  const frozen = sheet.properties.frozenRowCount ?? 0;
  const top = Math.max(from, frozen);
  const end = Math.min(sheet.rowCount, Math.max(sheet.contentEnd + SPARE_ROWS, LEAST_ROWS));
  const bottom = Math.min(end, top + PAGE_ROWS);
  const before =
    top > frozen ? `<a href="${link(file, sheet, top - PAGE_ROWS)}">‹ earlier</a>` : '';
  const after = bottom < end ? `<a href="${link(file, sheet, bottom)}">later ›</a>` : '';
  const rows = Math.max(0, sheet.contentEnd - frozen);
  return [
    `<header><span class="logo"></span><h1>${escapeHtml(title)}</h1>`,
    `<span class="badge">Google Sheets emulator</span></header>`,
    `<main id="grid">${gridHtml(new Calculator(file.document, nowMs), sheet, top, bottom)}</main>`,
    `<footer><nav>${tabs(file, sheet)}</nav><p>${before}${after}`,
    `<span>${number.format(rows)} ${rows === 1 ? 'row' : 'rows'}</span>`,
    `<span>${escapeHtml(timeZone)}</span></p></footer>`,
  ].join('');
}

function page(file: SpreadsheetFile, body: string): Reply {
  const reply = htmlReply(
    200,
    [
      '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
      '<meta name="viewport" content="width=device-width,initial-scale=1">',
      `<meta http-equiv="refresh" content="${REFRESH_S}">`,
      `<title>${escapeHtml(file.document.properties.title)}</title>`,
      `<style>${VIEW_CSS}</style></head>`,
      `<body><div id="sheet">${body}</div></body></html>`,
    ].join(''),
  );
  const policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
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

/** A plain list of the existing spreadsheets. */
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
  return page(file, content(file, sheet, top, nowMs));
}
