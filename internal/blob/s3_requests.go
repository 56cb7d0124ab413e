package blob

import (
	"context"
	"io"
	"iter"
	"net/http"

	"github.com/minio/minio-go/v7"
)

// s3Requests has the requests that this package sends, each for one bucket. They are functions
// and not the client, which has hundreds of methods: templates call methods by name, so the linker
// keeps all methods of every type that can be reached from an interface, such as Storage (see
// docs/decisions/binary-size.md).
type s3Requests struct {
	put    func(ctx context.Context, name string, r io.Reader, size int64, sha256 string) error
	get    func(ctx context.Context, name string, options minio.GetObjectOptions) (io.ReadCloser, minio.ObjectInfo, http.Header, error)
	stat   func(ctx context.Context, name string) (minio.ObjectInfo, error)
	remove func(ctx context.Context, name string) error
	list   func(ctx context.Context, prefix string) iter.Seq[minio.ObjectInfo]
}

func newS3Requests(client *minio.Core, bucket string) s3Requests {
	return s3Requests{
		put: func(ctx context.Context, name string, r io.Reader, size int64, sha256 string) error {
			// The option is about signing each chunk of the body, which is not needed with a
			// hash of all of it: some servers read such a body up to its last two bytes, and
			// then take these for the next request.
			_, err := client.PutObject(ctx, bucket, name, r, size, "", sha256, minio.PutObjectOptions{DisableContentSha256: true})
			return err
		},
		get: func(ctx context.Context, name string, options minio.GetObjectOptions) (io.ReadCloser, minio.ObjectInfo, http.Header, error) {
			return client.GetObject(ctx, bucket, name, options)
		},
		stat: func(ctx context.Context, name string) (minio.ObjectInfo, error) {
			return client.StatObject(ctx, bucket, name, minio.StatObjectOptions{})
		},
		remove: func(ctx context.Context, name string) error {
			return client.RemoveObject(ctx, bucket, name, minio.RemoveObjectOptions{})
		},
		list: func(ctx context.Context, prefix string) iter.Seq[minio.ObjectInfo] {
			return client.ListObjectsIter(ctx, bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true})
		},
	}
}
