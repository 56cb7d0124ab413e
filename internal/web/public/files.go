package public

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"formulary/internal/form"
	"formulary/internal/locale"
)

// postedFile is an uploaded file on the page.
type postedFile struct {
	form.File
	SizeText   string
	RemoveText string // names the file, for screen readers
}

// Files are the uploaded files that answer the question so far.
func (q *question) Files() []postedFile {
	var list []postedFile
	for _, f := range q.PostedFiles(q.values) {
		list = append(list, postedFile{f, sizeText(f.Size, q.catalog), strings.Replace(q.catalog.Translate("Remove {name}"), "{name}", f.Name, 1)})
	}
	return list
}

// TypedName is the answer to a signature that was typed.
func (q *question) TypedName() string {
	answer, _ := form.KindOf(q.Kind).ParseForm(q.Field, q.values).(string)
	return answer
}

// FileRules are the limits of the question's files.
func (q *question) FileRules() form.FileRules { return q.fileRules }

// fileRules returns the limits of a field's files, with the limit of the service.
func (pages *Pages) fileRules(f *form.Field) (form.FileRules, bool) {
	rules, ok := f.FileRules()
	if ok {
		rules.MaxSize = pages.Respond.FileLimit(rules)
	}
	return rules, ok
}

// UploadTo is the address to which the script uploads files; empty in a preview, which
// stores nothing.
func (q *question) UploadTo() string { return q.uploadTo }

// acceptedTypes are suggestions for the browser's file dialog. The server judges files by
// their content.
var acceptedTypes = map[string]string{
	"image": "image/*", "pdf": ".pdf", "document": ".doc,.docx,.odt,.rtf,.txt,.epub", "spreadsheet": ".xls,.xlsx,.ods,.csv,.tsv",
	"presentation": ".ppt,.pptx,.odp", "audio": "audio/*", "video": "video/*", "archive": ".zip,.gz,.7z,.rar,.tar,.bz2,.xz,.zst",
}

// AcceptAttribute is the attribute accept of a file input.
func (q *question) AcceptAttribute() string {
	var list []string
	for _, group := range q.acceptedGroups() {
		list = append(list, acceptedTypes[group])
	}
	return strings.Join(list, ",")
}

func (q *question) acceptedGroups() []string {
	if accept := q.FileRules().Accept; len(accept) > 0 {
		return accept
	}
	return form.FileGroups
}

// TakesPhotos reports whether the question accepts a photo from the camera.
func (q *question) TakesPhotos() bool { return slices.Contains(q.acceptedGroups(), "image") }

// groupText names a group of file types.
func groupText(group string, c locale.Catalog) string {
	switch group {
	case "image":
		return c.Translate("images")
	case "pdf":
		return c.Translate("PDF")
	case "document":
		return c.Translate("documents")
	case "spreadsheet":
		return c.Translate("spreadsheets")
	case "presentation":
		return c.Translate("presentations")
	case "audio":
		return c.Translate("audio")
	case "video":
		return c.Translate("video")
	case "archive":
		return c.Translate("archives")
	}
	return group
}

// fileLimits says which files the question accepts.
func (q *question) fileLimits() string {
	rules := q.FileRules()
	var groups []string
	for _, group := range q.acceptedGroups() {
		groups = append(groups, groupText(group, q.catalog))
	}
	types, size := strings.Join(groups, q.catalog.Translate(", ")), sizeText(rules.MaxSize, q.catalog)
	if rules.MaxFiles == 1 {
		return q.catalog.Translate("one file, up to %s: %s", size, types)
	}
	return q.catalog.Translate("up to %d files, %s each: %s", rules.MaxFiles, size, types)
}

// sizeText formats the size of a file. Limits are in units of 1024, as most systems show
// sizes.
func sizeText(n int64, c locale.Catalog) string {
	if n < 1<<20 {
		return c.Translate("%s KB", strconv.FormatInt(max(1, (n+1023)/1024), 10))
	}
	text := strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64)
	return c.Translate("%s MB", strings.Replace(strings.TrimSuffix(text, ".0"), ".", c.Translate("."), 1))
}

// FileTexts are the texts of the script that uploads files, as JSON.
func (q *question) FileTexts() (string, error) {
	c, rules := q.catalog, q.FileRules()
	tooMany := c.Translate("add no more than 1 file")
	if rules.MaxFiles > 1 {
		tooMany = c.Translate("add no more than %d files", rules.MaxFiles)
	}
	drop := c.Translate("or drop it here")
	if rules.MaxFiles > 1 {
		drop = c.Translate("or drop them here")
	}
	return jsonText(map[string]string{
		"drop": drop, "photo": c.Translate("Take a photo"), "remove": c.Translate("Remove"), "removeName": c.Translate("Remove {name}"),
		"cancel": c.Translate("Cancel"), "cancelName": c.Translate("Cancel {name}"), "retry": c.Translate("Try again"), "retryName": c.Translate("Try again: {name}"),
		"uploading": c.Translate("Uploading {name}"), "uploaded": c.Translate("{name} uploaded"), "removed": c.Translate("{name} removed"), "canceled": c.Translate("{name} canceled"),
		"waiting": c.Translate("No connection. The upload continues when you are online again."), "failed": c.Translate("The upload failed."),
		"tooLarge": tooLargeText(rules, c), "badType": c.Translate("This type of file is not accepted."), "empty": c.Translate("This file is empty."),
		"tooMany": tooMany, "pending": c.Translate("The form continues when the upload is complete."),
		"mb": c.Translate("%s MB"), "kb": c.Translate("%s KB"), "decimal": c.Translate("."),
	})
}

// SignatureTexts are the texts of the script that draws signatures, as JSON.
func (q *question) SignatureTexts() (string, error) {
	c := q.catalog
	return jsonText(map[string]string{
		"draw": c.Translate("Draw"), "type": c.Translate("Type"), "mode": c.Translate("How to sign"), "clear": c.Translate("Clear"), "undo": c.Translate("Undo"),
		"pad": c.Translate("Signature field. To sign with the keyboard, choose “Type”."), "hint": c.Translate("Sign here with a finger, mouse or pen"),
		"saving": c.Translate("Saving your signature"), "saved": c.Translate("Signature saved"), "cleared": c.Translate("Signature removed"), "drawn": c.Translate("Your drawn signature"),
		"waiting": c.Translate("No connection. The upload continues when you are online again."), "failed": c.Translate("The upload failed."),
		"retry": c.Translate("Try again"), "pending": c.Translate("The form continues when the upload is complete."),
	})
}

func tooLargeText(rules form.FileRules, c locale.Catalog) string {
	return c.Translate("This file is too large. The limit is %s.", sizeText(rules.MaxSize, c))
}

func jsonText(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}
