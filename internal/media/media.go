// Package media says what a file is, judged by its bytes, cleans its name, and makes
// pictures safe to show.
package media

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// HeadSize is how many bytes of a file Detect reads.
const HeadSize = 3 << 10

// Groups are the values of a question's property accept.
var Groups = []string{"image", "pdf", "document", "spreadsheet", "presentation", "audio", "video", "archive"}

// Type is the type of a file.
type Type struct {
	MIME  string // without parameters
	Group string // one of Groups, or empty: such files are never accepted
}

// types lists the groups of each accepted type. SVG, HTML, scripts and programs are not
// among them. Some types belong to several groups: tables with semicolons look like text,
// and recordings of a microphone like videos.
var types = map[string][]string{
	"image/jpeg":                {"image"},
	"image/png":                 {"image"},
	"image/apng":                {"image"},
	"image/gif":                 {"image"},
	"image/webp":                {"image"},
	"image/avif":                {"image"},
	"image/heic":                {"image"},
	"image/heic-sequence":       {"image"},
	"image/heif":                {"image"},
	"image/heif-sequence":       {"image"},
	"image/bmp":                 {"image"},
	"image/tiff":                {"image"},
	"image/jxl":                 {"image"},
	"image/jp2":                 {"image"},
	"image/jpx":                 {"image"},
	"image/vnd.adobe.photoshop": {"image"},

	"application/pdf": {"pdf"},

	"text/plain":                {"document", "spreadsheet"},
	"text/rtf":                  {"document"},
	"application/msword":        {"document"},
	"application/epub+zip":      {"document"},
	"application/x-ole-storage": {"document", "spreadsheet", "presentation"}, // before Office 2007
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document": {"document"},
	"application/vnd.oasis.opendocument.text":                                 {"document"},
	"application/vnd.oasis.opendocument.text-template":                        {"document"},
	"application/vnd.wordperfect":                                             {"document"},

	"text/csv":                  {"spreadsheet", "document"},
	"text/tab-separated-values": {"spreadsheet", "document"},
	"application/vnd.ms-excel":  {"spreadsheet"},
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": {"spreadsheet"},
	"application/vnd.oasis.opendocument.spreadsheet":                    {"spreadsheet"},
	"application/vnd.oasis.opendocument.spreadsheet-template":           {"spreadsheet"},

	"application/vnd.ms-powerpoint":                                             {"presentation"},
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": {"presentation"},
	"application/vnd.oasis.opendocument.presentation":                           {"presentation"},
	"application/vnd.oasis.opendocument.presentation-template":                  {"presentation"},

	"audio/mpeg":     {"audio"},
	"audio/flac":     {"audio"},
	"audio/midi":     {"audio"},
	"audio/ape":      {"audio"},
	"audio/musepack": {"audio"},
	"audio/wav":      {"audio"},
	"audio/aiff":     {"audio"},
	"audio/basic":    {"audio"},
	"audio/amr":      {"audio"},
	"audio/aac":      {"audio"},
	"audio/mp4":      {"audio"},
	"audio/x-m4a":    {"audio"},
	"audio/ogg":      {"audio"},

	"application/ogg": {"audio", "video"},
	"video/ogg":       {"video", "audio"},
	"video/mp4":       {"video", "audio"},
	"video/webm":      {"video", "audio"},
	"video/3gpp":      {"video", "audio"},
	"video/3gpp2":     {"video", "audio"},
	"video/x-m4v":     {"video"},
	"video/mpeg":      {"video"},
	"video/quicktime": {"video"},
	"video/x-msvideo": {"video"},
	"video/matroska":  {"video", "audio"},
	"video/x-ms-asf":  {"video", "audio"},
	"video/x-flv":     {"video"},
	"video/mj2":       {"video"},

	"application/zip":             {"archive"},
	"application/gzip":            {"archive"},
	"application/x-7z-compressed": {"archive"},
	"application/vnd.rar":         {"archive"},
	"application/x-tar":           {"archive"},
	"application/x-bzip2":         {"archive"},
	"application/x-xz":            {"archive"},
	"application/zstd":            {"archive"},
	"application/lzip":            {"archive"},
}

// Detect returns the type of a file. head is its beginning: HeadSize bytes, or all of a
// shorter file.
func Detect(head []byte) Type {
	name, _, _ := strings.Cut(mimetype.Detect(head).String(), ";")
	if !startsAs(name, head) {
		name = "application/octet-stream"
	}
	t := Type{MIME: name}
	if groups := types[name]; len(groups) > 0 {
		t.Group = groups[0]
	}
	return t
}

// startsAs reports whether a file starts as files of its type do. The library also finds
// some types further behind, so that a web page could count as a PDF file.
func startsAs(mime string, head []byte) bool {
	switch mime {
	case "application/pdf":
		head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), "\r\n\t ")
		return bytes.HasPrefix(head, []byte("%PDF-"))
	case "audio/mpeg":
		isFrame := len(head) > 1 && head[0] == 0xff && head[1]&0xe0 == 0xe0
		return isFrame || bytes.HasPrefix(head, []byte("ID3"))
	}
	return len(head) > 0
}

// Accepts reports whether a question with these groups accepts a type. No groups means
// all of them.
func Accepts(groups []string, t Type) bool {
	if len(groups) == 0 {
		return t.Group != ""
	}
	return slices.ContainsFunc(types[t.MIME], func(group string) bool { return slices.Contains(groups, group) })
}
