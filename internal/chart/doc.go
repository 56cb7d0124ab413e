// Package chart draws charts of the responses to a form, and the flow of its pages, as
// SVG. A drawing can be inserted into an HTML page. It contains no style and no script,
// so it works under a strict Content-Security-Policy. The same input always gives the
// same bytes.
//
// Drawings are 320 units wide (sparklines 120) and scale to their container. Text is
// measured at font sizes that are legible on the narrowest phones. A style sheet may set
// smaller sizes where there is more space, never larger ones. All text is escaped. Where
// a text is truncated, a <title> contains the full text. A drawing whose title is in a
// right-to-left script is mirrored. It sets its own direction attribute, because
// text-anchor depends on the direction.
//
// Colors come from CSS classes. Without a style sheet, everything has the color of the
// surrounding text.
//
//	chart          every drawing, together with chart-sparkline, chart-columns,
//	               chart-histogram, chart-bars, chart-nps or chart-flow
//	chart-mark     group of a column or bar with its tooltip
//	chart-hit      invisible area that shows the tooltip
//	chart-bar      column; filled part of a bar
//	chart-track    background of a bar, its full length
//	chart-line     line of a line chart
//	chart-before   dashed line of an earlier period
//	chart-area     area below the line
//	chart-dot      last value of a line; start and end of a jump
//	chart-axis     base line
//	chart-grid     grid lines
//	chart-text     secondary text: ticks, shares, notes
//	chart-strong   primary text: labels, values, page titles
//	chart-figure   one large number
//	chart-good     promoters
//	chart-middle   passives
//	chart-bad      detractors
//	chart-node     box of a page; with chart-conditional if it has a condition
//	chart-end      box of an ending
//	chart-group    group of a box and its text; chart-exit: text of a jump
//	chart-edge     arrow to the next page
//	chart-jump     line of a jump
//	chart-head     arrowhead
package chart
