import { paletteStyle } from './palette.ts';

/** The pages' style: no asset from elsewhere, light and dark, wide and narrow. Colours by name alone: see `palette.ts`. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; ${paletteStyle('light')};
  --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
}
@media (prefers-color-scheme: dark) { :root { ${paletteStyle('dark')} } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
.sheet { max-width: 1200px; margin: 0 auto; padding: 0 24px 48px; }
.skip { position: absolute; left: 8px; top: -60px; padding: 8px 14px; background: var(--card); border-radius: 8px; z-index: 2; }
.skip:focus { top: 8px; }
.icons { position: absolute; width: 0; height: 0; }
.i { flex: none; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
a { color: var(--link); text-underline-offset: 2px; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
h1, h2, h3, p, ul { margin: 0; }
ul { padding: 0; list-style: none; }
.quiet { color: var(--quiet); }
.small { font-size: 13px; }
code { font: 13px/1.5 var(--mono); }

.top { display: flex; align-items: center; justify-content: space-between; gap: 16px; padding: 20px 0; }
.brand { display: flex; align-items: center; gap: 10px; color: var(--ink); font-weight: 600; text-decoration: none; }
.brand svg { width: 22px; height: 22px; }
.top .small { text-align: right; }
#lost { display: none; color: var(--failed); }
.lost #lost { display: inline; }
.lost #fresh { display: none; }

.hero { display: flex; align-items: center; gap: 18px; padding: 16px 0 24px; }
.hero > :nth-child(2) { flex: 1; min-width: 0; }
.hero h1 { font-size: 26px; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; text-wrap: balance; }
.hero p { margin-top: 4px; }
.medal { flex: none; display: grid; place-items: center; width: 56px; height: 56px; border-radius: 50%; background: var(--wash); color: var(--tone); }
.medal svg { width: 30px; height: 30px; }

.ok { --tone: var(--ok); --wash: var(--ok-wash); }
.attention { --tone: var(--attention); --wash: var(--attention-wash); }
.failed { --tone: var(--failed); --wash: var(--failed-wash); }
.working { --tone: var(--working); --wash: var(--working-wash); }
.waiting { --tone: var(--waiting); --wash: var(--waiting-wash); }
.paused { --tone: var(--paused); --wash: var(--paused-wash); }
.ended { --tone: var(--ended); --wash: var(--ended-wash); }

.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; margin-bottom: 24px; }
.card > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 12px; padding: 16px 20px 12px; }
.card > header h2 { font-size: 16px; font-weight: 650; }
.card > header .small { flex: 1 1 12em; }
.card > header .right { flex: none; margin-left: auto; }

.plant { display: flex; flex-wrap: wrap; gap: 6px 28px; padding: 12px 20px; margin-bottom: 24px; background: var(--card); border: 1px solid var(--line); border-radius: 14px; font-size: 14px; }
.plant li { display: flex; gap: 8px; }
.plant b { flex: none; font-weight: 500; color: var(--quiet); }

.problem { display: flex; gap: 12px; padding: 12px 16px; border-radius: 10px; background: var(--wash); }
.problem > svg { width: 18px; height: 18px; margin-top: 2px; color: var(--tone); }
.problem .title { font-size: 14px; font-weight: 650; color: var(--tone); }
.problem .code { font: 11px/1.5 var(--mono); color: var(--quiet); margin-left: 6px; white-space: nowrap; }
.problem p { font-size: 14px; margin-top: 2px; }
.command { display: block; margin-top: 8px; padding: 8px 12px; border-radius: 8px; background: var(--card); border: 1px solid var(--line); user-select: all; white-space: pre-wrap; }
.problem > div { min-width: 0; }
.wide { margin-bottom: 16px; padding: 16px 20px; border-radius: 14px; }
.card > .problem { margin: 0 20px 12px; }

table { width: 100%; border-collapse: collapse; }
caption { text-align: left; padding: 0 20px 8px; font-size: 13px; color: var(--quiet); }
th { text-align: left; font-weight: inherit; vertical-align: top; }
thead th { font-size: 12px; font-weight: 500; color: var(--quiet); padding: 4px 12px 8px; vertical-align: bottom; }
td, tbody th { padding: 11px 12px; border-top: 1px solid var(--line); vertical-align: top; }
tr > :first-child { padding-left: 20px; }
tr > :last-child { padding-right: 20px; }
thead .number, td.number { text-align: right; white-space: nowrap; }
tr.why td { border-top: 0; padding-top: 0; padding-bottom: 14px; }
.problem + .problem { margin-top: 8px; }
.scroll { overflow-x: auto; }
.name { font-weight: 600; color: var(--ink); text-decoration: none; }
.name:hover { text-decoration: underline; }
.name:hover { color: var(--link); }
.state, .sign { display: inline-flex; align-items: center; gap: 7px; color: var(--tone); font-weight: 550; }
.state svg, .sign svg { width: 16px; height: 16px; }
.act p { margin: 0 0 10px; }
.act button { font: inherit; font-weight: 600; padding: 6px 14px; margin-right: 10px; border-radius: 6px; border: 1px solid currentColor; background: none; color: inherit; cursor: pointer; }
.act input { font: inherit; padding: 5px 8px; max-width: 100%; margin-top: 4px; }
.note { display: inline-block; margin: 3px 6px 0 0; padding: 0 8px; border-radius: 999px; background: var(--soft); color: var(--quiet); font-size: 12px; line-height: 20px; white-space: nowrap; }
a.note { background: var(--attention-wash); color: var(--attention); }
progress { display: block; width: 100%; max-width: 180px; height: 5px; margin-top: 6px; border: 0; border-radius: 3px; background: var(--soft); appearance: none; overflow: hidden; }
progress::-webkit-progress-bar { background: var(--soft); }
progress::-webkit-progress-value { background: var(--working); border-radius: 3px; }
progress::-moz-progress-bar { background: var(--working); border-radius: 3px; }

.matrix { table-layout: fixed; min-width: calc(260px + 240px * var(--targets, 1)); }
.t3 { --targets: 3; } .t4 { --targets: 4; } .t5 { --targets: 5; } .t6 { --targets: 6; } .t2 { --targets: 2; }
.matrix thead th { vertical-align: top; }
.matrix thead th:first-child { width: 27%; }
.matrix thead b { color: var(--ink); font-size: 14px; font-weight: 650; }
.matrix td, .matrix .cell { font-size: 14px; }
.matrix .fact { display: block; font-size: 13px; color: var(--quiet); }
.matrix .problem { padding: 10px 12px; margin-top: 8px; }
.none { color: var(--quiet); }
.tools { display: flex; flex-wrap: wrap; align-items: end; gap: 10px 12px; padding: 0 20px 14px; }
.tools-form { display: flex; flex-wrap: wrap; align-items: end; gap: 10px; }
.tools label { font-size: 12px; color: var(--quiet); }
.tools label > * { display: block; margin-top: 2px; }
input, select, button { font: inherit; font-size: 14px; color: var(--ink); background: var(--card); border: 1px solid var(--edge); border-radius: 8px; padding: 5px 10px; height: 34px; }
input { width: 240px; max-width: 100%; }
button { cursor: pointer; font-weight: 550; }
.chips { display: flex; flex-wrap: wrap; gap: 6px; margin-left: auto; }
.chips a { display: inline-flex; align-items: center; gap: 6px; padding: 3px 11px; border-radius: 999px; background: var(--soft); color: var(--ink); font-size: 13px; text-decoration: none; }
.chips a[aria-current] { background: var(--wash, var(--working-wash)); color: var(--tone, var(--working)); font-weight: 600; outline: 1px solid; outline-offset: -1px; }
.chips a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.chips svg { width: 14px; height: 14px; color: var(--tone); }
.pager { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 8px; padding: 12px 20px 16px; border-top: 1px solid var(--line); font-size: 14px; }

.menu { position: relative; display: inline-block; font-size: 13px; }
.menu > summary { padding: 0 9px; line-height: 22px; border-radius: 999px; background: var(--soft); color: var(--quiet); cursor: pointer; list-style: none; }
.menu > summary::-webkit-details-marker { display: none; }
.menu > ul { position: absolute; left: 0; z-index: 1; min-width: 170px; margin-top: 4px; padding: 6px 0; background: var(--card); border: 1px solid var(--edge); border-radius: 10px; }
.menu.end > ul { left: auto; right: 0; }
.menu a { display: block; padding: 5px 14px; text-decoration: none; white-space: nowrap; }
.menu a:hover { background: var(--soft); }

.empty { padding: 36px 24px 40px; text-align: center; }
.empty h1, .empty h2 { font-size: 18px; font-weight: 650; }
.empty p { max-width: 34em; margin: 8px auto 0; color: var(--quiet); }
.empty .command { display: inline-block; }

.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: 14px 20px; margin: 0; padding: 4px 20px 18px; }
.facts dt { font-size: 12px; color: var(--quiet); }
.facts dd { margin: 0; font-weight: 550; }
.facts .long { grid-column: 1 / -1; }
.facts .long dd { font-weight: 400; }
.copy { user-select: all; background: var(--soft); padding: 1px 7px; border-radius: 5px; }
.timeline { display: grid; grid-template-columns: 118px 1fr; gap: 0 12px; margin: 0; padding: 0 20px 14px; }
.timeline figcaption { grid-column: 1 / -1; padding-bottom: 6px; }
.timeline ul { display: grid; grid-template-rows: repeat(3, 1fr); font-size: 12px; line-height: 1.35; color: var(--quiet); }
.timeline li { align-self: end; padding-bottom: 4px; }
.timeline svg { display: block; width: 100%; height: 150px; }
.timeline g { fill: var(--tone); }
.timeline path { stroke: var(--line); vector-effect: non-scaling-stroke; }
.card > details > summary { padding: 10px 20px 14px; cursor: pointer; color: var(--link); font-size: 14px; }
.part { padding: 14px 20px 6px; border-top: 1px solid var(--line); font-size: 14px; font-weight: 650; }
.part .quiet { font-weight: 400; }
.list { font-size: 14px; }
.list td, .list tbody th { padding-top: 6px; padding-bottom: 6px; }
.list .state { color: inherit; font-weight: 400; }
.list .state svg { color: var(--tone); }
.list td.zero { color: var(--quiet); }
.id { font: 13px/1.5 var(--mono); }

footer { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 4px 24px; color: var(--quiet); font-size: 13px; }

@media (max-width: 760px) {
  .sheet { padding: 0 14px 32px; }
  .top { padding: 14px 0; }
  .hero { padding: 6px 0 18px; gap: 14px; flex-wrap: wrap; }
  .hero h1 { font-size: 21px; }
  .medal { width: 46px; height: 46px; }
  .medal svg { width: 24px; height: 24px; }
  .card { border-radius: 12px; }
  .card > header, .facts, .tools, .timeline, caption { padding-left: 16px; padding-right: 16px; }
  .card > .problem { margin: 0 16px 12px; }
  .plant { display: grid; padding: 12px 16px; }
  .facts { grid-template-columns: 1fr 1fr; }
  .chips { margin-left: 0; }
  .tools label:first-child, input { width: 100%; }
  .matrix { min-width: 0; }
  table, caption, tbody { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 8px 12px; padding: 14px 16px; border-top: 1px solid var(--line); }
  .matrix tr { grid-template-columns: minmax(0, 1fr); }
  tr.why { display: block; border-top: 0; padding: 0 16px 14px; }
  td, tbody th, tr > :first-child, tr > :last-child { display: block; padding: 0; border: 0; font-size: 14px; }
  td.number { text-align: left; white-space: normal; }
  tr.why td { padding: 0; }
  td[data-label]::before { content: attr(data-label); display: block; font-size: 12px; color: var(--quiet); }
  .full, .list tbody th { grid-column: 1 / -1; }
  .list td.zero { display: none; }
  .card > header .small:not(.right) { flex-basis: 100%; }
  .part, .pager, .card > details > summary { padding-left: 16px; padding-right: 16px; }
  .timeline { grid-template-columns: 92px 1fr; }
  .empty { padding: 28px 18px; }
}
@media (prefers-reduced-motion: no-preference) {
  .turning { transform-origin: 50% 50%; animation: turn 2.4s linear infinite; }
  @keyframes turn { to { transform: rotate(1turn); } }
}
@media print { body { background: none; } .card { break-inside: avoid; } .tools, .pager, .menu, .skip { display: none; } }
`;
