/*
 * The pages' one style sheet. It loads nothing from elsewhere, and covers light and dark, wide and narrow. The accessibility test
 * checks the contrast of all text.
 */

/** The style of every page. A state has a text color and a background color. */
export const STYLE = `
:root {
  color-scheme: light dark; --mono: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
  --paper: light-dark(#f6f5f2, #14161a);
  --card: light-dark(#fffefc, #1b1e23);
  --soft: light-dark(#f0eee9, #262a32);
  --line: light-dark(#e3e0d8, #2f343d);
  --edge: light-dark(#85888f, #757b87);
  --ink: light-dark(#23262b, #e6e7ea);
  --quiet: light-dark(#5a5f68, #a3a9b4);
  --quiet-wash: light-dark(#eeece7, #272b32);
  --link: light-dark(#2a57a5, #8ab4f8);
  --link-wash: light-dark(#e5edfa, #1d2b45);
  --ok: light-dark(#1f6a40, #6fcf97);
  --ok-wash: light-dark(#e4f2e9, #1b3226);
  --attention: light-dark(#824f00, #f0b95a);
  --attention-wash: light-dark(#fbf0da, #382b14);
  --failed: light-dark(#b3261e, #ff9a92);
  --failed-wash: light-dark(#fbe7e4, #40201e);
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 1200px; padding: 0 24px 48px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; -webkit-text-size-adjust: 100%;
}
h1, h2, h3, p, ul, dl, dd { margin: 0; padding: 0; }
h1 { font-size: 25px; line-height: 1.25; text-wrap: balance; }
h2 { font-size: 16px; }
h3 { font-size: 14px; padding: 14px 20px 6px; border-top: 1px solid var(--line); }
ul { list-style: none; }
a { color: var(--link); text-underline-offset: 2px; }
code, .id { font: 13px/1.5 var(--mono); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
.quiet { color: var(--quiet); }
.small, .fact { font-size: 13px; }
.fact { display: block; color: var(--quiet); text-wrap: pretty; }
a.fact { color: var(--link); }
.skip { position: absolute; left: 8px; top: -60px; padding: 8px 14px; background: var(--card); }
.skip:focus { top: 8px; }

.top, .hero, .plant, footer, .card > header { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; }
.top, footer { justify-content: space-between; }
.top { padding: 18px 0; }
.brand { color: var(--ink); font-weight: 650; text-decoration: none; }
#lost, .lost #fresh { display: none; }
.lost #lost { display: inline; color: var(--failed); }
.hero { padding: 12px 0 22px; }
.actions { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
.hero > .lead { flex: 1 1 300px; min-width: 0; }
.hero > .actions { flex-basis: 100%; }
footer { color: var(--quiet); font-size: 13px; }

.ok { --tone: var(--ok); --wash: var(--ok-wash); }
.attention { --tone: var(--attention); --wash: var(--attention-wash); }
.failed { --tone: var(--failed); --wash: var(--failed-wash); }
.working { --tone: var(--link); --wash: var(--link-wash); }
.waiting, .paused, .ended { --tone: var(--quiet); --wash: var(--quiet-wash); }
.state { color: var(--tone); font-weight: 600; }
i { display: inline-grid; place-items: center; flex: none; width: 20px; height: 20px; border-radius: 50%; font: 700 12px/1 var(--mono); color: var(--tone); background: var(--wash); }
.hero > i { width: 52px; height: 52px; font-size: 26px; }

.card, .plant { background: var(--card); border-radius: 12px; }
.card, .plant, main > .problem { border: 1px solid var(--line); margin-bottom: 20px; }
.card > header { padding: 14px 20px 10px; }
.card > header .state { margin-left: auto; }
.plant { padding: 10px 20px; gap: 4px 28px; font-size: 14px; }
.plant b { font-weight: 500; color: var(--quiet); margin-right: 6px; }
.empty { padding: 32px 24px; text-align: center; }
.empty p { color: var(--quiet); margin-top: 8px; }

.problem { display: flex; gap: 12px; padding: 12px 16px; border-radius: 8px; background: var(--wash); font-size: 14px; }
.problem > div { min-width: 0; }
.problem b { color: var(--tone); }
.problem .id { font-size: 11px; color: var(--quiet); }
.problem i { background: none; }
.problem p { margin-top: 6px; }
.card > .problem { margin: 0 20px 12px; }
.copy { user-select: all; }

button { font: inherit; font-size: 14px; color: var(--ink); background: var(--card); border: 1px solid var(--edge); border-radius: 8px; padding: 4px 12px; font-weight: 550; cursor: pointer; }
button:hover { background: var(--soft); }
.problem button { margin-top: 8px; }
table button { font-size: 12px; padding: 0 8px; min-height: 24px; }
th .actions { margin-top: 4px; }

.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 14px; }
caption { text-align: left; padding: 0 20px 8px; font-size: 13px; color: var(--quiet); }
th { text-align: left; font-weight: inherit; }
thead th { font-size: 12px; color: var(--quiet); padding: 4px 12px 8px; vertical-align: top; }
thead b { font-size: 14px; color: var(--ink); }
td, tbody th { padding: 7px 12px; border-top: 1px solid var(--line); vertical-align: top; }
tr > :first-child { padding-left: 20px; }
tr > :last-child { padding-right: 20px; }
.number { text-align: right; }
.note td { border: 0; padding-top: 0; color: var(--quiet); font-size: 13px; }
.matrix { table-layout: fixed; min-width: calc(240px + 230px * var(--targets, 1)); }
.t2 { --targets: 2; } .t3 { --targets: 3; } .t4 { --targets: 4; } .t5 { --targets: 5; } .t6 { --targets: 6; }
.matrix thead th:first-child { width: 30%; }
.matrix td, .matrix tbody th { padding-top: 12px; padding-bottom: 12px; }
.name { font-weight: 600; color: var(--ink); text-decoration: none; }
.name:hover { color: var(--link); text-decoration: underline; }
progress { display: block; width: 180px; max-width: 100%; height: 6px; accent-color: var(--link); }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(190px, 1fr)); gap: 12px 20px; padding: 4px 20px 16px; }
.facts dt { font-size: 12px; color: var(--quiet); }
.facts dd { font-weight: 550; }

@media (max-width: 760px) {
  body { padding: 0 14px 32px; }
  h1 { font-size: 19px; }
  .hero { padding: 0 0 16px; gap: 12px; align-items: start; }
  .hero > .lead { flex-basis: 0; }
  .hero > i { width: 36px; height: 36px; font-size: 18px; }
  .plant { display: grid; }
  .facts { grid-template-columns: 1fr 1fr; }
  .card > header .state { margin-left: 0; }
  .matrix { min-width: 0; }
  .matrix thead th:first-child, thead:not(.matrix > thead) { display: none; }
  table, caption, tbody, thead, td, th { display: block; }
  tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 6px 12px; padding: 12px 20px; border-top: 1px solid var(--line); }
  .matrix thead th { padding-bottom: 8px; }
  .matrix tr, .note { grid-template-columns: minmax(0, 1fr); }
  .note { border: 0; padding-top: 0; }
  td, th, thead th, tr > :first-child, tr > :last-child, .matrix td, .matrix tbody th { padding: 0; border: 0; text-align: left; }
  td[data-label]::before { content: attr(data-label); display: block; font-size: 12px; color: var(--quiet); }
  tbody th { grid-column: 1 / -1; }
  .number { text-align: left; }
}
@media print { .actions, .skip { display: none; } }
`;
