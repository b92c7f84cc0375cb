#include "render/page/page.h"

/* Wide things scroll in boxes of their own; the page itself never does. Colours of states come from
 * the table that the pictures use. */
static const char style[] =
	"*{box-sizing:border-box}\n"
	":root{color-scheme:light dark;--paper:#fff;--ink:#1c2330;--quiet:#566176;--line:#d5dbe4;"
	"--soft:#f5f7fa;--link:#1a5fb4;--grid:#e3e8ef}\n"
	"html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}\n"
	"body{margin:0;background:var(--paper);color:var(--ink);"
	"font:16px/1.5 system-ui,'Segoe UI',Roboto,'DejaVu "
	"Sans',sans-serif;overflow-wrap:anywhere}\n"
	"header,main,footer{max-width:76rem;margin:0 auto;padding:0 1.25rem}\n"
	"header{padding-top:1.5rem}\n"
	"h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}\n"
	"h2{font-size:1.2rem;margin:0 0 .75rem}\n"
	"h3{font-size:1rem;margin:0 0 .4rem;display:flex;flex-wrap:wrap;gap:.25rem .6rem;"
	"align-items:baseline}\n"
	"section{margin:2.25rem 0 0}\n"
	"a{color:var(--link)}\n"
	"nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;padding:0;margin:1rem "
	"0 0}\n"
	".count,.quiet{color:var(--quiet);font-weight:400}\n"
	".count{font-size:1rem}\n"
	".error{border-left:4px solid var(--failed-line);padding:.35rem .8rem;margin:.75rem 0;"
	"background:var(--failed-fill);color:var(--failed-text)}\n"
	"code,pre,.path{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;"
	"font-size:.8125rem}\n"
	".path{font-weight:600}\n"
	"pre{margin:.4rem 0;padding:.6rem .75rem;background:var(--soft);border:1px solid "
	"var(--line);"
	"border-radius:6px;white-space:pre-wrap;tab-size:8;line-height:1.45}\n"
	".facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(14rem,1fr));"
	"gap:.6rem 1.5rem;margin:1rem 0 0}\n"
	".facts dt{color:var(--quiet);font-size:.8125rem}\n"
	".facts dd{margin:0}\n"
	".facts .wide{grid-column:1/-1}\n"
	".scroll{overflow:auto;border:1px solid var(--line);border-radius:8px;max-width:100%}\n"
	":focus-visible{outline:3px solid var(--link);outline-offset:2px}\n"
	/* Shrinks a little before it scrolls. */
	".scroll svg.graph{display:block;margin:0 auto;max-width:100%;height:auto;"
	"min-width:var(--least)}\n"
	"table{border-collapse:collapse;width:100%;font-size:.875rem}\n"
	"th,td{text-align:left;vertical-align:top;padding:.35rem .75rem;"
	"border-bottom:1px solid var(--line)}\n"
	"tbody tr:last-child>*{border-bottom:0}\n"
	"thead th{font-weight:600;white-space:nowrap;background:var(--soft)}\n"
	"tbody th{font-weight:400}\n"
	"tbody th.path{white-space:nowrap;font-weight:600}\n"
	".number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
	".nowrap{white-space:nowrap}\n"
	".lines{white-space:pre-line;font:.8125rem/1.45 ui-monospace,'DejaVu Sans Mono',Menlo,"
	"Consolas,monospace}\n"
	".tag{display:inline-block;padding:0 .45rem;border:1px solid;border-radius:4px;"
	"font-size:.8125rem;font-weight:600;white-space:nowrap}\n"
	"details{margin:.4rem 0}\n"
	"summary{cursor:pointer;padding:.15rem 0}\n"
	".failure{border:1px solid var(--line);border-left:4px solid var(--failed-line);"
	"border-radius:6px;padding:.7rem .9rem;margin:0 0 .8rem}\n"
	".failure.passed{border-left-color:var(--tolerated-line)}\n"
	".failure p,.output p{margin:.3rem 0}\n"
	".output{margin:0 0 1rem}\n"
	".cut{text-align:center;color:var(--quiet);font-size:.8125rem;margin:.1rem 0}\n"
	".hide{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);"
	"white-space:nowrap}\n"
	"footer{margin-top:2.5rem;padding-bottom:2rem;color:var(--quiet);font-size:.8125rem}\n"

	/* The timeline: a table whose middle column is the time. */
	".gantt{min-width:44rem;table-layout:fixed}\n"
	".gantt th,.gantt td{vertical-align:middle;padding-top:.2rem;padding-bottom:.2rem}\n"
	".gantt .name{width:13rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}\n"
	".gantt .bars{padding-left:0;padding-right:0;border-left:1px solid var(--line);"
	"border-right:1px solid var(--line)}\n"
	".gantt .time{width:6rem}\n"
	".gantt .how{width:9.5rem}\n"
	".axis,.lane{position:relative;height:1.25rem}\n"
	".axis span{position:absolute;padding-left:.3rem;font-weight:400;font-size:.75rem;"
	"line-height:1.25rem;border-left:1px solid var(--quiet);white-space:nowrap}\n"
	".lane{background:linear-gradient(to right,var(--grid) 1px,transparent 1px);"
	"background-size:var(--tick) 100%}\n"
	".span{position:absolute;top:.1rem;height:1.05rem;min-width:3px;border:1px solid;"
	"border-radius:3px;font-size:.6875rem;line-height:.95rem;text-align:center;overflow:hidden}"
	"\n"
	/* What went wrong is striped and has a thick end, so that colour is not all that tells. */
	".span.failed,.span.timeout,.span.tolerated{border-right-width:4px;background-image:"
	"repeating-linear-gradient(135deg,currentColor 0 1px,transparent 1px 5px)}\n"
	".span.cancelled,.span.interrupted,.span.running{border-style:dashed}\n"
	".span.queued{color:var(--quiet);border-style:dotted;background:"
	"repeating-linear-gradient(45deg,currentColor 0 1px,transparent 1px 6px)}\n"
	".span b{background:inherit;background-image:none;padding:0 2px;font-weight:600;"
	"border-radius:2px}\n"
	".load{display:block;width:100%;height:2rem}\n"
	".load path{fill:var(--running-fill);stroke:var(--running-line);vector-effect:"
	"non-scaling-stroke}\n"
	".gantt .more th{white-space:normal}\n"

	/* A small screen. */
	"@media (max-width:40rem){body{font-size:15px}\n"
	"header,main,footer{padding-left:1rem;padding-right:1rem}\n"
	".facts{grid-template-columns:repeat(auto-fill,minmax(9rem,1fr))}\n"
	".scroll svg.graph{max-width:none;min-width:0}\n"
	".gantt{min-width:48rem}\n"
	".gantt .name{width:8.5rem;position:sticky;left:0;background:var(--paper);z-index:1}\n"
	".gantt thead .name{background:var(--soft)}\n"
	".axis span:nth-child(even){display:none}}\n"

	"@media (prefers-color-scheme:dark){:root{--paper:#14171c;--ink:#e6e9ef;--quiet:#a9b4c6;"
	"--line:#38414f;--soft:#1b2028;--link:#8ab8ff;--grid:#29313d}}\n"

	/* On paper nothing scrolls, and what was folded for its length is open. */
	"@media print{*{print-color-adjust:exact;-webkit-print-color-adjust:exact}\n"
	"body{font-size:11pt}\n"
	"header,main,footer{max-width:none;padding:0}\n"
	"nav{display:none}\n"
	".scroll{overflow:visible;border:0}\n"
	".scroll svg.graph{min-width:0}\n"
	".gantt{min-width:0;font-size:9pt}\n"
	".gantt .name{width:10.5rem}\n"
	".gantt .time{width:4.6rem}\n"
	".gantt .how{width:7.5rem}\n"
	".axis span:nth-child(even){display:none}\n"
	".failure,tr{break-inside:avoid}\n"
	".output::details-content,.failure details::details-content{content-visibility:visible;"
	"display:block}}\n";

static void add_colours(struct buf *b, bool dark)
{
	for (size_t i = 0; i < SHOWN_STATES; i++) {
		const struct state_colours *c = dark ? &state_looks[i].dark : &state_looks[i].light;
		const char *word = shown_state_word(i);

		buf_printf(b, "--%s-line:%s;--%s-fill:%s;--%s-text:%s;", word, c->line, word,
			c->fill, word, c->text);
	}
}

void report_style(struct buf *b)
{
	buf_adds(b, "<style>\n:root{");
	add_colours(b, false);
	buf_adds(b, "}\n@media (prefers-color-scheme:dark){:root{");
	add_colours(b, true);
	buf_adds(b, "}}\n");
	for (size_t i = 0; i < SHOWN_STATES; i++) {
		const char *name = shown_state_word(i);

		buf_printf(b,
			"html .is-%s,.span.%s{border-color:var(--%s-line);background-color:"
			"var(--%s-fill);color:var(--%s-text)}\n",
			name, name, name, name, name);
	}
	buf_adds(b, style);
	buf_adds(b, "</style>\n");
}
