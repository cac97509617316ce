/** The style of `GET /view`: as close to a real spreadsheet as possible for a page without tools. */
export const VIEW_CSS = `
*{box-sizing:border-box}
html,body{height:100%;margin:0}
body{font:13px/1.35 Arial,Helvetica,sans-serif;color:#1f1f1f;background:#f9fbfd}
#sheet{display:flex;flex-direction:column;height:100%}
header{display:flex;align-items:center;gap:12px;height:52px;padding:0 16px;flex:none}
header h1{font:400 18px/1 "Google Sans",Roboto,Arial,sans-serif;margin:0;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.logo{width:24px;height:30px;border-radius:3px;background:linear-gradient(#fff 0 0) 6px 12px/12px 2px no-repeat,linear-gradient(#fff 0 0) 6px 17px/12px 2px no-repeat,linear-gradient(#fff 0 0) 6px 22px/12px 2px no-repeat,#188038;flex:none}
.badge{font-size:11px;color:#5f6368;border:1px solid #dadce0;border-radius:10px;padding:2px 8px;white-space:nowrap}
main{flex:1;overflow:auto;background:#fff;border-top:1px solid #e1e3e6}
td:has(>.chart){position:relative}
.chart{position:absolute;z-index:1;background:#fff;border:1px solid #dadce0}
.chart text{font:11px/1 Arial,Helvetica,sans-serif;fill:#5f6368}
.chart text.title{font-size:14px;fill:#3c4043}
.chart line{stroke:#e1e3e6}
table{table-layout:fixed;border-collapse:separate;border-spacing:0}
thead{position:sticky;top:0;z-index:3;background:#fff}
th,td{border-right:1px solid #e1e3e6;border-bottom:1px solid #e1e3e6;padding:0}
th{background:#f8f9fa;color:#5f6368;font-weight:400;font-size:11px;text-align:center;position:sticky;left:0;z-index:2}
th.letter{position:static;height:24px;z-index:auto}
th.corner{height:24px;z-index:4}
thead tr:not(:first-child):last-child>*{border-bottom:3px solid #c0c4c9}
td{height:21px;vertical-align:bottom;max-width:0}
td>div{padding:2px 3px;min-height:17px;white-space:pre}
td.clip>div{overflow:hidden}
td.wrap>div{white-space:pre-wrap;overflow-wrap:anywhere}
td.over{background:#fff}
td.over>div{width:max-content;overflow:hidden;background:inherit;position:relative}
tr.set td>div{max-height:var(--height);overflow:hidden}
td.number,td.number>div{text-align:right}
td.number[style*="text-align:left"]>div{text-align:left}
td.number[style*="text-align:center"]>div{text-align:center}
td.boolean>div,td.error>div{text-align:center}
td.error{color:#b3261e}
td.noted{background-image:linear-gradient(225deg,#202124 5px,transparent 5.5px)}
.funnel{display:inline-block;margin-left:5px;width:9px;height:8px;background:#188038;clip-path:polygon(0 0,100% 0,60% 50%,60% 100%,40% 100%,40% 50%)}
footer{display:flex;align-items:stretch;justify-content:space-between;flex:none;height:36px;background:#f9fbfd;border-top:1px solid #e1e3e6;padding-left:46px}
footer nav{display:flex;overflow-x:auto}
footer nav a{display:flex;align-items:center;padding:0 16px;color:#444746;text-decoration:none;white-space:nowrap}
footer nav a:hover{background:#eef1f4}
footer nav a[aria-current]{background:#e1efe5;color:#188038;font-weight:bold}
footer p{display:flex;align-items:center;gap:14px;margin:0;padding:0 16px;color:#5f6368;font-size:11px;white-space:nowrap}
footer p a{color:#188038;text-decoration:none}
`;
