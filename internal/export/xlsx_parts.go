package export

import (
	"fmt"
	"strings"
)

const (
	xmlStart = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

	spaceMain    = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	spaceRel     = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	spacePackRel = "http://schemas.openxmlformats.org/package/2006/relationships"
	spaceTypes   = "http://schemas.openxmlformats.org/package/2006/content-types"

	typeSpreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml."
)

// Cell styles: indexes into cellXfs of partStyles.
const (
	stylePlain  = 0
	styleQuoted = 1 // combined with stylePlain or styleHeader
	styleHeader = 2
	styleTime   = 4
)

const partStyles = xmlStart + `<styleSheet xmlns="` + spaceMain + `">` +
	`<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/></numFmts>` +
	`<fonts count="2">` +
	`<font><sz val="11"/><name val="Calibri"/><family val="2"/></font>` +
	`<font><b/><sz val="11"/><name val="Calibri"/><family val="2"/></font>` +
	`</fonts>` +
	`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
	`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
	`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
	`<cellXfs count="5">` +
	`<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
	`<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1"/>` +
	`<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>` +
	`<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" quotePrefix="1" applyFont="1"/>` +
	`<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`</cellXfs>` +
	`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>` +
	`</styleSheet>`

const partRelationships = xmlStart + `<Relationships xmlns="` + spacePackRel + `">` +
	`<Relationship Id="rId1" Type="` + spaceRel + `/officeDocument" Target="xl/workbook.xml"/>` +
	`</Relationships>`

// sheetStart returns the XML of a sheet up to its first row, which is frozen. Columns
// are wide enough for a time.
func sheetStart(first bool) string {
	selected := ""
	if first {
		selected = ` tabSelected="1"`
	}
	return xmlStart + `<worksheet xmlns="` + spaceMain + `">` +
		`<sheetViews><sheetView` + selected + ` workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft"/>` +
		`</sheetView></sheetViews>` +
		`<sheetFormatPr defaultColWidth="20" defaultRowHeight="15"/>` +
		`<sheetData>`
}

const sheetEnd = `</sheetData></worksheet>`

// sheetPath returns the path of sheet n (from 1) in the archive.
func sheetPath(n int) string { return fmt.Sprintf("xl/worksheets/sheet%d.xml", n) }

func sheetName(n int) string {
	if n == 1 {
		return "Responses"
	}
	return fmt.Sprintf("Responses %d", n)
}

// workbook lists the sheets. Relationship rId<n> is sheet n.
func workbook(sheets int) string {
	var b strings.Builder
	b.WriteString(xmlStart + `<workbook xmlns="` + spaceMain + `" xmlns:r="` + spaceRel + `">` +
		`<bookViews><workbookView/></bookViews><sheets>`)
	for n := 1; n <= sheets; n++ {
		fmt.Fprintf(&b, `<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, sheetName(n), n, n)
	}
	b.WriteString(`</sheets></workbook>`)
	return b.String()
}

func workbookRelationships(sheets int) string {
	var b strings.Builder
	b.WriteString(xmlStart + `<Relationships xmlns="` + spacePackRel + `">`)
	for n := 1; n <= sheets; n++ {
		fmt.Fprintf(&b, `<Relationship Id="rId%d" Type="`+spaceRel+`/worksheet" Target="worksheets/sheet%d.xml"/>`, n, n)
	}
	fmt.Fprintf(&b, `<Relationship Id="rId%d" Type="`+spaceRel+`/styles" Target="styles.xml"/>`, sheets+1)
	b.WriteString(`</Relationships>`)
	return b.String()
}

func contentTypes(sheets int) string {
	var b strings.Builder
	b.WriteString(xmlStart + `<Types xmlns="` + spaceTypes + `">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + typeSpreadsheet + `sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="` + typeSpreadsheet + `styles+xml"/>`)
	for n := 1; n <= sheets; n++ {
		fmt.Fprintf(&b, `<Override PartName="/%s" ContentType="`+typeSpreadsheet+`worksheet+xml"/>`, sheetPath(n))
	}
	b.WriteString(`</Types>`)
	return b.String()
}

// columnLetters returns the name of column i (from 0): A to Z, AA to ZZ, AAA.
func columnLetters(i int) string {
	letters := ""
	for i++; i > 0; i = (i - 1) / 26 {
		letters = string(rune('A'+(i-1)%26)) + letters
	}
	return letters
}
