"""How the page looks, in light and in dark."""

STYLE = """
:root { color-scheme: light dark; --page: #f9f9f7; --card: #fcfcfb; --edge: #e1e0d9; --ink: #0b0b0b; --soft: #52514e;
  --main: #2a78d6; --bad: #eb6834; --critical: #7f1d1d; --high: #c43d3d; --medium: #e58a8a; --low: #f2c4c4;
  --good: #0a6e0a; --fail: #a82a2a; }
@media (prefers-color-scheme: dark) { :root { --page: #0d0d0d; --card: #1a1a19; --edge: #383835; --ink: #ffffff;
  --soft: #c3c2b7; --main: #3987e5; --bad: #d95926; --critical: #ffb3b3; --high: #e66767; --medium: #a83d3d;
  --low: #6b2a2a; --good: #5ccc5c; --fail: #ff8f8f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1200px; padding: 24px 16px; background: var(--page); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.35rem; margin: 0; }
h2 { font-size: 1rem; margin: 0 0 10px; }
header p { margin: 6px 0; }
.task, footer, dt, figcaption, .none { color: var(--soft); }
.status { border: 1px solid currentColor; border-radius: 999px; padding: 1px 10px; }
.completed { color: var(--good); }
.failed.status, .aborted, .crashed { color: var(--fail); }
section { background: var(--card); border: 1px solid var(--edge); border-radius: 8px; padding: 16px; margin-top: 16px; }
.pair, .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 0 16px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 14px; margin: 0; }
dd { margin: 0; }
ul { margin: 0; padding-left: 20px; }
figcaption { font-size: 0.87rem; margin-bottom: 4px; }
figure { margin: 0 0 12px; overflow-x: auto; }
svg { display: block; width: 100%; min-width: 400px; height: auto; }
svg text { fill: var(--soft); font-size: 11px; font-variant-numeric: tabular-nums; }
.rule { stroke: var(--edge); }
.ground { stroke: var(--soft); }
.line { fill: none; stroke: var(--main); stroke-width: 2; stroke-linejoin: round; }
.dot { fill: var(--main); stroke: var(--card); stroke-width: 1.5; }
rect.all { fill: transparent; }
g:hover rect.all { fill: var(--soft); fill-opacity: 0.12; }
rect.passed, rect.cost { fill: var(--main); }
rect.failed { fill: var(--bad); }
rect.critical { fill: var(--critical); }
rect.high { fill: var(--high); }
rect.medium { fill: var(--medium); }
rect.low { fill: var(--low); }
.key { margin-left: 12px; white-space: nowrap; }
.key i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 5px; }
i.passed { background: var(--main); }
i.failed { background: var(--bad); }
i.critical { background: var(--critical); }
i.high { background: var(--high); }
i.medium { background: var(--medium); }
i.low { background: var(--low); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; padding: 5px 10px; border-bottom: 1px solid var(--edge); vertical-align: top;
  white-space: nowrap; }
td:last-child { white-space: normal; min-width: 14em; }
th { color: var(--soft); font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.dropped td { color: var(--soft); }
footer { margin-top: 16px; font-size: 0.87rem; }
"""
