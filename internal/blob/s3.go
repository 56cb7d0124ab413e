package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"formulary/internal/fault"
)

// s3 stores each object in one request, so that an upload that fails leaves nothing.
type s3 struct {
	requests s3Requests
	bucket   string
	prefix   string // empty or with a slash at the end
	temp     string
}

const (
	defaultRegion = "us-east-1"
	// requestAttempts is how often a request is sent that failed for a reason that may be
	// temporary.
	requestAttempts = 3
	// retryWait is the time before the second attempt. It grows.
	retryWait = 200 * time.Millisecond
)

func openS3(c Config) (*s3, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" {
		return nil, errors.New("files in S3 need a URL such as s3://bucket/prefix?endpoint=https://s3.example.com&region=us-east-1")
	}
	query := u.Query()
	for name := range query {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("%s is not a parameter of an S3 URL: use endpoint and region", name)
		}
	}
	region := query.Get("region")
	if region == "" {
		region = defaultRegion
	}
	endpoint, err := parseEndpoint(query.Get("endpoint"), region)
	if err != nil {
		return nil, err
	}
	if c.Key == "" || c.Secret == "" {
		return nil, errors.New("files in S3 need an access key and a secret")
	}
	s := &s3{bucket: u.Host, prefix: strings.Trim(u.Path, "/"), temp: c.Temp}
	if s.prefix != "" {
		s.prefix += "/"
	}
	client, err := minio.NewCore(endpoint.Host, &minio.Options{
		Creds:      credentials.NewStaticV4(c.Key, c.Secret, ""),
		Secure:     endpoint.Scheme == "https",
		Region:     region,
		Transport:  newTransport(c.timeouts.withDefaults()),
		MaxRetries: requestAttempts,
	})
	if err != nil {
		return nil, fmt.Errorf("connect to S3: %w", err)
	}
	s.requests = newS3Requests(client, s.bucket)
	return s, nil
}

// parseEndpoint returns the address of the server, by default that of Amazon.
func parseEndpoint(text, region string) (*url.URL, error) {
	if text == "" {
		text = "https://s3." + region + ".amazonaws.com"
	}
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	isHTTP := err == nil && (u.Scheme == "https" || u.Scheme == "http")
	if !isHTTP || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("the S3 endpoint %q is not a URL such as https://s3.example.com", text)
	}
	return u, nil
}

func (s *s3) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if err := checkKey(key); err != nil {
		return err
	}
	from := &source{ctx: ctx, r: r, size: size}
	body, err := s.spool(from)
	switch {
	case err == nil:
		defer body.Close()
	case from.err != nil:
		return from.err
	default:
		return fault.StorageUnavailable(fmt.Errorf("write a temporary file for S3: %w", err))
	}
	// The bytes are here, so only the server can be slow.
	limited, cancel := context.WithTimeout(ctx, putTimeout(body.Size()))
	defer cancel()
	return s.wrap(ctx, "store an object", s.upload(limited, s.prefix+key, body))
}

// upload sends the request until it succeeds, at most requestAttempts times. The library
// would use the same reader again, although the attempt that failed may still read it. The
// server checks the hash, so it never stores other bytes.
func (s *s3) upload(ctx context.Context, name string, body spooled) error {
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(body, 0, body.Size())); err != nil {
		return err
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	for attempt := 1; ; attempt++ {
		r := struct{ io.Reader }{io.NewSectionReader(body, 0, body.Size())} // cannot seek
		err := s.requests.put(ctx, name, r, body.Size(), sum)
		if err == nil || attempt == requestAttempts || !isTemporary(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Duration(attempt) * retryWait):
		}
	}
}

// isTemporary reports whether it makes sense to send a request again: the server could
// not be reached, or says so.
func isTemporary(err error) bool {
	switch status := minio.ToErrorResponse(err).StatusCode; status {
	case 0, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	default:
		return status >= http.StatusInternalServerError
	}
}

const (
	putTime    = time.Minute
	minPutRate = 512 << 10 // bytes per second
)

// putTimeout is how long all attempts to store an object may take.
func putTimeout(size int64) time.Duration {
	return putTime + time.Duration(size/minPutRate)*time.Second
}

func (s *s3) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	o := &s3Object{ctx: ctx, s: s, key: key, offset: offset, end: -1}
	if length >= 0 {
		o.end = offset + length
	}
	request := o.start
	if length == 0 {
		request = o.stat
	}
	if err := request(); err != nil {
		return nil, err
	}
	if offset > 0 || length >= 0 { // a part cannot seek
		return struct {
			io.Reader
			io.Closer
		}{o, o}, nil
	}
	return o, nil
}

func (s *s3) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	err := s.wrap(ctx, "delete an object", s.requests.remove(ctx, s.prefix+key))
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

func (s *s3) All(ctx context.Context) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for info := range s.requests.list(ctx, s.prefix) {
			if info.Err != nil {
				yield(Object{}, s.wrap(ctx, "list the objects", info.Err))
				return
			}
			key := strings.TrimPrefix(info.Key, s.prefix)
			if isKey(key) && !yield(Object{Key: key, Size: info.Size, Modified: info.LastModified}, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Object{}, s.wrap(ctx, "list the objects", err))
		}
	}
}

// wrap returns the error of a request: fault.NotFound if there is no such object, the
// error of ctx if the caller gave up, and otherwise a 503001.
func (s *s3) wrap(ctx context.Context, operation string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s in the S3 bucket %s: %w", operation, s.bucket, err)
	if ctx.Err() != nil {
		return err
	}
	response := minio.ToErrorResponse(errors.Unwrap(err))
	if response.Code == "NoSuchKey" || response.Code == "NotFound" && response.StatusCode == http.StatusNotFound {
		return fault.NotFound
	}
	return fault.StorageUnavailable(err)
}
