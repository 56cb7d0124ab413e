package export

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// XML structures that the reader of workbooks needs.
type (
	xmlCell struct {
		Ref   string `xml:"r,attr"`
		Style int    `xml:"s,attr"`
		Type  string `xml:"t,attr"`
		Value string `xml:"v"`
		Text  struct {
			Space string `xml:"http://www.w3.org/XML/1998/namespace space,attr"`
			Value string `xml:",chardata"`
		} `xml:"is>t"`
	}
	xmlSheet struct {
		XMLName xml.Name `xml:"http://schemas.openxmlformats.org/spreadsheetml/2006/main worksheet"`
		View    struct {
			Selected bool `xml:"tabSelected,attr"`
			Pane     struct {
				Rows  int    `xml:"ySplit,attr"`
				State string `xml:"state,attr"`
			} `xml:"pane"`
		} `xml:"sheetViews>sheetView"`
		Rows []struct {
			Number int       `xml:"r,attr"`
			Cells  []xmlCell `xml:"c"`
		} `xml:"sheetData>row"`
	}
	xmlBook struct {
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
		} `xml:"sheets>sheet"`
	}
	xmlRelationships struct {
		List []struct {
			ID     string `xml:"Id,attr"`
			Type   string `xml:"Type,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	xmlTypes struct {
		Overrides []struct {
			Part string `xml:"PartName,attr"`
			Type string `xml:"ContentType,attr"`
		} `xml:"Override"`
	}
	xmlStyles struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Fonts []struct {
			Bold *struct{} `xml:"b"`
		} `xml:"fonts>font"`
		Cells []struct {
			Format int  `xml:"numFmtId,attr"`
			Font   int  `xml:"fontId,attr"`
			Quoted bool `xml:"quotePrefix,attr"`
		} `xml:"cellXfs>xf"`
	}
)

// sheet is a decoded sheet.
type sheet struct {
	name string
	xml  xmlSheet
	rows [][]any
}

// readXLSX reads a workbook as spreadsheets do: from the package relationships to the
// workbook, and from there to the sheets and styles. It fails if a part has no content
// type or is not referenced.
func readXLSX(t fatal, data []byte) []sheet {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("not an archive: %v", err)
	}
	parts := map[string][]byte{}
	for _, file := range archive.File {
		in, err := file.Open()
		if err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
		if _, exists := parts[file.Name]; exists {
			t.Fatalf("%s is in the archive twice", file.Name)
		}
		parts[file.Name] = content
	}
	read := func(name string, into any) {
		content, ok := parts[name]
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		if err := xml.Unmarshal(content, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		delete(parts, name)
	}
	var types xmlTypes
	read("[Content_Types].xml", &types)
	requireType := func(name, kind string) {
		for _, o := range types.Overrides {
			if o.Part == "/"+name && o.Type == "application/vnd.openxmlformats-officedocument.spreadsheetml."+kind+"+xml" {
				return
			}
		}
		t.Fatalf("%s does not have the content type %s", name, kind)
	}
	var root, bookRels xmlRelationships
	read("_rels/.rels", &root)
	if len(root.List) != 1 || path.Base(root.List[0].Type) != "officeDocument" {
		t.Fatalf("the package relates to %v", root.List)
	}
	bookPath := root.List[0].Target
	requireType(bookPath, "sheet.main")
	var book xmlBook
	read(bookPath, &book)
	read(path.Join(path.Dir(bookPath), "_rels", path.Base(bookPath)+".rels"), &bookRels)
	targets := map[string]string{}
	var styles xmlStyles
	for _, r := range bookRels.List {
		target := path.Join(path.Dir(bookPath), r.Target)
		targets[r.ID] = target
		if path.Base(r.Type) == "styles" {
			requireType(target, "styles")
			read(target, &styles)
		}
	}
	var sheets []sheet
	for _, info := range book.Sheets {
		decoded := sheet{name: info.Name}
		requireType(targets[info.ID], "worksheet")
		read(targets[info.ID], &decoded.xml)
		for i, row := range decoded.xml.Rows {
			if row.Number != i+1 {
				t.Fatalf("row %d says that it is %d", i+1, row.Number)
			}
			var cells []any
			for _, c := range row.Cells {
				column := columnOf(t, c.Ref, row.Number)
				for len(cells) < column {
					cells = append(cells, nil)
				}
				if len(cells) != column {
					t.Fatalf("%s is out of order", c.Ref)
				}
				cells = append(cells, cellValue(t, c, styles))
			}
			decoded.rows = append(decoded.rows, cells)
		}
		sheets = append(sheets, decoded)
	}
	if len(parts) > 0 {
		t.Fatalf("%d parts are not referenced", len(parts))
	}
	return sheets
}

// columnOf returns the column (from 0) of a cell reference, which must be in the given
// row.
func columnOf(t fatal, ref string, row int) int {
	letters, ok := strings.CutSuffix(ref, strconv.Itoa(row))
	column := 0
	for _, c := range letters {
		ok = ok && c >= 'A' && c <= 'Z'
		column = column*26 + int(c-'A') + 1
	}
	if !ok || column == 0 {
		t.Fatalf("%s is no cell of row %d", ref, row)
	}
	return column - 1
}

var escapeSequence = regexp.MustCompile(`_x[0-9a-fA-F]{4}_`)

func cellValue(t fatal, c xmlCell, styles xmlStyles) any {
	if c.Style >= len(styles.Cells) {
		t.Fatalf("there is no style %d", c.Style)
	}
	style := styles.Cells[c.Style]
	switch c.Type {
	case "inlineStr":
		if c.Text.Space != "preserve" {
			t.Fatalf("%s does not preserve spaces", c.Ref)
		}
		text := escapeSequence.ReplaceAllStringFunc(c.Text.Value, func(code string) string {
			unit, _ := strconv.ParseUint(code[2:6], 16, 16)
			return string(rune(unit))
		})
		if style.Quoted != looksLikeFormula(text) {
			t.Fatalf("%s, %q: quoted is %v", c.Ref, text, style.Quoted)
		}
		return text
	case "b":
		return c.Value == "1"
	case "":
		number, err := strconv.ParseFloat(c.Value, 64)
		if err != nil {
			t.Fatalf("%s: %v", c.Ref, err)
		}
		for _, f := range styles.Formats {
			if f.ID == style.Format && strings.Contains(f.Code, "yyyy") {
				days, part := math.Modf(number)
				return time.Date(1899, 12, 30+int(days), 0, 0, 0, 0, time.UTC).Add(time.Duration(math.Round(part*86_400_000)) * time.Millisecond)
			}
		}
		return number
	}
	t.Fatalf("%s is a %q", c.Ref, c.Type)
	return nil
}
