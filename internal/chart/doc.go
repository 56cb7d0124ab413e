// Package chart draws: what answers amount to, and how the pages of a form follow.
// A drawing is SVG to be put into a page as it is. It holds no style and no script,
// so a strict content security policy has nothing to refuse, and the same input
// always gives the same bytes.
//
// Drawings are 320 units wide (a spark is 120) and scale to the room they get. Text
// is measured at sizes that are legible on the narrowest telephone; a style sheet
// may set it smaller where there is more room, never larger. All text is escaped and
// kept whole in a <title> where it is cut. A drawing whose title reads from right to
// left is mirrored, columns and all; it says its own direction, because text-anchor
// depends on it.
//
// Colours come from classes; without a style sheet everything is drawn in the
// colour of the text around it.
//
//	chart          every drawing; and chart-spark, chart-columns, chart-histogram,
//	               chart-bars, chart-nps, chart-flow after what it is
//	chart-mark     a group of a column or a bar with its tooltip, to point at
//	chart-hit      what is there to be pointed at, though not seen
//	chart-bar      a column, the filled part of a bar
//	chart-track    the whole of which a bar is a part
//	chart-line     a line through values
//	chart-area     what is under the line
//	chart-dot      the last value of a line; both ends of a jump
//	chart-axis     the base line
//	chart-grid     lines at round values
//	chart-text     quiet words: ticks, shares, remarks
//	chart-strong   words that count: labels, values, titles of pages
//	chart-figure   one number, large
//	chart-good     promoters
//	chart-middle   passives
//	chart-bad      detractors
//	chart-node     the box of a page; with chart-maybe when it has a condition
//	chart-end      the box of an ending
//	chart-station  a group of a box and its words; chart-exit of the words of a jump
//	chart-edge     the way to the next page
//	chart-jump     the way of a jump
//	chart-head     the head of its arrow
package chart
