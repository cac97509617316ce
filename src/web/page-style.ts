/** The pages' style: no asset from elsewhere, light and dark, wide and narrow. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #f6f5f2; --card: #fffefc; --line: #e6e3dc; --soft: #f0eee9;
  --ink: #23262b; --quiet: #6a6f78; --link: #2f5fb3;
  --ok: #2a7f4f; --ok-wash: #e4f2e9; --attention: #9a5f00; --attention-wash: #fbf0da;
  --failed: #b3261e; --failed-wash: #fbe7e4; --working: #2f5fb3; --working-wash: #e5edfa;
  --waiting: #6a6f78; --waiting-wash: #eeece7; --ended: #8a8e96; --ended-wash: #eeece7;
  --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161a; --card: #1b1e23; --line: #2b2f37; --soft: #23272e;
    --ink: #e6e7ea; --quiet: #9aa0ab; --link: #8ab4f8;
    --ok: #6fcf97; --ok-wash: #1b3226; --attention: #f0b95a; --attention-wash: #382b14;
    --failed: #ff8f86; --failed-wash: #40201e; --working: #8ab4f8; --working-wash: #1d2b45;
    --waiting: #9aa0ab; --waiting-wash: #272b32; --ended: #7d838e; --ended-wash: #272b32;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
.sheet { max-width: 1120px; margin: 0 auto; padding: 0 24px 48px; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 4px; }
h1, h2, h3, p { margin: 0; }
.quiet { color: var(--quiet); }
.small { font-size: 13px; }
code { font: 13px/1.5 var(--mono); }

.top { display: flex; align-items: center; justify-content: space-between; gap: 16px; padding: 20px 0; }
.brand { display: flex; align-items: center; gap: 10px; color: var(--ink); font-weight: 600; }
.brand svg { width: 22px; height: 22px; }
.top .small { text-align: right; }
#lost { display: none; color: var(--failed); }
.lost #lost { display: inline; }
.lost #fresh { display: none; }

.hero { display: flex; align-items: center; gap: 18px; padding: 20px 0 28px; }
.hero h1 { font-size: 26px; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; }
.hero p { margin-top: 4px; }
.medal { flex: none; display: grid; place-items: center; width: 56px; height: 56px; border-radius: 50%; background: var(--wash); color: var(--tone); }
.medal svg { width: 30px; height: 30px; }

.ok { --tone: var(--ok); --wash: var(--ok-wash); }
.attention { --tone: var(--attention); --wash: var(--attention-wash); }
.failed { --tone: var(--failed); --wash: var(--failed-wash); }
.working { --tone: var(--working); --wash: var(--working-wash); }
.waiting, .paused { --tone: var(--waiting); --wash: var(--waiting-wash); }
.ended { --tone: var(--ended); --wash: var(--ended-wash); }

.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; margin-bottom: 24px; overflow: hidden; }
.card > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 12px; padding: 16px 20px 12px; }
.card > header h2 { font-size: 16px; font-weight: 650; }
.card > header .small { flex: 1 1 12em; }
.card > header .right { flex: none; margin-left: auto; }

.problem { display: flex; gap: 12px; padding: 12px 16px; border-radius: 10px; background: var(--wash); }
.problem > svg { flex: none; width: 18px; height: 18px; margin-top: 2px; color: var(--tone); }
.problem h3 { display: inline; font-size: 14px; font-weight: 650; color: var(--tone); }
.problem .code { font: 11px/1.5 var(--mono); color: var(--quiet); margin-left: 6px; }
.problem p { font-size: 14px; margin-top: 2px; }
.command { display: block; margin-top: 8px; padding: 8px 12px; border-radius: 8px; background: var(--card); border: 1px solid var(--line); user-select: all; white-space: pre; overflow-x: auto; }
.problem > div { min-width: 0; }
.wide { margin-bottom: 16px; padding: 16px 20px; border-radius: 14px; }
.card > .problem { margin: 0 20px 12px; }

table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-size: 12px; font-weight: 500; color: var(--quiet); padding: 4px 12px 8px; white-space: nowrap; }
td { padding: 11px 12px; border-top: 1px solid var(--line); vertical-align: top; }
.forms { table-layout: fixed; } .forms th { white-space: normal; vertical-align: bottom; }
.w-form { width: 25%; } .w-state { width: 20%; } .w-pass { width: 14%; } .w-proven { width: 12.5%; } .w-next { width: 8%; }
th:first-child, td:first-child { padding-left: 20px; }
th:last-child, td:last-child { padding-right: 20px; }
th.number, td.number { text-align: right; white-space: nowrap; }
.forms td.time { white-space: nowrap; }
tbody + tbody td, tbody tr:first-child td { border-top: 1px solid var(--line); }
tr.why td { border-top: 0 !important; padding-top: 0; padding-bottom: 14px; }
tr.why .problem + .problem { margin-top: 8px; }
td .name { font-weight: 600; color: var(--ink); }
td .name:hover { color: var(--link); }
.state { display: inline-flex; align-items: center; gap: 7px; color: var(--tone); font-weight: 550; }
.state svg { width: 16px; height: 16px; flex: none; }
.act p { margin: 0 0 10px; }
.act button { font: inherit; font-weight: 600; padding: 6px 14px; margin-right: 10px; border-radius: 6px; border: 1px solid currentColor; background: none; color: inherit; cursor: pointer; }
.act input { font: inherit; padding: 5px 8px; max-width: 100%; margin-top: 4px; }
tbody.ended td, tbody.ended .name { color: var(--quiet); }
.note { display: inline-block; margin: 3px 6px 0 0; padding: 0 8px; border-radius: 999px; background: var(--soft); color: var(--quiet); font-size: 12px; line-height: 20px; white-space: nowrap; }
a.note { background: var(--attention-wash); color: var(--attention); }
progress { display: block; width: 100%; max-width: 150px; height: 5px; margin-top: 6px; border: 0; border-radius: 3px; background: var(--soft); appearance: none; overflow: hidden; }
progress::-webkit-progress-bar { background: var(--soft); }
progress::-webkit-progress-value { background: var(--working); border-radius: 3px; }
progress::-moz-progress-bar { background: var(--working); border-radius: 3px; }

.empty { padding: 36px 24px 40px; text-align: center; }
.empty h2 { font-size: 18px; font-weight: 650; }
.empty p { max-width: 34em; margin: 8px auto 0; color: var(--quiet); }
.empty .command { display: inline-block; }

.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: 14px 20px; margin: 0; padding: 4px 20px 18px; }
.facts dt { font-size: 12px; color: var(--quiet); }
.facts dd { margin: 0; font-weight: 550; }
.facts .long { grid-column: 1 / -1; }
.facts .long dd { font-weight: 400; }
.strip { display: block; width: 100%; height: 34px; padding: 0 20px; margin-bottom: 14px; }
.strip rect { fill: var(--tone); }
details > summary { padding: 10px 20px 14px; cursor: pointer; color: var(--link); font-size: 14px; }
.part { padding: 14px 20px 6px; border-top: 1px solid var(--line); font-size: 14px; font-weight: 650; }
.part .quiet { font-weight: 400; }
.list { font-size: 14px; }
.list td { padding-top: 6px; padding-bottom: 6px; }
.list .state { color: inherit; font-weight: 400; }
.list .state svg { color: var(--tone); }
.list td.zero { color: var(--quiet); opacity: .65; }
.id { font: 13px/1.5 var(--mono); }

footer { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 4px 24px; color: var(--quiet); font-size: 13px; }

@media (max-width: 720px) {
  .sheet { padding: 0 14px 32px; }
  .top { padding: 14px 0; }
  .hero { padding: 10px 0 20px; gap: 14px; }
  .hero h1 { font-size: 21px; }
  .medal { width: 46px; height: 46px; }
  .medal svg { width: 24px; height: 24px; }
  .card { border-radius: 12px; }
  .card > header, .facts { padding-left: 16px; padding-right: 16px; }
  .card > .problem { margin: 0 16px 12px; }
  .facts { grid-template-columns: 1fr 1fr; }
  .forms thead, .list thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .forms, .forms tbody, .list, .list tbody { display: block; }
  .forms tr, .list tr { display: grid; grid-template-columns: repeat(3, 1fr); gap: 8px 12px; padding: 14px 16px; border-top: 1px solid var(--line); }
  .forms tr.why, .list tr.why { display: block; border-top: 0; padding: 0 16px 14px; }
  .forms td, .list td { display: block; padding: 0 !important; border: 0 !important; text-align: left !important; white-space: normal !important; font-size: 14px; }
  .forms td[data-label]::before, .list td[data-label]::before { content: attr(data-label); display: block; font-size: 11px; color: var(--quiet); opacity: 1; }
  .forms td:first-child { grid-column: 1 / -1; font-size: 15px; }
  .forms td:nth-child(2) { grid-column: 1 / 3; font-size: 15px; }
  .list td.full { grid-column: 1 / -1; }
  .list td.zero { display: none; }
  .card > header .small:not(.right) { flex-basis: 100%; }
  .strip, .part, details > summary { padding-left: 16px; padding-right: 16px; }
  .empty { padding: 28px 18px; }
}
@media (prefers-reduced-motion: no-preference) {
  .turning { transform-origin: 50% 50%; animation: turn 2.4s linear infinite; }
  @keyframes turn { to { transform: rotate(1turn); } }
}
@media print { body { background: none; } .card { break-inside: avoid; } }
`;
