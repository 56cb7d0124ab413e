package respond

import (
	"context"
	"net/netip"

	"formulary/internal/file"
	"formulary/internal/form"
	"formulary/internal/limit"
	"formulary/internal/store"

	"formulary/internal/fault"
)

// Upload is a file that a respondent sends before the submission that it belongs to.
type Upload = file.Upload

// Upload stores a file until a response claims it, and returns when it is durable. A
// submission has its ID in the answer to the question.
func (s *Service) Upload(ctx context.Context, in Upload) (form.File, error) {
	if s.uploads == nil {
		in.Client = netip.Addr{} // clients are not limited
	}
	return s.files.Upload(ctx, in)
}

// UploadPart is Upload for a file whose upload can be continued after a lost connection.
func (s *Service) UploadPart(ctx context.Context, name file.UploadName, in Upload, part *file.Part) (form.File, error) {
	if s.uploads == nil {
		in.Client = netip.Addr{} // clients are not limited
	}
	return s.files.UploadPart(ctx, name, in, part)
}

// Uploaded returns an upload that no response has claimed yet, so that a page can show its
// name. fault.NotFound: there is none, or it has expired.
func (s *Service) Uploaded(ctx context.Context, f *store.PublicForm, fileID string) (form.File, error) {
	found, err := s.store.Upload(ctx, f.Owner, f.ID, fileID, s.now())
	return found.File, err
}

// FileLimit returns the size of the largest file that a question accepts.
func (s *Service) FileLimit(rules form.FileRules) int64 { return s.files.LimitOf(rules) }

// AdmitUpload counts an upload against the rate limit of the client's network.
func (s *Service) AdmitUpload(client netip.Addr, header map[string][]string) error {
	if s.uploads == nil {
		return nil
	}
	left, wait, ok := s.uploads.Allow(limit.ClientNetwork(client))
	if header != nil {
		s.uploads.SetHeader(header, "upload", left, wait)
	}
	if !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return nil
}
