package workspace

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/qr"

	"formulary/internal/fault"
	"formulary/internal/web/page"
)

// QRCode sends the link of the form as a QR code: an SVG, or a PNG for printing.
func (pages *Pages) QRCode(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	code, err := qr.Encode(pages.newFormLayout(f, "").Link, qr.M, qr.Auto)
	if err != nil {
		return err
	}
	header := req.W.Header()
	file := req.PathValue("kind")
	if req.URL.Query().Get("download") != "" && (file == "qr.svg" || file == "qr.png") {
		header.Set("Content-Disposition", `attachment; filename="`+f.ID+strings.TrimPrefix(file, "qr")+`"`)
	}
	switch file {
	case "qr.svg":
		header.Set("Content-Type", "image/svg+xml")
		req.W.Write(qrSVG(code)) // the client may have disconnected
		return nil
	case "qr.png":
		scaled, err := barcode.Scale(code, 1024, 1024)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := png.Encode(&out, scaled); err != nil {
			return err
		}
		header.Set("Content-Type", "image/png")
		req.W.Write(out.Bytes())
		return nil
	}
	return fault.New(fault.UnknownPath, "File not found.")
}

// qrSVG draws the dark modules as one path, with the quiet zone around them.
func qrSVG(code barcode.Barcode) []byte {
	const quiet = 4
	size := code.Bounds().Dx()
	var path strings.Builder
	for y := range size {
		for x := range size {
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+quiet, y+quiet)
			}
		}
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" shape-rendering="crispEdges"><rect width="%[1]d" height="%[1]d" fill="#fff"/><path d="%[2]s"/></svg>`, size+2*quiet, path.String())
}
